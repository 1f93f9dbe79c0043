"""The time and memory of each command for files of up to 1 MB, whatever is in them.

The campaign climbs from the costliest random cases: `scripts/fuzz.py costs` runs it.
"""

import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.helpers.costs.cases import Case, like, new_case, written
from tests.helpers.tools.console import ENVIRONMENT, KRAFTOPS

SECONDS = float(os.environ.get("KRAFTOPS_FUZZ_SECONDS", "0"))
SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED", "1"))
MOST_CPU, MOST_MEMORY = 10, 320 << 20  # pyarrow copies a value of 62 MB twice
_KEPT = 12
_ZEROS, _QUIET = zlib.compress(bytes(62 << 20)), 0.18
"""Bytes, and the seconds of CPU in which a quiet machine inflates them."""


# Run by a fresh Python: a child process starts with the peak memory of its parent, which this
# test's files of hundreds of megabytes raise.
_MEASURED = """
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss << 10, file=sys.stderr)
"""


def cost(words: list[str], folder: Path) -> tuple[float, int, str]:
    """Return the seconds of CPU that a command takes, its peak of memory, and its messages."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, KRAFTOPS, *words],
        cwd=folder,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=ENVIRONMENT,
        check=True,
    )
    *messages, numbers = done.stderr.splitlines()
    cpu, peak = numbers.split()
    return float(cpu), int(peak), "\n".join(messages)


def slowdown() -> float:
    """Return how much more CPU work takes now than on a quiet machine: a busy one triples it."""
    begun = time.process_time()
    zlib.decompress(_ZEROS)
    return max((time.process_time() - begun) / _QUIET, 1)


@pytest.mark.skipif(not SECONDS, reason="scripts/fuzz.py costs runs it")
def test_file_of_a_megabyte_ends_within_seconds(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    random, end, cases = Random(SEED), time.monotonic() + SECONDS, 0
    worst: list[tuple[float, int, Case]] = []
    while time.monotonic() < end:
        case = new_case(random)
        if worst and random.random() < 0.5:  # another file of a costly shape
            case = like(random.choice(worst)[-1], random)
        folder = tmp_path / "case"
        folder.mkdir()
        words = written(case, folder)
        cpu, peak, text = cost(words, folder)
        if cpu >= MOST_CPU:
            cpu = min(cost(words, folder)[0] / slowdown() for _ in range(2))
        shutil.rmtree(folder)
        assert "Traceback" not in text, case
        worst = sorted([*worst, (cpu, peak >> 20, case)], reverse=True)[:_KEPT]
        cases += 1
    record_property("cases", cases)
    for number, row in enumerate(worst):
        record_property(f"worst {number}", row)
    assert worst[0][0] < MOST_CPU, worst
    assert max(row[1] for row in worst) << 20 < MOST_MEMORY, worst
