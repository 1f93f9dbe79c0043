"""The report of a dump: damage, gaps and index mismatches, for standard error."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from operator import lt

from kraftops.errors import KraftopsError
from kraftops.log.files import absolute_path

_LINES = 4096  # of gaps, made at once: half a megabyte; a hostile log has millions


class Refusal(str):
    """A line about a file that cannot be read; it is shown after the name of the tool."""

    __slots__ = ()


class TimeProblem(Enum):
    """What is wrong with an entry of a time index, in the words of Kafka's tool and in ours."""

    MISMATCH = (
        "Found timestamp mismatch in",
        "  Index timestamp: %d, log timestamp: %d",
        "the batch of timestamp %d has %d",
    )
    DISORDER = (
        "Found out of order timestamp in",
        "  Index timestamp: %d, Previously indexed timestamp: %d",
        "timestamp %d comes after %d",
    )
    NOT_FOUND = (
        "The following indexed offsets are not found in",
        "Indexed offset: %d, found log offset: %d",
        "offset %d ends no batch, the next is %d",
    )

    def __init__(self, heading: str, line: str, reason: str) -> None:
        self.heading, self.line, self.reason = heading, line, reason


class Report:
    """Collects lines for the error stream while files are dumped, and Kafka's summaries."""

    def __init__(self) -> None:
        self.has_failed = False
        """Whether Kafka's tool would have failed so far."""
        self.has_damage = False
        """Whether data is damaged, or an index does not match its log."""
        self.is_cut_short = False
        """Whether a budget left a batch or the rest of a file out: Kafka's tool has none."""
        self.refused = 0
        """The number of files that could not be read at all."""
        self.first_refusal: KraftopsError | None = None
        self._lines: list[str] = []
        self._index_mismatches: dict[str, dict[int, int]] = {}
        self._time_problems: dict[TimeProblem, dict[str, list[tuple[int, int]]]] = {}
        self._gaps: dict[str, array[int]] = {}  # pairs: an offset and the next one

    def failure(self, path: str, position: int, reason: str, *, is_damage: bool = True) -> None:
        """Note damage at a position of a file, at which Kafka's tool fails."""
        self.has_failed = True
        self.has_damage |= is_damage
        self.note(path, position, reason)

    def finding(self, path: str, position: int, reason: str) -> None:
        """Note damage that Kafka's tool shows in its output."""
        self.has_damage = True
        self.note(path, position, reason)

    def refusal(self, error: KraftopsError) -> None:
        """Note a file that cannot be read at all."""
        self.has_failed = True
        self.refused += 1
        self.first_refusal = self.first_refusal or error
        self._lines.append(Refusal(error.message))

    def ignored(self, path: str) -> None:
        """Note a file of an unknown kind, which Kafka's tool skips."""
        self.refused += 1
        self.remark(f"Ignoring unknown file {path}")

    def note(self, path: str, position: int, reason: str) -> None:
        """Note something unusual at a position of a file; a negative position is not shown."""
        place = f"position {position}: " if position >= 0 else ""
        self._lines.append(f"{path}: {place}{reason}")

    def remark(self, line: str, *, is_damage: bool = False) -> None:
        """Note a line without a position."""
        self.has_damage |= is_damage
        self._lines.append(line)

    def gap(self, path: str, offset: int, following: int) -> None:
        """Note a gap: *following* comes after *offset* and is not the next offset."""
        self._gaps.setdefault(absolute_path(path), array("q")).extend((offset, following))

    def gaps(self, path: str, pairs: bytes) -> None:
        """Note gaps, as pairs of int64."""
        if pairs:
            self._gaps.setdefault(absolute_path(path), array("q")).frombytes(pairs)

    def index_mismatch(self, path: str, offset: int, end: int) -> None:
        """Note an entry of an offset index with a batch that ends at another offset."""
        self.has_damage = True
        self._index_mismatches.setdefault(absolute_path(path), {})[offset] = end

    def time_problem(self, problem: TimeProblem, path: str, indexed: int, present: int) -> None:
        """Note what an entry of a time index has, and what is there."""
        self.has_damage = True
        by_path = self._time_problems.setdefault(problem, {})
        by_path.setdefault(absolute_path(path), []).append((indexed, present))

    def cut_summary(self, most: int) -> tuple[int, int]:
        """Keep at most *most* of the lines that `summary` has below its headings.

        Returns:
            The number of lines kept, and the number of lines dropped.
        """
        kept = dropped = 0

        def allowed(size: int) -> int:
            nonlocal kept, dropped
            count = min(size, most - kept)
            kept, dropped = kept + count, dropped + size - count
            return count

        for problem in TimeProblem:
            for pairs in self._time_problems.get(problem, {}).values():
                del pairs[allowed(len(pairs)) :]
        for offsets in self._index_mismatches.values():
            for offset in list(offsets)[allowed(len(offsets)) :]:
                del offsets[offset]
        for gaps in self._gaps.values():
            del gaps[2 * allowed(len(gaps) // 2) :]
        return kept, dropped

    @property
    def has_lines(self) -> bool:
        """Whether there are lines since the last `take_lines`."""
        return bool(self._lines)

    def take_lines(self) -> list[str]:
        lines, self._lines = self._lines, []
        return lines

    def take(self) -> Report:
        """Return everything since the last call as another report."""
        taken = Report()
        taken.__dict__, self.__dict__ = self.__dict__, taken.__dict__
        return taken

    def merge(self, later: Report) -> None:
        self.has_failed |= later.has_failed
        self.has_damage |= later.has_damage
        self.is_cut_short |= later.is_cut_short
        self.refused += later.refused
        self.first_refusal = self.first_refusal or later.first_refusal
        self._lines += later._lines
        for path, offsets in later._index_mismatches.items():
            self._index_mismatches.setdefault(path, {}).update(offsets)
        for problem, theirs in later._time_problems.items():
            for path, pairs in theirs.items():
                ours = self._time_problems.setdefault(problem, {})
                ours.setdefault(path, []).extend(pairs)
        for path, gaps in later._gaps.items():
            self._gaps.setdefault(path, array("q")).extend(gaps)

    def summary(self) -> Iterator[str]:
        """Yield the lines that Kafka's tool prints after all files."""
        lines: list[str] = []
        for path, offsets in self._index_mismatches.items():
            lines.append(f"Mismatches in :{path}")
            lines += [
                f"  Index offset: {offset}, log offset: {offsets[offset]}"
                for offset in sorted(offsets, reverse=True)
            ]
        for problem in TimeProblem:
            for path, pairs in self._time_problems.get(problem, {}).items():
                lines.append(f"{problem.heading} :{path}")
                lines += [problem.line % pair for pair in pairs]
        yield from lines
        for path, gaps in self._gaps.items():
            yield f"Non-consecutive offsets in {path}"
            yield from _gap_lines(gaps)


def _gap_lines(gaps: array[int]) -> Iterator[str]:
    """Yield a line for each gap, a pair of offsets; lazily, as a compacted log has millions."""
    if not all(map(lt, gaps[::2], gaps[2::2])):
        # Kafka keeps the last gap after an offset.
        latest = dict(zip(gaps[::2], gaps[1::2], strict=True))
        gaps = array("q", chain.from_iterable(sorted(latest.items())))
    for start in range(0, len(gaps), _LINES * 2):
        part = gaps[start : start + _LINES * 2]
        yield from map("  %d is followed by %d".__mod__, zip(part[::2], part[1::2], strict=True))
