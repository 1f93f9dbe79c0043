"""Files that cost much work for their size: seconds of CPU, with the start of a process."""

import os
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from kraftops.log.batch import Record, batch_bytes
from tests.bench.measure.process import Usage, run
from tests.bench.measure.rows import Row, single_row
from tests.helpers.logs.segments import batch_around
from tests.helpers.tools.console import DUMP_LOG

_LOG = f"{0:020}.log"
_ZSTD = 4
_SKIPPED = b"\x50\x2a\x4d\x18" + bytes(4)  # a skippable frame of no bytes (RFC 8878, 3.1.2)
_ONE = batch_bytes([Record(0, 1_700_000_000_000, None, b"x")])


class Work(NamedTuple):
    """A file to write, the words of a command for it, and the most seconds that it may take."""

    write: Callable[[Path], object]
    words: Sequence[str]
    most: float


def partitions(count: int) -> Callable[[Path], object]:
    """Return a function that writes a `tar.gz` of so many partitions with a batch each."""

    def write(path: Path) -> None:
        with tarfile.open(path, "w:gz", compresslevel=1) as archive:
            for number in range(count):
                member = tarfile.TarInfo(f"logs/t{number}-0/{_LOG}")
                member.size = len(_ONE)
                archive.addfile(member, BytesIO(_ONE))

    return write


def frames(count: int) -> Callable[[Path], object]:
    """Return a function that writes a batch of so many empty frames of zstd."""
    return lambda path: path.write_bytes(batch_around(_SKIPPED * count, 1, attributes=_ZSTD))


def sparse(path: Path) -> None:
    """Write a log of 3 GB, nearly all of it a hole."""
    with path.open("wb") as file:
        file.write(_ONE)
        file.truncate(3 << 30)


_START = 0.15
"""Seconds of CPU that a command takes for an empty file; up to 0.2 on a busy machine."""
WORK = {
    **{
        f"tar.gz of {count:,} partitions, {words[0]}": Work(partitions(count), words, most)
        for count, most in ((5_000, 0.45), (20_000, 1.35), (200_000, 15))
        for words in (("--check",), ("--summary",))
    },
    **{
        f"a batch of {count:,} frames of zstd": Work(
            frames(count), (), _START + 1.5 * count / 130_000
        )
        for count in (130_000, 260_000)
    },
    "sparse log of 3 GB": Work(sparse, (), 0.5),
    "sparse log of 3 GB, --check": Work(sparse, ("--check",), 0.5),
}


def rows(place: Path, only: str, runs: int) -> Iterator[Row]:
    """Yield the rows of the cases whose names match."""
    for name, case in WORK.items():
        if not re.search(only, name):
            continue
        path = place / ("logs.tar.gz" if name.startswith("tar.gz") else _LOG)
        case.write(path)
        words = ["sh", "-c", f'{DUMP_LOG} "$@"; test $? -lt 3', "sh", *case.words, str(path)]
        with open(os.devnull, "wb") as output:  # findings end with 2
            usages: list[Usage] = [run(words, output) for _ in range(runs)]
        path.unlink()
        yield single_row(name, case.most, "s", usages, lambda usage: usage.cpu)
