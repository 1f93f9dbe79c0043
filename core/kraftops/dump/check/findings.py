"""Findings about the files of a partition: their codes, effects, and what is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from kraftops.dump.check.codes import CODES

_MOST = 20  # findings of a file with the same code; the others are counted


class Effect(StrEnum):
    """Effect of a finding on a server that starts."""

    MENDED = "mended"  # it mends the file, and nothing is lost
    STAYS = "stays"  # it does not see it, or stops
    LOST = "lost"  # records are lost, or no reader gets them


class State(StrEnum):
    """State of a partition."""

    CLEAN = "clean"
    RECOVERABLE = "recoverable on start"
    DAMAGED = "damaged"
    LOST = "data lost"
    UNREADABLE = "unreadable"


_STATES = {Effect.MENDED: State.RECOVERABLE, Effect.STAYS: State.DAMAGED, Effect.LOST: State.LOST}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a file; *position* is in bytes, or None for the whole file."""

    code: str
    path: str
    position: int | None
    reason: str
    effect: Effect

    def __str__(self) -> str:
        place = self.path if self.position is None else f"{self.path}: position {self.position}"
        return f"{place}: {self.reason} [{self.code}, {self.effect}]"

    def as_dict(self) -> dict[str, object]:
        """Return it as data for JSON."""
        return {
            "code": self.code,
            "path": self.path,
            "position": self.position,
            "reason": self.reason,
            "effect": str(self.effect),
        }

    def renamed(self, shown: Callable[[str], str]) -> Self:
        """Return it with paths as *shown* makes them in a text."""
        return replace(self, path=shown(self.path), reason=shown(self.reason))


@dataclass(frozen=True, slots=True)
class Loss:
    """Offsets that are lost, the last one included, and the bytes that held them if known."""

    first: int
    last: int
    bytes: int = 0


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

    @property
    def state(self) -> State:
        """The state, by the worst finding."""
        if self.unreadable:
            return State.UNREADABLE
        return worst_state(self.findings)

    @property
    def lost_offsets(self) -> int:
        """The number of offsets that are lost."""
        return sum(loss.last - loss.first + 1 for loss in self.losses)

    @property
    def lost_bytes(self) -> int:
        """The number of bytes that no reader gets."""
        return sum(loss.bytes for loss in self.losses)

    def as_dict(self) -> dict[str, object]:
        """Return it as data for JSON, without the findings."""
        return {
            "path": self.path,
            "topic": self.topic,
            "partition": self.partition,
            "state": str(self.state),
            "segments": self.segments,
            "bytes": self.bytes,
            "startOffset": self.start,
            "endOffset": self.end,
            "lostOffsets": self.lost_offsets,
            "lostBytes": self.lost_bytes,
            "lost": [[loss.first, loss.last] for loss in self.losses],
            "findings": len(self.findings),
            "reason": self.unreadable or None,
        }

    def of_file(self, topic: str | None, partition: int | None) -> Self:
        """Return it as that of a file in the log of a partition."""
        return replace(self, topic=topic, partition=partition, is_file=True)

    def renamed(self, shown: Callable[[str], str]) -> Self:
        """Return it with paths as *shown* makes them in a text."""
        return replace(
            self,
            path=shown(self.path),
            findings=tuple(finding.renamed(shown) for finding in self.findings),
            unreadable=shown(self.unreadable),
        )


def offsets_text(first: int, last: int) -> str:
    """Return offsets in words, the last one included."""
    return f"offset {first}" if first == last else f"offsets {first} to {last}"


def lost_text(first: int, last: int) -> str:
    """Return in words that offsets are lost."""
    return f"{offsets_text(first, last)} {'is' if first == last else 'are'} lost"


def worst_state(findings: tuple[Finding, ...]) -> State:
    """Return the state of a partition with these findings."""
    effects = {finding.effect for finding in findings}
    worst = next((effect for effect in reversed(Effect) if effect in effects), None)
    return _STATES[worst] if worst else State.CLEAN


class Findings:
    """Collector of findings; of a file it keeps some of each code, and counts the others."""

    def __init__(self) -> None:
        """Begin without findings."""
        self._found: list[Finding] = []
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(
        self, code: str, path: str, reason: str, effect: Effect, position: int | None = None
    ) -> None:
        """Add a finding."""
        assert code in CODES
        self._counts[path, code] += 1
        if self._counts[path, code] <= _MOST:
            self._found.append(Finding(code, path, position, reason, effect))

    def all(self) -> tuple[Finding, ...]:
        """Return the findings; the last one of a file and code counts those that are left out."""
        found = list(self._found)
        for (path, code), count in self._counts.items():
            if count > _MOST:
                effect = max(
                    (one.effect for one in found if (one.path, one.code) == (path, code)),
                    key=list(Effect).index,
                )
                found.append(Finding(code, path, None, f"{count - _MOST} more of these", effect))
        return tuple(found)
