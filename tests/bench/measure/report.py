"""Lines of a table for pairs of runs, ours and Kafka's."""

import os
import platform
import subprocess
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from tests.bench.measure.process import Usage

KAFKA_VERSION = "4.3.1"
HEADER = "| case | bar | ours | Kafka | achieved | met |\n|---|---|---:|---:|---:|---|"


class Pair(NamedTuple):
    """A run of ours and the run of Kafka's after it."""

    ours: Usage
    kafka: Usage


MEASURES: dict[str, Callable[[Usage], float]] = {
    "wall": lambda usage: usage.wall,
    "CPU": lambda usage: usage.cpu,
}


def row(case: str, measure: str, bar: float, pairs: list[Pair]) -> str:
    """Return a line of the table: *bar* is the required ratio of Kafka's usage to ours."""
    of = MEASURES[measure]
    ours = median(of(pair.ours) for pair in pairs)
    kafka = median(of(pair.kafka) for pair in pairs)
    ratio = median(of(pair.kafka) / of(pair.ours) for pair in pairs)
    return (
        f"| {case} | {measure} ≤ 1/{bar:g} of Kafka's | {ours:.3g} s | {kafka:.3g} s "
        f"| 1/{ratio:.2f} | {yes(ratio >= bar)} |"
    )


def yes(is_met: bool) -> str:
    """Return whether a bar is met, so that a miss is seen."""
    return "yes" if is_met else "**no**"


def machine(load: float) -> str:
    """Return the conditions of the measurement; *load* is the load average at the start."""
    java = subprocess.run(["java", "-version"], stderr=subprocess.PIPE, text=True, check=True)
    return (
        f"- {time.strftime('%Y-%m-%d')}; load average at the start: {load:.2f}\n"
        f"- {os.cpu_count()} cores, {platform.system()} {platform.machine()}\n"
        f"- {platform.python_implementation()} {platform.python_version()}\n"
        f"- {java.stderr.splitlines()[0]}, Kafka {KAFKA_VERSION}\n"
    )
