"""The table of the results of `dump_log.py`, and the page around it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from tests.bench.measure.dump_cases import OTHER, SLACK, SMALL_TIMES, Case, Command, started, titled
from tests.bench.measure.process import Usage
from tests.bench.measure.report import MEASURES, yes

MEGABYTE = 1_000_000
MOST_DECLINED = 0.01  # of the batches of a log


class Row(NamedTuple):
    """A line of the table; *excess* is the result divided by the limit, None without a limit."""

    cells: Sequence[str]
    excess: float | None


class Measured:
    """The usage of the commands, and the rows of the table."""

    def __init__(
        self, used: Mapping[Command, list[Usage]], declined: Mapping[Command, tuple[int, int]]
    ) -> None:
        self.used = used
        self._declined = declined

    def row(self, case: Case) -> Row:
        """Return a row of the table."""
        ours, peer = (self._values(case, command) for command in (case.ours, case.peer))
        achieved = median(mine / theirs for mine, theirs in zip(ours, peer, strict=True))
        whose = {"kafka": "Kafka's", "before": "the commit before's"}.get(case.peer.tool, "text's")
        bar = "none"
        if case.bar:
            bar = f"{case.measure} ≤ {fraction(case.bar)} of {whose}"
        return Row(
            (
                case.title,
                bar,
                *(self._seconds(case, command) for command in (case.ours, case.peer)),
                fraction(achieved),
                yes(achieved <= case.bar) if case.bar else "",
                self._share(case.ours),
            ),
            achieved / case.bar if case.bar else None,
        )

    def _values(self, case: Case, command: Command) -> list[float]:
        of = MEASURES[case.measure]
        start = 0.0
        if case.starts_apart:
            start = median(map(of, self.used[started(command)]))
        return [of(usage) - start for usage in self.used[command]]

    def _seconds(self, case: Case, command: Command) -> str:
        """Return the median of the runs; of CPU that of the system, too."""
        text = f"{median(self._values(case, command)):.3g} s"
        if case.measure != "CPU":
            return text
        return f"{text} ({median(usage.system for usage in self.used[command]):.2g} s system)"

    def _share(self, command: Command) -> str:
        left, batches = self._declined[command]
        return f"{left} of {batches}" if left else "0"

    def overall_rows(self) -> Iterator[Row]:
        """Yield the rows for all commands together: memory, and batches declined."""
        for is_untuned in (False, True):
            for name, megabytes, is_asked in MEMORY:
                peaks = {
                    command: max(usage.rss for usage in used) / MEGABYTE
                    for command, used in self.used.items()
                    if is_asked(command) and (OTHER in command.log) == is_untuned
                }
                kafkas = [
                    max(usage.rss for usage in used) / MEGABYTE
                    for command, used in self.used.items()
                    if command.tool == "kafka" and (OTHER in command.log) == is_untuned
                ]
                if peaks:
                    most = megabytes * SLACK if is_untuned else megabytes
                    yield _memory_row(titled(name, is_untuned=is_untuned), peaks, kafkas, most)
        shares = [left / batches for left, batches in self._declined.values()]
        share = max(shares, default=0)
        cells = [
            "any of these",
            "declined < 1 % of batches",
            f"{share:.2%}",
            "",
            "",
            yes(share < MOST_DECLINED),
        ]
        yield Row([*cells, ""], share / MOST_DECLINED)


MEMORY: tuple[tuple[str, int, Callable[[Command], bool]], ...] = (
    ("any text, JSON or CSV", 100, lambda it: it.tool in ("ours", "now") and not it.is_parquet),
    ("Parquet", 150, lambda it: it.tool in ("ours", "now") and it.is_parquet),
)
"""The limit of the peak memory of a process, in MB."""


def _memory_row(
    name: str, peaks: Mapping[Command, float], kafkas: Sequence[float], most: float
) -> Row:
    command = max(peaks, key=lambda one: peaks[one])
    peak = peaks[command]
    cells = [
        f"{name}; most: {command.log}",
        f"peak RSS ≤ {most:.0f} MB",
        f"{peak:.0f} MB",
        f"{max(kafkas):.0f} MB" if kafkas else "",
        f"{peak:.0f} MB",
        yes(peak <= most),
        "",
    ]
    return Row(cells, peak / most)


def fraction(ratio: float) -> str:
    """Return a ratio, as 1/15 or 1.6."""
    return f"1/{1 / ratio:.3g}" if 0 < ratio < 0.6 else f"{ratio:.2f}".rstrip("0").rstrip(".")


HEADER = (
    "| case | bar | ours | other | achieved | met | declined |\n|---|---|---:|---:|---:|---|---:|"
)


def table(rows: Iterable[Row]) -> str:
    """Return the table in Markdown, the worst result relative to its limit first."""
    ordered = sorted(rows, key=lambda row: -1.0 if row.excess is None else row.excess, reverse=True)
    return "\n".join([HEADER, *(f"| {' | '.join(row.cells)} |" for row in ordered)]) + "\n"


def results(
    chosen: Sequence[Case], rows: Iterable[Row], runs: int, conditions: str, left_out: str
) -> str:
    """Return the whole of RESULTS.md."""
    commands = "\n".join(
        dict.fromkeys(
            f"- {case.title}: `make_logs.py {case.ours.log}`; `{case.ours.text}`" for case in chosen
        )
    )
    return f"""# `kafka-dump-log` against Kafka's DumpLogSegments

Written by `python tests/bench/dump_log.py --runs {runs} --write --before DIR`. Whole processes, in
turn in each of {runs} rounds ({runs * SMALL_TIMES} of the 60 KB log's); times are medians, and
"achieved" is the median of the rounds' ratios. CPU is user and system time of a process and its
children. "Other" is Kafka's tool, with the same arguments and the heap and flags of its own script,
our own text of the same log, or the commit before. Our text is the same to the byte as Kafka's.
"Declined" are the batches that the compiled engine leaves to the reference.

Logs are read before each run, and outputs written over files that are there: what a machine takes to
find fresh memory for its output (a virtual machine took up to 2.8 s a gigabyte) would else outweigh
what the tools do.

The worst row stands first. "Untuned" are logs with other mixes of records, other sizes of values
(20 B to 2 KB) and of batches, for which nobody tuned the code: their bars are {SLACK} times as
wide. Large logs have 200 MB, users' logs inflated.

{conditions}
{table(rows)}{left_out}
Logs and commands:

{commands}
"""
