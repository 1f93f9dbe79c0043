"""The distribution of test files among the processes of a run (`pytest -n 3`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

TOGETHER = ("tests/spark/",)
"""Folders whose tests share what takes long to start: one process runs them."""
_FIRST = (
    "tests/spark/",
    "tests/kafka/storage/test_verify.py",
    "tests/kafka/storage/test_recover.py",
    "tests/kafka/",
    "tests/cli/storage/test_crash.py",
    "tests/cli/metadata_shell/test_limits.py",
    "tests/test_packaging.py",
    "tests/engine/",
    "tests/core/dump/",
)
"""The longest files and folders; short ones are last, so that no process ends long before another."""


def unit_of(node_id: str) -> str:
    """Return the file of a test, or the folder that is run as one file."""
    file = node_id.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort tests by their files."""
    items.sort(key=lambda item: next(_ranks(item.nodeid)))


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


def _ranks(node_id: str) -> Iterator[int]:
    yield from (rank for rank, name in enumerate(_FIRST) if node_id.startswith(name))
    yield len(_FIRST)


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Return xdist's scheduler of files, for `unit_of`, in the order of the tests."""
    from xdist.scheduler import LoadFileScheduling

    class Units(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False  # by the number of tests, which is not their time
    return Units(config, log)
