"""Rows of RESULTS.md: what a case took beside its bar, and the page that keeps those of other days."""

import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import NamedTuple

from tests.bench.measure.dump_cases import Case
from tests.bench.measure.process import Usage
from tests.bench.measure.report import MEASURES

MEGABYTE = 1_000_000
_HEADER = "| of its bar | case | bar | ours | other | achieved | date |"
_RULE = "|---:|---|---|---:|---:|---:|---|"


class Row(NamedTuple):
    """A case beside its bar: *excess* is what it achieved, divided by that, and 1 at most if met."""

    excess: float
    case: str
    bar: str
    ours: str
    other: str
    achieved: str

    @property
    def line(self) -> str:
        """The line of the table; a miss is seen."""
        excess = f"**{self.excess:.2f}**" if self.excess > 1 else f"{self.excess:.2f}"
        return f"| {' | '.join((excess, *self[1:], time.strftime('%Y-%m-%d')))} |"


def amount(usages: Sequence[Usage]) -> str:
    """Return user and system time of some runs."""
    user = median(usage.cpu - usage.system for usage in usages)
    system = median(usage.system for usage in usages)
    return f"{user:.3g} + {system:.2g} s"


def pair_row(
    case: Case, whose: str, ours: Sequence[Usage], peer: Sequence[Usage], start: float
) -> Row:
    """Return the row of alternating runs of ours and a peer: the median of their ratios.

    *start* are the seconds that both take for next to nothing.
    """
    of = MEASURES[case.measure]
    pairs = zip(ours, peer, strict=True)
    ratio = median((of(mine) - start) / (of(theirs) - start) for mine, theirs in pairs)
    bar = f"{case.measure} ≤ {fraction(case.bar)} of {whose}"
    return Row(ratio / case.bar, case.title, bar, amount(ours), amount(peer), fraction(ratio))


def single_row(
    case: str, bar: float, unit: str, usages: Sequence[Usage], of: Callable[[Usage], float]
) -> Row:
    """Return the row of runs with a bar in seconds or bytes, in *unit*."""
    achieved = median(map(of, usages))
    texts = (f"≤ {bar:.3g} {unit}", amount(usages), "", f"{achieved:.3g} {unit}")
    return Row(achieved / bar, case, *texts)


def fraction(ratio: float) -> str:
    """Return a ratio, as 1/15 or 1.6."""
    return f"1/{1 / ratio:.3g}" if 0 < ratio < 0.6 else f"{ratio:.2f}".rstrip("0").rstrip(".")


def table(lines: Iterable[str]) -> str:
    """Return lines as a table in Markdown, the worst beside its bar first."""
    ordered = sorted(lines, key=lambda line: float(_cells(line)[0].strip("*")), reverse=True)
    return "\n".join([_HEADER, _RULE, *ordered]) + "\n"


def merged(page: str, rows: Iterable[Row]) -> list[str]:
    """Return the lines of new rows, and those of a page that none of them replaces."""
    lines = {_cells(line)[1]: line for line in page.splitlines() if line.startswith("|")}
    lines = {case: line for case, line in lines.items() if case not in ("case", "---")}
    return list((lines | {row.case: row.line for row in rows}).values())


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]
