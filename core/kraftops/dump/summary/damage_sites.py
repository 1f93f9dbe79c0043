"""Sites of damage in files."""

from __future__ import annotations

from typing import Any, NamedTuple

_MOST_LISTED = 20


class DamageSite(NamedTuple):
    """A site of damage: a position in a file, a number of bytes, and a reason."""

    path: str
    position: int
    size: int
    reason: str


class DamageSites:
    """Sites of damage: their number, their bytes, and the first ones.

    `kraftops.dump.summary.sketches` describes how counts of ranges are merged.
    """

    def __init__(self) -> None:
        self.count = self.size = 0
        self.first: list[DamageSite] = []

    def add(self, site: DamageSite) -> None:
        """Count a site."""
        self.count += 1
        self.size += site.size
        if len(self.first) < _MOST_LISTED:
            self.first.append(site)

    def merge(self, later: DamageSites) -> None:
        """Add the sites of a later part."""
        self.count += later.count
        self.size += later.size
        self.first = (self.first + later.first)[:_MOST_LISTED]

    def as_dict(self) -> dict[str, Any]:
        """Return count, bytes and the first sites."""
        return {
            "count": self.count,
            "bytes": self.size,
            "first": [
                {"file": path, "position": position, "bytes": size, "reason": reason}
                for path, position, size, reason in self.first
            ],
        }
