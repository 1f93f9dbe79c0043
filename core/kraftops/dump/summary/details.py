"""The parts of a summary that only some decoders have: groups, transactional ids."""

from __future__ import annotations

from typing import Protocol, Self

from kraftops.dump.summary.groups import Groups
from kraftops.dump.summary.transactional_ids import TransactionalIds
from kraftops.log.batch import Record


class Details(Protocol):
    """Counts from the contents of records of one kind of topic, which can be merged."""

    def add_record(self, record: Record, producer_id: int) -> None:
        """Count a record; in a transaction unless *producer_id* is -1.

        Raises:
            DecodeError: it cannot be read.
        """

    def add_marker(self, producer_id: int, *, is_commit: bool) -> None:
        """Count the marker of a transaction."""

    def merge(self, later: Self) -> None:
        """Add the counts of a later part of the log."""


class NoDetails:
    """No details, for all other decoders."""

    def add_record(self, record: Record, producer_id: int) -> None:
        """Count nothing."""

    def add_marker(self, producer_id: int, *, is_commit: bool) -> None:
        """Count nothing."""

    def merge(self, later: NoDetails) -> None:
        """Add nothing."""


def details_for(decoder: str, *, has_open: bool) -> Details:
    """Return empty details for the summary of a decoder's records; *has_open* is its scope's."""
    if decoder == "offsets":
        return Groups()
    if decoder == "transaction":
        return TransactionalIds(has_open=has_open)
    return NoDetails()
