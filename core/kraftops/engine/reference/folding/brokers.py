"""The records that make the state of a broker's registration: it, and those whose word counts.

The rules are those of Kafka's `BrokerRegistration` and `ClusterDelta`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftops.engine.fold_contract import BrokerEntry, Newest

if TYPE_CHECKING:
    from kraftops.records.metadata_types import BrokerRegistrationChangeRecord

_SAID = {"fenced": (-1, 0, 1), "inControlledShutdown": (0, 1)}
"""What a change can say of fields; 0 is nothing."""


class Registration:
    """A registration and the changes after it, by what they say; the addresses of the last ones."""

    __slots__ = ("_last", "address", "epoch", "newest", "records")

    def __init__(self, epoch: int, address: int) -> None:
        self.epoch = epoch
        self.address = address
        self.newest = address
        self.records = 1
        self._last: dict[str, int] = {}  # by field

    def fence(self, address: int) -> None:
        """Have the record at *address* fence, or unfence, the broker."""
        self._count(address)
        self._last["fenced"] = address

    def change(self, data: BrokerRegistrationChangeRecord, address: int) -> None:
        """Have a BrokerRegistrationChangeRecord change what it speaks of."""
        self._count(address)
        for field in ("fenced", "inControlledShutdown", "logDirs"):
            if data.get(field):
                self._last[field] = address
        if data.get("cordonedLogDirs") is not None:
            self._last["cordonedLogDirs"] = address

    def entry(self) -> BrokerEntry:
        """Return what is known of the broker."""
        changes = sorted(set(self._last.values()))
        newest = Newest(self.newest, self.records)
        return BrokerEntry(self.epoch, (self.address, *changes), newest)

    def _count(self, address: int) -> None:
        self.newest = address
        self.records += 1


def refusal(data: BrokerRegistrationChangeRecord) -> str | None:
    """Return why a BrokerRegistrationChangeRecord cannot apply to any broker; None if it can."""
    for field, meanings in _SAID.items():
        said = data.get(field, 0)
        if said not in meanings:
            return f"there is no {field} {said}"
    return None
