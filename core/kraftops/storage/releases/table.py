"""Table of what each release of Kafka knows, measured from its jars (scripts/release_tables.py)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from kraftops.fileio.packaged import packaged_text
from kraftops.storage.bootstrap.releases import METADATA_VERSION
from kraftops.storage.config.keys import ServerKey

Levels = Mapping[str, tuple[int, int]]
"""The lowest and the highest level of features."""


@dataclass(frozen=True)
class Release:
    """A release such as 3.9, without its patch, and the levels of features that it supports."""

    name: str
    features: Levels

    def supports(self, feature: str, level: int) -> bool:
        """Tell whether a server works at a level of a feature; each works without a feature."""
        low, high = self.features.get(feature, (0, 0))
        return low <= level <= high

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """Type and check of each key of a server configuration, in the notation of `keys.py`."""
        return _rows("keys", self.name)

    @cached_property
    def changed_keys(self) -> Mapping[str, ServerKey | None]:
        """The keys that it defines otherwise than the last release, None where it ignores them."""
        last = releases()[-1].keys
        changed: dict[str, ServerKey | None] = dict.fromkeys(last.keys() - self.keys.keys())
        for name, row in self.keys.items():
            kind, _, check = row.partition(" ")
            # Many lists were texts once: a text with commas is read as the list that it became.
            was_text = kind == "string" and last.get(name, "").startswith("list")
            if row != last.get(name) and not was_text:
                changed[name] = ServerKey(name, kind, required=False, check=check, default=None)
        return changed

    @cached_property
    def classes(self) -> Mapping[str, frozenset[str]]:
        """The interfaces, without packages, of Kafka's own classes that a key can name."""
        rows = _rows("classes", self.name)
        return {name: frozenset(row.split(" ")) for name, row in rows.items()}


@cache
def releases() -> tuple[Release, ...]:
    """Return the releases that run without ZooKeeper, the oldest first."""
    return tuple(
        Release(name, {feature: (low, high) for feature, (low, high) in levels.items()})
        for name, levels in _table()["features"].items()
    )


def release_named(name: str) -> Release | None:
    """Return the release of a number without patch; None if it is not in the table."""
    return next((release for release in releases() if release.name == name), None)


def release_of(registered: Levels) -> Release | None:
    """Return the release of a server that registered with these features; None if it is unknown.

    Each release has levels of metadata.version of its own.
    """
    levels = registered.get(METADATA_VERSION)
    return next((rel for rel in releases() if rel.features[METADATA_VERSION] == levels), None)


def _rows(part: str, name: str) -> dict[str, str]:
    order = [release.name for release in releases()]
    number = order.index(name)
    spans: Mapping[str, Sequence[tuple[str, str, str]]] = _table()[part]
    return {
        key: row
        for key, rows in spans.items()
        for first, last, row in rows
        if order.index(first) <= number <= order.index(last)
    }


@cache
def _table() -> Any:
    return json.loads(packaged_text(__file__, "releases.json"))
