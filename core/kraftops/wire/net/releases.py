"""Releases of Kafka by their highest version of Fetch, which nearly every release raises.

A level of metadata.version tells more: each release has one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from kraftops.storage.bootstrap.releases import METADATA_VERSION, METADATA_VERSIONS, by_level

_FETCH_RELEASES = (
    (4, "0.11 or earlier"),
    (6, "1.0"),
    (7, "1.1"),
    (8, "2.0"),
    (10, "2.1 or 2.2"),
    (11, "2.3 to 2.6"),
    (12, "2.7 to 3.0"),
    (13, "3.1 to 3.4"),
    (15, "3.5 or 3.6"),
    (16, "3.7 or 3.8"),
    (17, "3.9 or 4.0"),
)
"""The highest version of Fetch, and the releases that serve no higher one."""


def release_range(fetch: int | None) -> str:
    """Return the releases of a server whose highest version of Fetch is *fetch*."""
    if fetch is None:
        return "an unknown release"
    for highest, releases in _FETCH_RELEASES:
        if fetch <= highest:
            return f"Kafka {releases}"
    return "Kafka 4.1 or later"


class SupportedFeature(Protocol):
    """A feature that a node supports up to a level."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def supported(self) -> tuple[int, int] | None:
        """The lowest and the highest level."""


_FETCH = 1


def release_of(
    apis: Mapping[int, tuple[int, int]] | None, features: Iterable[SupportedFeature]
) -> str | None:
    """Return the release of a node by its features, else by its APIs: `4.3`, or `3.9 or 4.0`.

    None if neither tells.
    """
    for feature in features:
        if feature.name == METADATA_VERSION and feature.supported:
            known = by_level(feature.supported[1])
            newest = METADATA_VERSIONS[-1].release
            return known.release if known else f"later than {newest}"
    if apis is None or _FETCH not in apis:
        return None
    return release_range(apis[_FETCH][1]).removeprefix("Kafka ")
