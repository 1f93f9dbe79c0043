"""Faults in the files of real partitions: each that changes anything is found.

The files are of a broker 4.3.1 that was stopped, and of the same broker while it ran.
"""

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kraftops.dump.check import partition
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.findings.finding import Finding
from tests.helpers.logs.log_directories import REAL

_OF_PARTITIONS = ("leader-epoch-checkpoint", "partition.metadata")
_OTHERS = ("meta.properties", "quorum-state")  # of no partition; kafka-storage verify reads them


class Fault(NamedTuple):
    """A fault: the bytes that a file gets, None if it is deleted, and what it is."""

    path: Path
    kind: str
    way: str
    at: int
    data: bytes | None
    other: Path | None = None


def kind_of(path: Path) -> str:
    """Return the kind of a file: its suffix, or its name if it is not a file of a segment."""
    return path.suffix[1:] if path.name[0].isdigit() else path.name


def faults(folder: Path) -> Iterator[Fault]:
    """Yield faults in all files of a log directory: flip, truncate, zero, swap, delete."""
    rng = random.Random(27)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files = [path for path in files if path.name not in _OTHERS]
    for path in files:
        data, kind = path.read_bytes(), kind_of(path)
        yield Fault(path, kind, "delete", 0, None)
        for at in sorted(rng.sample(range(len(data)), min(len(data), 4))):
            flipped = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
            yield Fault(path, kind, "flip", at, flipped)
        if data:
            at = rng.randrange(len(data))
            yield Fault(path, kind, "truncate", at, data[:at])
            yield Fault(path, kind, "zero", at, data[:at] + bytes(len(data) - at))
            at = rng.randrange(len(data))
            yield Fault(
                path, kind, "zero", at, data[:at] + bytes(16)[: len(data) - at] + data[at + 16 :]
            )
        others = [one for one in files if kind_of(one) == kind and one != path]
        if others:
            other = rng.choice(others)
            yield Fault(path, kind, "swap", 0, other.read_bytes(), other)


UNSEEN: dict[tuple[str, str], str] = {
    ("snapshot", "delete"): "a start takes an earlier producer snapshot, and reads the log from it",
    ("snapshot", "swap"): "a snapshot without producers is one whose producers have expired",
    (".kafka_cleanshutdown", "delete"): "the next start recovers, and finds all as it was",
    (".kafka_cleanshutdown", "flip"): "another epoch of the broker, which nothing repeats",
    ("index", "truncate"): "fewer entries: a search begins earlier, and finds the same",
    (
        "index",
        "zero",
    ): "zeros where a segment may be preallocated, or an entry that leads there too",
    ("index", "flip"): "an entry with the end of a later batch leads to the same batches",
    ("index", "swap"): "entries that fit both logs",
    ("timeindex", "truncate"): "the last segment of a broker that runs has no last entry yet",
    ("timeindex", "zero"): "as truncate",
    ("log", "flip"): "base offset and epoch lie outside of the CRC; before the log start nothing "
    "repeats the epoch, and in a compacted log the offset",
    ("log", "truncate"): "a cut between two batches of the last segment, of a broker that runs",
    ("log", "zero"): "as truncate",
    ("leader-epoch-checkpoint", "flip"): "white space; or the first epoch begins later, where a "
    "broker that runs may have moved the log start",
    ("leader-epoch-checkpoint", "truncate"): "only the end of the last line",
    ("partition.metadata", "flip"): "a later version, which reads the same; unused bits of base64",
    ("recovery-point-offset-checkpoint", "flip"): "a lower point, or none: a start reads more",
    ("recovery-point-offset-checkpoint", "truncate"): "as flip, or only the end of the last line",
    (
        "replication-offset-checkpoint",
        "flip",
    ): "a lower high watermark, or none: the leader raises it",
    ("replication-offset-checkpoint", "truncate"): "only the end of the last line",
    ("log-start-offset-checkpoint", "flip"): "an earlier log start, or none, while a broker runs",
    ("log-start-offset-checkpoint", "truncate"): "no entries",
    (
        "cleaner-offset-checkpoint",
        "flip",
    ): "it is cleaned up to another offset: it is cleaned again",
    ("cleaner-offset-checkpoint", "truncate"): "as flip, or only the end of the last line",
}
"""Faults that may be unseen, by kind of file and way, with the reason."""

MOST_UNSEEN = {
    "stopped": {"snapshot": 26, "index": 6},
    "running": {"snapshot": 17, "index": 3},
}
"""The most of them for each kind of file that has more than three."""


@pytest.fixture(params=["stopped", "running"])
def log_directory(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of a real log directory; a fault is no change by a server, to be looked at again."""
    monkeypatch.setattr(partition, "_LOOKS", 1)
    return Path(shutil.copytree(REAL / request.param, tmp_path / request.param))


def found_in(folder: Path, path: Path) -> list[Finding]:
    """Return the findings about the partition of a file, or about all for other files."""
    is_common = path.parent == folder or path.name in _OF_PARTITIONS
    checks, common = check_directories(CheckRequest([str(folder if is_common else path.parent)]))
    return [*common, *(finding for check in checks for finding in check.findings)]


def test_real_log_directory_has_no_findings(log_directory: Path) -> None:
    assert found_in(log_directory, log_directory / "any") == []


@pytest.mark.slow
def test_faults_are_found(log_directory: Path) -> None:
    """Each is found, but for those that change nothing, or that nothing contradicts."""
    unseen: Counter[str] = Counter()
    tried: Counter[tuple[str, str]] = Counter()
    wrong = []
    for fault in list(faults(log_directory)):
        before = fault.path.read_bytes()
        if fault.data == before:
            continue
        tried[fault.kind, fault.way] += 1
        with _made(fault, before):
            found = found_in(log_directory, fault.path)
            if fault.other:
                found += found_in(log_directory, fault.other)
        if not found:
            unseen[fault.kind] += 1
            if (fault.kind, fault.way) not in UNSEEN or not _may_be_unseen(fault, before):
                wrong.append(fault._replace(data=None))

    assert wrong == []
    assert sum(tried.values()) >= 500
    assert len({way for _, way in tried}) == 5
    for kind, count in unseen.items():
        assert count <= MOST_UNSEEN[log_directory.name].get(kind, 3), kind


class _made:  # noqa: N801 - a context manager
    """A fault in its file, until the end of the block."""

    def __init__(self, fault: Fault, before: bytes) -> None:
        self._files = {fault.path: before}
        if fault.other and fault.data is not None:
            self._files[fault.other] = fault.data
            fault.other.write_bytes(before)
        if fault.data is None:
            fault.path.unlink()
        else:
            fault.path.write_bytes(fault.data)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        for path, data in self._files.items():
            path.write_bytes(data)


def _may_be_unseen(fault: Fault, before: bytes) -> bool:
    """Tell whether the reason in `UNSEEN` holds for this very fault."""
    check = _REASONS.get((fault.kind, fault.way))
    return check is None or check(fault, before)


def _is_cut_between_batches(fault: Fault, before: bytes) -> bool:
    position = 0
    while position < fault.at:
        position += 12 + int.from_bytes(before[position + 8 : position + 12])
    return position == fault.at


def _is_outside_of_the_crc(fault: Fault, before: bytes) -> bool:
    position = 0
    while (end := position + 12 + int.from_bytes(before[position + 8 : position + 12])) <= fault.at:
        position = end
    return fault.at - position in (*range(8), *range(12, 16))


def _is_snapshot_without_producers(fault: Fault, before: bytes) -> bool:
    return b"\0" * 4 in (before[6:10], (fault.data or b"")[6:10])


def _is_whole_entries(fault: Fault, _: bytes) -> bool:
    return fault.at % (8 if fault.kind == "index" else 12) == 0 or "running" in str(fault.path)


def _is_end_of_line(fault: Fault, before: bytes) -> bool:
    return fault.at >= len(before) - 1 or "running" in str(fault.path)


_REASONS: dict[tuple[str, str], Callable[[Fault, bytes], bool]] = {
    ("log", "flip"): _is_outside_of_the_crc,
    ("log", "truncate"): _is_cut_between_batches,
    ("log", "zero"): _is_cut_between_batches,
    ("snapshot", "swap"): _is_snapshot_without_producers,
    ("index", "truncate"): _is_whole_entries,
    ("timeindex", "truncate"): _is_whole_entries,
    ("leader-epoch-checkpoint", "truncate"): _is_end_of_line,
    ("replication-offset-checkpoint", "truncate"): _is_end_of_line,
}
