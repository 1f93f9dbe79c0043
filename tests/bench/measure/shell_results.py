"""The tables of the results of `shell.py`, and the page around them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.bench.measure.process import Usage
from tests.bench.measure.report import Pair, yes
from tests.bench.measure.rows import MEGABYTE, fraction
from tests.bench.measure.shell_cases import (
    ALL,
    DUMP,
    HUNDRED,
    KAFKA,
    MATRIX_BAR,
    SPREAD_BAR,
    SUMMARY,
    Bar,
    Case,
    Command,
    MatrixShape,
)

MEASURES: dict[str, Callable[[Usage], float]] = {
    "wall": lambda usage: usage.wall,
    "CPU": lambda usage: usage.cpu,
    "RSS": lambda usage: usage.rss,
}
_WHOSE = {
    KAFKA: "Kafka's",
    DUMP: "that of dumping it, 1 job",
    SUMMARY: "that of its summary",
}
_HEADER = "| case | bar | ours | other | achieved | met |\n|---|---|---:|---:|---:|---|"
_MATRIX_HEADER = (
    "| shape | MB | CPU, ours | CPU, Kafka | achieved | met | ms/MB | RSS, ours |\n"
    "|---|---:|---:|---:|---:|---|---:|---:|"
)
_SHAPE_LINE = re.compile(r"^\| (replication [^|]*) \|", re.MULTILINE)
_KNOWN_WORST = 3


class Row(NamedTuple):
    """A line of the first table; *excess* is the result divided by the limit, if any."""

    cells: Sequence[str]
    excess: float | None


class Measured(NamedTuple):
    """A shape of the matrix: the size of its snapshot in bytes, and runs on it."""

    shape: MatrixShape
    size: int
    pairs: Sequence[Pair]

    @property
    def ours(self) -> float:
        """Seconds of CPU."""
        return median(pair.ours.cpu for pair in self.pairs)

    @property
    def ratio(self) -> float:
        """Our share of Kafka's CPU time."""
        return median(pair.ours.cpu / pair.kafka.cpu for pair in self.pairs)

    def each_megabyte(self, start: float = 0) -> float:
        """Return ours for each MB of the snapshot, less *start*."""
        return (self.ours - start) / self.size * MEGABYTE

    @property
    def line(self) -> str:
        """The line of the matrix."""
        kafka = median(pair.kafka.cpu for pair in self.pairs)
        rss = max(pair.ours.rss for pair in self.pairs) / MEGABYTE
        cells = [
            self.shape.title,
            f"{self.size / MEGABYTE:.1f}",
            f"{self.ours:.3f} s",
            f"{kafka:.2f} s",
            fraction(self.ratio),
            yes(self.ratio <= MATRIX_BAR),
            f"{self.each_megabyte() * 1000:.1f}",
            f"{rss:.0f} MB",
        ]
        return f"| {' | '.join(cells)} |"


def rows(case: Case, used: Mapping[Command, list[Usage]]) -> Iterator[Row]:
    """Yield the lines of a case, one for each bar."""
    for bar in case.bars:
        of = MEASURES[bar.measure]
        ours = [of(usage) for usage in used[case.ours]]
        if not bar.peer:
            bound = f"{bar.measure} ≤ {_amount(bar, bar.most)}"
            most = max(ours)
            yield _row(
                case.name, bound, (_amount(bar, most), ""), _amount(bar, most), most / bar.most
            )
            continue
        peer = [of(usage) for usage in used[bar.peer]]
        achieved = median(mine / theirs for mine, theirs in zip(ours, peer, strict=True))
        whose = _WHOSE.get(bar.peer.tool, f"that of `{bar.peer.words}`")
        bound = f"{bar.measure} ≤ {fraction(bar.most)} {'times' if bar.most > 1 else 'of'} {whose}"
        taken = _amount(bar, median(ours)), _amount(bar, median(peer))
        yield _row(case.name, bound, taken, fraction(achieved), achieved / bar.most)


def matrix_rows(measured: Sequence[Measured], start: float) -> Iterator[Row]:
    """Yield the lines that sum up the matrix; *start* is our CPU for a snapshot of nothing."""
    name = f"{HUNDRED}, {ALL}, {len(measured)} shapes"
    worst = max(measured, key=lambda one: one.ratio)
    kafka = median(pair.kafka.cpu for pair in worst.pairs)
    yield _row(
        f"{name}; worst: {worst.shape.title}",
        f"CPU ≤ {fraction(MATRIX_BAR)} of Kafka's",
        (f"{worst.ours:.3g} s", f"{kafka:.3g} s"),
        fraction(worst.ratio),
        worst.ratio / MATRIX_BAR,
    )
    for what, less in (("", 0.0), (f", less {start:.3f} s of start", start)):
        by_cost = sorted(measured, key=lambda one: one.each_megabyte(less))
        least, most = (one.each_megabyte(less) for one in (by_cost[0], by_cost[-1]))
        yield _row(
            f"{name}{what}; most: {by_cost[-1].shape.title}; least: {by_cost[0].shape.title}",
            "" if less else f"CPU for each MB ≤ {SPREAD_BAR} times the least",
            (f"{most * 1000:.1f} ms", f"{least * 1000:.1f} ms"),
            fraction(most / least),
            None if less else most / least / SPREAD_BAR,
        )


def live_row(name: str, pairs: Sequence[tuple[Usage, Usage]], most: float) -> Row:
    """Return the line of loads from controllers, each beside one from files."""
    live, files = (median(usage.wall for usage in column) for column in zip(*pairs, strict=True))
    achieved = median(one.wall / other.wall for one, other in pairs)
    bar = f"wall ≤ {fraction(most)} times that from files"
    return _row(name, bar, (f"{live:.3g} s", f"{files:.3g} s"), fraction(achieved), achieved / most)


def tables(found: Iterable[Row], measured: Iterable[Measured]) -> str:
    """Return the tables in Markdown, the worst result relative to its limit first."""
    by_bar = sorted(found, key=lambda row: row.excess or 0, reverse=True)
    lines = [_HEADER, *(f"| {' | '.join(row.cells)} |" for row in by_bar)] if by_bar else []
    if shapes := sorted(measured, key=lambda one: one.ratio, reverse=True):
        lines += ["", f"{HUNDRED}, {ALL}, {len(shapes)} shapes:", "", _MATRIX_HEADER]
        lines += [one.line for one in shapes]
    return "\n".join(lines) + "\n"


def known_worst(page: Path) -> list[str]:
    """Return the shapes that a page written before has at the top of its matrix."""
    text = page.read_text("utf-8") if page.exists() else ""
    return [found[1] for found in islice(_SHAPE_LINE.finditer(text), _KNOWN_WORST)]


def page(text: str, options: str, runs: int, counted: str, conditions: str) -> str:
    """Return RESULTS-shell.md; *counted* is the number of measured shapes."""
    return f"""# `kafka-metadata-shell` against Kafka's MetadataShell

Written by `python tests/bench/shell.py {options}`. Whole processes to a file, in turn in each of
{runs} rounds; times are medians, "achieved" is the median of the rounds' ratios, and memory that
has a bar of its own is the most of all rounds. CPU is user and system time of a process and its
children. "Other" is Kafka's tool on the same file, our own dump of the same log as text, another of
our commands, or the same metadata in files. Of Java, Kafka's tool has the flags of its own script
and a heap that holds the image (256 MB, 1 GB, 4 GB). It often shows an empty tree, which takes less
time than showing what is there. Outputs are written over files that are there.

{counted}

Before a shape is measured, our summary of it must have all its partitions and no finding, and our
listing must be Kafka's. The partitions of snapshots of 1,000,000 are in topics of 12 on average,
2 % of them out of sync. The worst row stands first.

{conditions}
{text}"""


def _row(name: str, bar: str, taken: tuple[str, str], achieved: str, excess: float | None) -> Row:
    met = "" if excess is None else yes(excess <= 1)
    return Row((name, bar or "none", *taken, achieved, met), excess)


def _amount(bar: Bar, value: float) -> str:
    return f"{value / MEGABYTE:.0f} MB" if bar.measure == "RSS" else f"{value:.3g} s"
