"""Measure the peak memory of each command that reads batches which inflate to much.

    python tests/bench/memory.py [--codecs zstd,gzip] [--only REGEX] [--write]

Whole processes, one by one: other work on the machine changes no peak. The page has all that
`tests/cli/test_memory_budget.py` runs with `KRAFTOPS_BOMBS=1`, the worst codec of each row.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from kraftops.log.codecs import CODECS  # noqa: E402
from tests.bench.measure.report import machine  # noqa: E402
from tests.helpers.costs.bombed import CASES, bombed_quorum, ended, lay_out  # noqa: E402
from tests.helpers.costs.bombs import FORMS, PLACES, WITHIN, bomb, is_possible  # noqa: E402
from tests.helpers.logs.costly_files import measured  # noqa: E402
from tests.helpers.tools.console import DUMP_LOG  # noqa: E402

RESULTS = HERE / "RESULTS-memory.md"
BAR = 150


class Peak(NamedTuple):
    """The peak of a command in MiB, and its exit code, for a codec."""

    size: int
    codec: str
    code: int


def dumps(codec: str, only: str, place: Path) -> Iterator[tuple[str, Peak]]:
    """Yield the peak of each form of a dump for each bomb of a codec."""
    log = place / f"{0:020}.log"
    for where in PLACES:
        if not is_possible(where, codec):
            continue
        log.write_bytes(bomb(where, WITHIN, codec))
        for form, words in FORMS.items():
            if re.search(only, name := f"{where} as {form}"):
                done, peak = measured("", DUMP_LOG, *words, str(log), keeps_output=False, cwd=place)
                yield name, Peak(peak >> 20, codec, done.code)


def commands(codec: str, only: str, place: Path) -> Iterator[tuple[str, Peak]]:
    """Yield the peak of each other command for the bombs of a codec."""
    lay_out(place, codec)
    with bombed_quorum(codec) as address:
        for name, case in CASES.items():
            if re.search(only, name):
                done, peak = ended(case, place, address)
                yield name, Peak(peak >> 20, codec, done.code)


def page(worst: dict[str, Peak], codecs: str) -> str:
    """Return the page: the worst row first."""
    rows = sorted(worst.items(), key=lambda item: item[1], reverse=True)
    lines = [f"| {name} | {size} | {codec} | {code} |" for name, (size, codec, code) in rows]
    return (
        f"""# The memory of commands

Written by `python tests/bench/memory.py --codecs {codecs} --write`. Peaks of resident memory of whole
processes, with the interpreter; each file is some KB that inflate to 62 MB a batch, the most that is
read by default. The bar is {BAR} MiB: pyarrow has 60 MiB of its own, and copies a value twice; the
values of a history and of an image are beside the budget.

{machine(os.getloadavg()[0])}
| what is read, and for what | peak, MiB | codec | exit code |
|---|---:|---|---:|
"""
        + "\n".join(lines)
        + "\n"
    )


def main() -> None:
    """Measure, and print the page or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--codecs", default=",".join(CODECS[1:]))
    parser.add_argument("--only", default="", help="rows whose names match")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    asked = parser.parse_args()
    worst: dict[str, Peak] = {}
    for codec in asked.codecs.split(","):
        for measure in (dumps, commands):
            with tempfile.TemporaryDirectory() as scratch:
                for name, peak in measure(codec, asked.only, Path(scratch)):
                    sys.stderr.write(f"{peak.size:5} {name}, {codec}: {peak.code}\n")
                    worst[name] = max(worst.get(name, peak), peak)
    text = page(worst, asked.codecs)
    if asked.write:
        RESULTS.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
