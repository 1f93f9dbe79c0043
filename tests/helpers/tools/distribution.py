"""The distribution of test files among the processes of a run (`pytest -n 3`)."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TOGETHER = ("tests/spark/",)
"""Folders whose tests share what takes long to start: one process runs them."""
SECONDS = Path(__file__).parents[2] / "data" / "seconds.csv"
"""How long the longer files of tests took in one run: `pytest --write-seconds` writes it anew."""
_SHORT = 2.0
"""Seconds of files that are left out: their order makes no difference."""


class Stopwatch:
    """A plugin of pytest that writes `SECONDS`, keeping files that did not run."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the time of a test, its fixtures, or what ends them."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write all files, the longest first."""
        seconds = seconds_of_files() | self._seconds
        with SECONDS.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["file", "seconds"])
            for name in sorted(seconds, key=lambda name: (-seconds[name], name)):
                if seconds[name] >= _SHORT and (SECONDS.parents[2] / name).exists():
                    writer.writerow([name, round(seconds[name])])


@cache
def seconds_of_files() -> dict[str, float]:
    """Return how long the longer files of tests took."""
    with SECONDS.open(newline="") as file:
        return {row["file"]: float(row["seconds"]) for row in csv.DictReader(file)}


def long_but(kept: Container[object], cases: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test, of which all but some run with `--long` only."""
    return [case if case in kept else pytest.param(case, marks=pytest.mark.long) for case in cases]


def long_after(count: int, cases: Sequence[Any]) -> list[Any]:
    """Return the parameters of a test, of which all after the first run with `--long` only."""
    others = (case if isinstance(case, tuple) else (case,) for case in cases[count:])
    return [*cases[:count], *(pytest.param(*case, marks=pytest.mark.long) for case in others)]


def unit_of(node_id: str) -> str:
    """Return the file of a test, or the folder that is run as one file."""
    file = node_id.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort tests by the time of their files, so that no process ends long before another."""
    seconds: Counter[str] = Counter()
    for file, amount in seconds_of_files().items():
        seconds[unit_of(file)] += amount
    items.sort(key=lambda item: -seconds[unit_of(item.nodeid)])


def each_once(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests with their first parameters, and all others."""
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    seen: set[str] = set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        (others if name in seen else kept).append(item)
        seen.add(name)
    return kept, others


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Return xdist's scheduler of files, for `unit_of`, in the order of the tests."""
    from xdist.scheduler import LoadFileScheduling

    class Units(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False  # by the number of tests, which is not their time
    return Units(config, log)
