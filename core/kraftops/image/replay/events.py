"""What a replay tells of as it goes on, in the order of the log."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.engine.metadata_state import EntryChange


class Folded(NamedTuple):
    """Records *first* up to *stop* of the batch at *address* were looked at, with what came of it.

    Those that *wait* for the end of their transaction are counted there, apart from the marker
    behind them. Counted are the records that were applied, those that were dropped with a reason,
    and those among the latter that nobody can read.
    """

    address: int
    first: int
    stop: int
    applied: int = 0
    dropped: int = 0
    unreadable: int = 0
    is_waiting: bool = False


class Applied(NamedTuple):
    """The record at *address* has just done this to what the fold watches."""

    address: int
    touches: list[EntryChange]


class Dropped(NamedTuple):
    """The record at *address* was left out."""

    address: int
    reason: str


class Controlled(NamedTuple):
    """The control record at *address*, of this number in its batch, was taken in.

    One that *is_behind* is older than the snapshot that was read, and says only who leads.
    """

    address: int
    number: int
    is_behind: bool = False


class Begun(NamedTuple):
    """The record at *address* has opened a metadata transaction."""

    address: int


class Ended(NamedTuple):
    """The record at *address* has ended one, whose records were counted as they were applied."""

    address: int
    applied: int
    dropped: int


class Aborted(NamedTuple):
    """The record at *address* has ended one and taken it back."""

    address: int


class SnapshotEnded(NamedTuple):
    """All of a whole snapshot was read, which ends before this offset of the log if it has one."""

    end_offset: int | None


Event = Folded | Applied | Dropped | Controlled | Begun | Ended | Aborted | SnapshotEnded
