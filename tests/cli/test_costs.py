"""The time and memory of each command for files of up to 1 MB, whatever is in them.

The campaign climbs from the costliest random cases: `scripts/fuzz.py costs` runs it.
"""

import os
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.helpers.costs.shapes import COMMANDS, SHAPES, arguments
from tests.helpers.tools.console import ENVIRONMENT, KRAFTOPS

SECONDS = float(os.environ.get("KRAFTOPS_FUZZ_SECONDS", "0"))
SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED", "1"))
MOST_CPU, MOST_MEMORY = 10, 320 << 20  # pyarrow copies a value of 62 MB twice
_ADDRESSES = 4 << 30
_KEPT = 12


def cost(command: str, log: Path) -> tuple[float, int, str]:
    """Return the seconds of CPU that a command takes, its peak of memory, and its messages."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))

    words = arguments(command, str(log), str(log.parent))
    errors = log.with_name("errors")
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [KRAFTOPS, *words],
            cwd=log.parent.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            env=ENVIRONMENT,
            preexec_fn=limit,  # noqa: PLW1509 - no thread of ours is running
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    text = errors.read_text(errors="replace")
    errors.unlink()
    return used.ru_utime + used.ru_stime, used.ru_maxrss << 10, text


@pytest.mark.skipif(not SECONDS, reason="scripts/fuzz.py costs runs it")
def test_file_of_a_megabyte_ends_within_seconds(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    random, end, cases = Random(SEED), time.monotonic() + SECONDS, 0
    log = tmp_path / "__cluster_metadata-0" / "00000000000000000000.log"
    log.parent.mkdir()
    worst: list[tuple[float, int, str, int, str]] = []
    while time.monotonic() < end:
        shape, seed = random.choice(list(SHAPES)), random.randrange(1 << 30)
        command = random.choice(list(COMMANDS))
        if worst and random.random() < 0.5:  # another file of a costly shape
            _, _, shape, _, command = random.choice(worst)
        log.write_bytes(SHAPES[shape](Random(seed)))
        cpu, peak, text = cost(command, log)
        assert "Traceback" not in text, (shape, seed, command)
        worst = sorted([*worst, (cpu, peak >> 20, shape, seed, command)], reverse=True)[:_KEPT]
        cases += 1
    record_property("cases", cases)
    for number, row in enumerate(worst):
        record_property(f"worst {number}", row)
    assert worst[0][0] < MOST_CPU, worst
    assert max(row[1] for row in worst) << 20 < MOST_MEMORY, worst
