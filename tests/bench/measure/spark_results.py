"""The lines of RESULTS-spark.md, and the page around them."""

import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self

from tests.bench.measure.report import yes

_HEAD = (
    "| measured | bar | ours | other | achieved | of the bar | met | load | day |\n"
    "|---|---|---:|---:|---:|---:|---|---:|---|\n"
)
_LINE = re.compile(
    r"^\| (?P<name>.+?) \|.*\| (?P<excess>-?[0-9.]+) \| \S+ \| [0-9.]+ \| [0-9-]+ \|$", re.MULTILINE
)


class Row(NamedTuple):
    """A line: what is measured, its limit, results; *excess* is the share of the limit."""

    name: str
    bar: str
    ours: str
    other: str
    achieved: str
    excess: float
    load: float = 0
    day: str = ""

    def with_load(self, load: float) -> Self:
        """Return the line with the load average of the machine before, and today's date."""
        return self._replace(load=load, day=time.strftime("%Y-%m-%d"))

    def __str__(self) -> str:
        cells = (self.name, self.bar, self.ours, self.other, self.achieved, f"{self.excess:.2f}",
                 yes(self.excess <= 1), f"{self.load:.1f}", self.day)  # fmt: skip
        return f"| {' | '.join(cells)} |"


def page(rows: Iterable[Row], before: Path, conditions: str, runs: int) -> str:
    """Return the page with these lines, and with others of the page *before*, the worst first."""
    text = before.read_text("utf-8") if before.exists() else ""
    known = {_key(found["name"]): found[0] for found in _LINE.finditer(text)}
    known |= {_key(row.name): str(row) for row in rows}
    lines = sorted(known.values(), key=_excess, reverse=True)
    return (
        "# `--spark`\n\nWritten by `python tests/bench/spark.py --scale --write`, at times in "
        f"several calls; medians of up to {runs}.\n"
        "CPU is that of all processes, start is taken off: it is that of a log of 60 KB. The worst "
        "line stands first;\nits load is that of the machine before it was measured.\n\n"
        + conditions
        + "\n"
        + _HEAD
        + "".join(f"{line}\n" for line in lines)
    )


def _key(name: str) -> str:
    return re.sub(r"[\d,]+ lines in \d+ s", "", name)


def _excess(line: str) -> float:
    found = _LINE.match(line)
    assert found
    return float(found["excess"])
