"""Measure what files that cost much work for their size take of our commands.

    python tests/bench/work.py [--runs 3] [--only REGEX]

Whole processes, in turn in each round: medians of CPU, that of the system apart, the worst row
beside its bar first. Bars are seconds of CPU with the start of a process.
"""

import argparse
import os
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from kraftops.log.batch import Record, batch_bytes  # noqa: E402
from tests.bench.measure.process import Usage, run  # noqa: E402
from tests.bench.measure.report import yes  # noqa: E402
from tests.helpers.logs.segments import batch_around  # noqa: E402
from tests.helpers.tools.console import DUMP_LOG  # noqa: E402

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


def small_files(count: int) -> Callable[[Path], object]:
    """Return a function that makes a directory of so many partitions with a batch each."""

    def write(path: Path) -> None:
        for number in range(count):
            folder = path / f"t{number}-0"
            folder.mkdir(parents=True)
            (folder / _LOG).write_bytes(_ONE)

    return write


_START = 0.15
"""Seconds of CPU that a command takes for an empty file; up to 0.2 on a busy machine."""
ROWS = {
    **{
        f"tar.gz of {count:,} partitions, {words[0]}": Work(
            partitions(count), words, _START + count * 60e-6
        )
        for count in (5_000, 20_000)
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
    "1,500 small files, --summary": Work(small_files(1_500), ("--summary",), 1.0),
}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="rounds of each row")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose names match")
    asked = parser.parse_args()
    used: dict[str, list[Usage]] = {name: [] for name in ROWS if re.search(asked.only, name)}
    with tempfile.TemporaryDirectory() as place, open(os.devnull, "wb") as output:
        for number, name in enumerate(used):
            folder = Path(place, str(number))
            folder.mkdir()
            ROWS[name].write(_path(folder, name))
        for _ in range(asked.runs):
            for number, (name, usages) in enumerate(used.items()):
                path = _path(Path(place, str(number)), name)
                code = f'{DUMP_LOG} "$@"; test $? -lt 3'  # findings end with 2
                words = ["sh", "-c", code, "sh", *ROWS[name].words, str(path)]
                usages.append(run(words, output))
    sys.stdout.write(
        "| case | bar | CPU | of it system | peak | met |\n|---|---:|---:|---:|---:|---|\n"
    )
    for name in sorted(used, key=lambda name: -_cpu(used[name]) / ROWS[name].most):
        cpu, most = _cpu(used[name]), ROWS[name].most
        system = median(usage.system for usage in used[name])
        peak = max(usage.rss for usage in used[name]) >> 20
        cells = (name, f"{most:.2f} s", f"{cpu:.2f} s", f"{system:.2f} s", f"{peak} MiB")
        sys.stdout.write(f"| {' | '.join((*cells, yes(cpu <= most)))} |\n")


def _cpu(usages: Sequence[Usage]) -> float:
    return median(usage.cpu for usage in usages)


def _path(folder: Path, name: str) -> Path:
    if name.startswith("tar.gz"):
        return folder / "logs.tar.gz"
    return folder / ("logs" if "files" in name else _LOG)


if __name__ == "__main__":
    main()
