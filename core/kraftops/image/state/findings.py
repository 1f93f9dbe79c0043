"""Findings about a log: records that cannot apply, damage, gaps, transactions left open."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from kraftops.engine.fold_contract import Fold


class FindingKind(Enum):
    """The kind of a finding."""

    RECORD = "record"  # it cannot apply; the state is as if it were not there
    DAMAGE = "damage"  # bytes that are no batch; what follows is not read
    GAP = "gap"  # offsets that no batch has
    REPEAT = "repeat"  # offsets that came before; their records are left out
    START = "start"  # the log begins later than the metadata did
    TRANSACTION = "transaction"  # a metadata transaction that never ends
    EPOCH = "epoch"  # a leader epoch below one before it
    SNAPSHOT = "snapshot"  # a snapshot that is not whole and was passed over
    STATE = "state"  # a state that no server would make
    RELEASE = "release"  # a record or a feature level that a release of Kafka does not know
    UPGRADE = "upgrade"  # a registration that keeps the metadata.version back
    REPLICA = "replica"  # a difference between two replicas of one log
    STRAY = "stray"  # a partition on disk that belongs somewhere else, or nowhere


CUTS_SHORT = frozenset({FindingKind.DAMAGE, FindingKind.TRANSACTION})
"""Kinds after which the rest of the log is not in the image."""


class Finding(NamedTuple):
    """A finding; *position* is the position of a batch in *source*."""

    kind: FindingKind
    reason: str
    offset: int | None = None
    source: str | None = None
    position: int | None = None
    address: int | None = None
    """The address of the record, for `MetadataImage.record`."""
    cure: str | None = None
    """A remedy, where there is one."""

    def __str__(self) -> str:
        place = [] if self.source is None else [self.source]
        if self.offset is not None:
            place.append(f"offset {self.offset}")
        if self.position is not None:
            place.append(f"position {self.position}")
        return f"{', '.join(place)}: {self.reason}" if place else self.reason


class RecordFindings:
    """Address and reason of each record that a fold left out, in the order of the log."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def __len__(self) -> int:
        return self._fold.dropped

    def __getitem__(self, number: int) -> tuple[int, str]:
        return self._fold.dropped_record(range(len(self))[number])

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return map(self._fold.dropped_record, range(len(self)))
