"""Directories of partitions: with empty segments and small snapshots, and of a real broker."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from kraftops.dump.sources.names import expand
from kraftops.log.batch import CONTROL, Record
from tests.helpers.logs.written import batch_bytes

REAL = Path(__file__).parents[2] / "data/log-directories/4.3.1"
"""Log directories of a broker: `stopped`, and `running`, as it was before the stop."""
HEADER = batch_bytes([Record(0, 0, bytes([0, 0, 0, 3]), bytes(11))], attributes=CONTROL)
DATA = batch_bytes([Record(1, 0, None, b"data")])
FOOTER = batch_bytes([Record(2, 0, bytes([0, 0, 0, 4]), bytes(3))], attributes=CONTROL)
SNAPSHOT = HEADER + DATA + FOOTER


def log(offset: int) -> str:
    return f"{offset:020}.log"


def snapshot(offset: int, epoch: int = 1) -> str:
    return f"{offset:020}-{epoch:010}.checkpoint"


def make(folder: Path, names: Iterable[str], content: bytes = b"") -> Path:
    """Make a directory with files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(content or (SNAPSHOT if ".checkpoint" in name else b""))
    return folder


def paths(*names: str, cwd: Path, from_start: bool = False) -> list[str]:
    """Return the paths of the sources, as they are called."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        return [source.path for source in expand(names, from_start=from_start)]
