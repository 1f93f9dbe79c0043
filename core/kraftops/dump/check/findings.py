"""Findings about the files of a partition: their codes, effects, and what is lost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from kraftops.findings.finding import Finding, Place, Severity, Stake, worst
from kraftops.server.loader.load_plan import PartitionLoad

Span = tuple[int, int]
"""The first and the last of some offsets."""


class State(StrEnum):
    """State of a partition; the worst comes last."""

    CLEAN = "clean"
    MENDED = "mended by a start"
    DAMAGED = "damaged"
    REFUSED = "start refused"
    LOST = "data lost"
    UNREADABLE = "unreadable"


_STATES: Mapping[Severity | None, State] = MappingProxyType(
    {
        None: State.CLEAN,
        Severity.NOTE: State.MENDED,
        Severity.RISK: State.DAMAGED,
        Severity.STOPS: State.REFUSED,
        Severity.LOSS: State.LOST,
    }
)


@dataclass(frozen=True, slots=True)
class Loss:
    """Offsets that are lost, the last one included, and the bytes that held them if known."""

    first: int
    last: int
    bytes: int = 0

    @property
    def span(self) -> Span:
        """The first and the last offset."""
        return self.first, self.last

    @property
    def offsets(self) -> int:
        return self.last - self.first + 1


def stake_of(losses: Sequence[Loss]) -> Stake:
    """Return what is at stake; an offset counts as a record, also one of a marker."""
    return Stake(sum(loss.offsets for loss in losses), sum(loss.bytes for loss in losses))


@dataclass(frozen=True, slots=True)
class PartitionCheck:
    """Outcome of the check of a partition, or of files alone: *path* is a directory or a file.

    The offsets are of the local log, *end* exclusive.
    """

    path: str
    topic: str | None
    partition: int | None
    segments: int = 0
    bytes: int = 0
    start: int | None = None
    end: int | None = None
    losses: tuple[Loss, ...] = ()
    findings: tuple[Finding, ...] = ()
    unreadable: str = ""
    is_file: bool = False
    starts: bool | None = None
    """Whether Kafka's loader takes it; None if that is unknown."""
    load: PartitionLoad | None = None
    """What its loading means for the server; None if that is unknown."""
    topic_id: str | None = None

    @property
    def state(self) -> State:
        if self.unreadable:
            return State.UNREADABLE
        if not self.findings:
            return State.CLEAN
        certain = (
            finding for finding in self.findings if finding.is_severe or not finding.is_possible
        )
        return _STATES[worst(certain)]

    @property
    def lost_offsets(self) -> int:
        return sum(loss.offsets for loss in self.losses)

    @property
    def lost_bytes(self) -> int:
        """The number of bytes that no reader gets."""
        return sum(loss.bytes for loss in self.losses)

    def of_file(self, topic: str | None, partition: int | None) -> Self:
        return replace(self, topic=topic, partition=partition, is_file=True)


def uncovered(span: Span, others: Iterable[Span]) -> Iterator[Span]:
    """Yield the parts of *span* that none of the *others* covers."""
    first, last = span
    for start, end in sorted(others):
        if start > first:
            if start > last:
                break
            yield first, start - 1
        first = max(first, end + 1)
    if first <= last:
        yield first, last


def losses_in(span: Span, others: Iterable[Span], size: int) -> list[Loss]:
    """Return the offsets of *span* that no other one has, the first of them with the bytes."""
    gaps = enumerate(uncovered(span, others))
    return [Loss(*gap, 0 if index else size) for index, gap in gaps]


def offsets_text(first: int, last: int) -> str:
    """Return offsets in words, the last one included."""
    return f"offset {first}" if first == last else f"offsets {first} to {last}"


def lost_text(first: int, last: int) -> str:
    return f"{offsets_text(first, last)} {'is' if first == last else 'are'} lost"


class Findings:
    """Collector of findings: those of one file, code and severity are one finding with a count."""

    def __init__(self) -> None:
        """Begin without findings."""
        self.losses: list[Loss] = []
        """All that is lost."""
        self._others: list[Finding] = []
        self._firsts: dict[tuple[str, str, Severity], Finding] = {}
        self._counts: dict[tuple[str, str, Severity], int] = {}
        self._losses: dict[tuple[str, str, Severity], list[Loss]] = {}

    def add(
        self,
        code: str,
        path: str,
        text: str,
        severity: Severity = Severity.RISK,
        position: int | None = None,
    ) -> None:
        """Add a finding; of those of one cause the first is kept."""
        cause = path, code, severity
        self._counts[cause] = self._counts.get(cause, 0) + 1
        if cause not in self._firsts:
            self._firsts[cause] = Finding(code, severity, text, Place(file=path, position=position))

    def lose(
        self, code: str, path: str, text: str, losses: Sequence[Loss], position: int | None = None
    ) -> None:
        """Add a finding of severity loss; losses of one path and code are summed."""
        self.add(code, path, text, Severity.LOSS, position)
        self._losses.setdefault((path, code, Severity.LOSS), []).extend(losses)
        self.losses += losses

    def put(self, finding: Finding, losses: Iterable[Loss] = ()) -> None:
        """Add a finding as it is, beside those that are counted."""
        self._others.append(finding)
        self.losses += losses

    @property
    def positions(self) -> set[tuple[str, int | None]]:
        """The files and positions of those that are counted."""
        places = (finding.place for finding in self._firsts.values())
        return {(place.path, place.position) for place in places}

    def has(self, code: str, path: str) -> bool:
        return any((path, code) == cause[:2] for cause in self._firsts)

    def all(self) -> tuple[Finding, ...]:
        """Return the findings in the order of their first appearance, then those of `put`."""
        counted = (
            replace(
                finding,
                count=self._counts[cause],
                stake=stake_of(self._losses[cause]) if cause in self._losses else None,
            )
            for cause, finding in self._firsts.items()
        )
        return (*counted, *self._others)
