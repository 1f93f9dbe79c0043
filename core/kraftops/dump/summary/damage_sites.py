"""Sites of damage in files."""

from __future__ import annotations

from typing import Any, NamedTuple

_MOST_TOLD = 20  # places that are told one by one


class Place(NamedTuple):
    """A site of damage: a position in a file, a number of bytes, and a reason."""

    path: str
    position: int
    size: int
    reason: str


class Places:
    """Sites of damage: their number, their bytes, and the first ones.

    `kraftops.dump.summary.sketches` describes how counts of ranges are merged.
    """

    def __init__(self) -> None:
        self.count = self.size = 0
        self.first: list[Place] = []

    def add(self, place: Place) -> None:
        """Count a place."""
        self.count += 1
        self.size += place.size
        if len(self.first) < _MOST_TOLD:
            self.first.append(place)

    def merge(self, later: Places) -> None:
        """Add those of a later part."""
        self.count += later.count
        self.size += later.size
        self.first = (self.first + later.first)[:_MOST_TOLD]

    def as_dict(self) -> dict[str, Any]:
        """Return count, bytes and the first places."""
        return {
            "count": self.count,
            "bytes": self.size,
            "first": [
                {"file": path, "position": position, "bytes": size, "reason": reason}
                for path, position, size, reason in self.first
            ],
        }
