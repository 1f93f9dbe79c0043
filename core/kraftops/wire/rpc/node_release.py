"""Release of a node, by its metadata.version: each release has a level of its own.

Without a level, its APIs tell less.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from kraftops.storage.bootstrap.releases import METADATA_VERSION, METADATA_VERSIONS, by_level
from kraftops.wire.net.releases import release_range


class SupportedFeature(Protocol):
    """A feature that a node supports up to a level."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def supported(self) -> tuple[int, int] | None:
        """The lowest and the highest level."""


_FETCH = 1  # `ApiKeys.FETCH`, whose versions tell releases apart


def release_of(
    apis: Mapping[int, tuple[int, int]] | None, features: Iterable[SupportedFeature]
) -> str | None:
    """Guess a node's release by its features, else by its APIs: `4.3`, or `3.9 or 4.0`.

    None if neither tells.
    """
    for feature in features:
        if feature.name == METADATA_VERSION and feature.supported:
            version = by_level(feature.supported[1])
            newest = METADATA_VERSIONS[-1].release
            return version.release if version else f"later than {newest}"
    if apis is None or _FETCH not in apis:
        return None
    return release_range(apis[_FETCH][1]).removeprefix("Kafka ")
