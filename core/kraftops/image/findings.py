"""What is wrong with a log: records that cannot apply, damage, gaps, transactions left open."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What sort of thing was found."""

    RECORD = "record"  # it cannot apply; the state is as if it were not there
    UNREADABLE = "unreadable"  # a record that nobody can read
    DAMAGE = "damage"  # bytes that are no batch; what follows is not read
    GAP = "gap"  # offsets that no batch has
    REPEAT = "repeat"  # offsets that were there before; their records are left out
    START = "start"  # the log begins later than the metadata did
    TRANSACTION = "transaction"  # a metadata transaction that never ends
    EPOCH = "epoch"  # a leader epoch below one before it
    SNAPSHOT = "snapshot"  # a snapshot that is not whole and was passed over
    STATE = "state"  # what the records amount to cannot be
    RELEASE = "release"  # what some release of Kafka does not know
    UPGRADE = "upgrade"  # a registration that keeps the metadata.version back
    REPLICA = "replica"  # what is not the same in two replicas of one log
    STRAY = "stray"  # a partition on disk that belongs somewhere else, or nowhere


CUTS_SHORT = frozenset({Kind.DAMAGE, Kind.TRANSACTION})
"""Kinds after which something of the log is not in the image."""


class Finding(NamedTuple):
    """One finding; *position* is that of a batch in *source*."""

    kind: Kind
    reason: str
    offset: int | None = None
    source: str | None = None
    position: int | None = None
    address: int | None = None
    """Of the record, for `MetadataImage.record`."""
    cure: str | None = None
    """What to do about it, where something can be done."""

    def __str__(self) -> str:
        place = [] if self.source is None else [self.source]
        if self.offset is not None:
            place.append(f"offset {self.offset}")
        if self.position is not None:
            place.append(f"position {self.position}")
        return f"{', '.join(place)}: {self.reason}" if place else self.reason


class RecordFindings:
    """Findings about records, of which a hostile log can have millions: 16 bytes for each."""

    def __init__(self) -> None:
        self._addresses: array[int] = array("q")
        self._reasons: list[str] = []
        self._known: dict[str, str] = {}

    def add(self, address: int, reason: str) -> None:
        """Note that the record at *address* is left out."""
        self._addresses.append(address)
        self._reasons.append(self._known.setdefault(reason, reason))

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return zip(self._addresses, self._reasons, strict=True)

    def __getitem__(self, number: int) -> tuple[int, str]:
        return self._addresses[number], self._reasons[number]

    def __len__(self) -> int:
        return len(self._addresses)
