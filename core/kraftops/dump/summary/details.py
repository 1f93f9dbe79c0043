"""The details of a summary that only some decoders have: groups, transactional ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

from kraftops.dump.summary.groups import Groups
from kraftops.dump.summary.transactional_ids import TransactionalIds
from kraftops.log.batch import Record


class Details(Protocol):
    """Counts from the contents of records of one kind of topic, which can be merged."""

    def see(self, record: Record, producer_id: int) -> None:
        """Count a record; in a transaction unless *producer_id* is -1.

        Raises:
            DecodeError: it cannot be read.
        """

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        """Count the marker of a transaction."""

    def merge(self, later: Self) -> None:
        """Add what a later part of the log has."""

    def fields(self) -> dict[str, Any]:
        """Return the fields of the summary that these details add or replace."""


class NoDetails:
    """No details, for all other decoders."""

    def see(self, record: Record, producer_id: int) -> None:
        """Count nothing."""

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        """Count nothing."""

    def merge(self, later: NoDetails) -> None:
        """Add nothing."""

    def fields(self) -> dict[str, Any]:
        """Return no fields."""
        return {}


_DETAILS: dict[str, Callable[[], Details]] = {
    "offsets": Groups,
    "transaction": TransactionalIds,
}
"""By decoder."""


def details_of(decoder: str) -> Details:
    """Return the details that a decoder's summary has, empty."""
    return _DETAILS.get(decoder, NoDetails)()
