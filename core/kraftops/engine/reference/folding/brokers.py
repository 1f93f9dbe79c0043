"""The records that make the state of a broker: its registration, and the changes that count.

The rules are those of Kafka's `BrokerRegistration` and `ClusterDelta`.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from kraftops.engine.metadata_state import BrokerEntry, NewestRecord

if TYPE_CHECKING:
    from kraftops.records.metadata_types import BrokerRegistrationChangeRecord

_CHANGES = {"fenced": (-1, 0, 1), "inControlledShutdown": (0, 1)}
"""The values of a change's fields; 0 means no change."""


class Registration:
    """A registration, and the address of the last change of each field."""

    __slots__ = ("address", "epoch", "last_changes", "newest", "records")

    def __init__(self, epoch: int, address: int) -> None:
        self.epoch = epoch
        self.address = address
        self.newest = address
        self.records = 1
        self.last_changes: dict[str, int] = {}
        """The addresses of the last changes, by field."""

    def copy(self) -> Registration:
        registration = copy(self)
        registration.last_changes = dict(self.last_changes)
        return registration

    def fence(self, address: int) -> None:
        """Have the record at *address* fence, or unfence, the broker."""
        self._count(address)
        self.last_changes["fenced"] = address

    def change(self, data: BrokerRegistrationChangeRecord, address: int) -> None:
        self._count(address)
        for field in ("fenced", "inControlledShutdown", "logDirs"):
            if data.get(field):
                self.last_changes[field] = address
        if data.get("cordonedLogDirs") is not None:
            self.last_changes["cordonedLogDirs"] = address

    def entry(self) -> BrokerEntry:
        changes = sorted(set(self.last_changes.values()))
        newest = NewestRecord(self.newest, self.records)
        return BrokerEntry(self.epoch, (self.address, *changes), newest)

    def _count(self, address: int) -> None:
        self.newest = address
        self.records += 1


def refusal(data: BrokerRegistrationChangeRecord) -> str | None:
    """Return why a BrokerRegistrationChangeRecord cannot apply to any broker; None if it can."""
    for field, values in _CHANGES.items():
        value = data.get(field, 0)
        if value not in values:
            return f"there is no {field} {value}"
    return None
