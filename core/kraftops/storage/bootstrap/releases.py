"""Releases of Kafka: metadata versions, features, their levels and dependencies.

The tables are those of Kafka 4.3.1's `MetadataVersion` and `Feature`.
"""

import re
from typing import NamedTuple

from kraftops.errors import UsageError

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"


class MetadataVersion(NamedTuple):
    """A level of metadata.version and the name of its release."""

    level: int
    name: str

    @property
    def release(self) -> str:
        """The release without its internal version: 3.9 of 3.9-IV0."""
        return self.name.partition("-")[0]


_NAMES = """
    3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2 3.6-IV0 3.6-IV1 3.6-IV2
    3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0
    4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 4.3-IV0 4.4-IV0
"""
METADATA_VERSIONS = tuple(
    MetadataVersion(level, name) for level, name in enumerate(_NAMES.split(), start=7)
)
LATEST_PRODUCTION = METADATA_VERSIONS[-2]
UNSTABLE = METADATA_VERSIONS[-1]
SCRAM_SINCE = 11
"""The first level with records of SCRAM credentials."""


class Level(NamedTuple):
    """A level of a feature above 0.

    It is the default of a cluster formatted at *bootstraps_at* (a level of metadata.version) or
    above; it needs *requires*, levels of other features.
    """

    level: int
    bootstraps_at: int
    requires: tuple[tuple[str, int], ...] = ()


FEATURES: dict[str, tuple[Level, ...]] = {
    KRAFT_VERSION: (Level(1, 21),),
    "transaction.version": (Level(1, 24), Level(2, 24)),
    "group.version": (Level(1, 22),),
    "eligible.leader.replicas.version": (Level(1, 26, ((METADATA_VERSION, 23),)),),
    "share.version": (Level(1, 28),),
    "streams.version": (Level(1, 29),),
}
"""By name, in the order in which Kafka lists them."""


def by_level(level: int) -> MetadataVersion | None:
    first = METADATA_VERSIONS[0].level
    return METADATA_VERSIONS[level - first] if 0 <= level - first < len(METADATA_VERSIONS) else None


def by_name(text: str, *, unstable: bool = False) -> MetadataVersion:
    """Return the metadata version of `X.Y-IVn`, or the last one of `X.Y` or `X.Y.anything`.

    Raises:
        UsageError: it does not exist, or is unstable and *unstable* is not set.
    """
    versions = METADATA_VERSIONS if unstable else METADATA_VERSIONS[:-1]
    segments = re.sub(r"\.+$", "", text).split(".")
    key = ".".join(segments[:2]) if len(segments) > 2 else text
    for version in reversed(versions):
        if key == version.name or (key == version.release and version is not UNSTABLE):
            return version
    names = ", ".join(version.name for version in versions)
    named = re.search(r"\d+\.\d+", text)
    is_near = (
        named and named[0] != text and any(named[0] == version.release for version in versions)
    )
    newest = f"the newest release that is known here is {versions[-1].release}"
    raise UsageError(
        f"Unknown metadata.version '{text}'. Supported metadata.version are: {names}",
        hint=f"perhaps {named[0]} is meant" if named and is_near else newest,
    )


def level_of(feature: str, level: int) -> Level:
    """Return a level of a feature, 0 included.

    Raises:
        KeyError: there is no such feature, or no such level.
    """
    if level == 0 and feature in FEATURES:
        return Level(0, 0)
    for row in FEATURES[feature]:
        if row.level == level:
            return row
    raise KeyError(level)


def default_level(feature: str, metadata_level: int) -> int:
    levels = [row.level for row in FEATURES[feature] if row.bootstraps_at <= metadata_level]
    return max(levels, default=0)
