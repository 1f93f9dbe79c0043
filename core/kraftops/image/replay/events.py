"""The events of a replay, in the order of the log."""

from typing import NamedTuple

from kraftops.engine.metadata_state import EntryChange


class RecordsProcessed(NamedTuple):
    """Records *first* up to *stop* of the batch at *address* were processed.

    The counts are of records that were applied, of records that were dropped with a reason, and of
    the dropped records that cannot be read. *is_deferred* records wait for the end of their
    transaction, which counts them; the marker after them is counted here.
    """

    address: int
    first: int
    stop: int
    applied: int = 0
    dropped: int = 0
    unreadable: int = 0
    is_deferred: bool = False


class EntriesChanged(NamedTuple):
    """The record at *address* has just changed entries that the fold watches."""

    address: int
    changes: list[EntryChange]


class RecordDropped(NamedTuple):
    """The record at *address* was left out."""

    address: int
    reason: str


class ControlRecordRead(NamedTuple):
    """The control record at *address*, of this number in its batch, was read.

    A *covered* one is older than the snapshot that was read, and can only name the leader.
    """

    address: int
    number: int
    is_covered: bool = False


class TransactionBegun(NamedTuple):
    """The record at *address* has begun a metadata transaction."""

    address: int


class TransactionEnded(NamedTuple):
    """The record at *address* has ended a transaction; the counts are of its records."""

    address: int
    applied: int
    dropped: int


class TransactionAborted(NamedTuple):
    """The record at *address* has aborted a transaction: its records are left out."""

    address: int


class SnapshotEnded(NamedTuple):
    """A whole snapshot was read; *end_offset* is its end in the log, if the name has one."""

    end_offset: int | None


Event = (
    RecordsProcessed
    | EntriesChanged
    | RecordDropped
    | ControlRecordRead
    | TransactionBegun
    | TransactionEnded
    | TransactionAborted
    | SnapshotEnded
)
