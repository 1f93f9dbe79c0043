"""Releases, their metadata versions, and the features that they bring."""

import pytest

from kraftops.errors import UsageError
from kraftops.storage.bootstrap.releases import (
    FEATURES,
    LATEST_PRODUCTION,
    METADATA_VERSIONS,
    UNSTABLE,
    Level,
    MetadataVersion,
    by_level,
    by_name,
    default_level,
    level_of,
)


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (7, "3.3-IV3"),
        (8, "3.4-IV0"),
        (11, "3.5-IV2"),
        (14, "3.6-IV2"),
        (19, "3.7-IV4"),
        (20, "3.8-IV0"),
        (21, "3.9-IV0"),
        (25, "4.0-IV3"),
        (27, "4.1-IV1"),
        (29, "4.2-IV1"),
        (30, "4.3-IV0"),
        (31, "4.4-IV0"),
    ],
)
def test_levels_have_kafkas_names(level: int, name: str) -> None:
    version = by_level(level)

    assert version == MetadataVersion(level, name)
    assert by_name(name, unstable=True) is version
    assert version.release == name[:3]


@pytest.mark.parametrize("level", [-1, 0, 6, 32, 1 << 15])
def test_unknown_level_is_none(level: int) -> None:
    assert by_level(level) is None


def test_newest_version_is_not_yet_for_production() -> None:
    assert (LATEST_PRODUCTION.name, UNSTABLE.name) == ("4.3-IV0", "4.4-IV0")
    assert [version.level for version in METADATA_VERSIONS] == list(range(7, 32))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("3.3", "3.3-IV3"),
        ("3.5", "3.5-IV2"),
        ("3.5-IV0", "3.5-IV0"),
        ("3.7", "3.7-IV4"),
        ("3.9", "3.9-IV0"),
        ("3.9.1", "3.9-IV0"),
        ("4.0", "4.0-IV3"),
        ("4.3.x", "4.3-IV0"),
        ("3.7.1-IV2", "3.7-IV4"),
        ("4.3.9-IV0", "4.3-IV0"),
        ("4.3.1.2.3", "4.3-IV0"),
    ],
)
def test_release_is_its_last_version(text: str, name: str) -> None:
    """What is behind a second dot does not matter."""
    assert by_name(text).name == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3.2",
        "4.3.",
        "3.3-IV0",
        "3.0-IV1",
        " 3.9",
        "3.9 ",
        "3.9-iv0",
        "3",
        "4",
        "4.4",
        "4.4-IV0",
        "x",
    ],
)
def test_unknown_release_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        by_name(text)

    start = f"Unknown metadata.version '{text}'. Supported metadata.version are: 3.3-IV3, 3.4-IV0, "
    assert refused.value.message.startswith(start)
    assert refused.value.message.endswith("4.2-IV1, 4.3-IV0")


@pytest.mark.parametrize(
    ("feature", "defaults"),
    [
        ("kraft.version", {7: 0, 20: 0, 21: 1, 31: 1}),
        ("transaction.version", {7: 0, 23: 0, 24: 2, 31: 2}),
        ("group.version", {7: 0, 21: 0, 22: 1, 31: 1}),
        ("eligible.leader.replicas.version", {7: 0, 25: 0, 26: 1, 31: 1}),
        ("share.version", {7: 0, 27: 0, 28: 1, 31: 1}),
        ("streams.version", {7: 0, 28: 0, 29: 1, 31: 1}),
    ],
)
def test_default_level_is_that_of_the_release(feature: str, defaults: dict[int, int]) -> None:
    assert {level: default_level(feature, level) for level in defaults} == defaults


def test_features_are_in_kafkas_order() -> None:
    assert list(FEATURES) == [
        "kraft.version",
        "transaction.version",
        "group.version",
        "eligible.leader.replicas.version",
        "share.version",
        "streams.version",
    ]


def test_levels_of_a_feature_are_known() -> None:
    """Level 0 of all; only one depends on something."""
    assert all(level_of(feature, 0) == Level(0, 0) for feature in FEATURES)
    assert level_of("transaction.version", 1).bootstraps_at == 24
    assert level_of("eligible.leader.replicas.version", 1).requires == (("metadata.version", 23),)
    needed = [level for levels in FEATURES.values() for level in levels if level.requires]
    assert len(needed) == 1


@pytest.mark.parametrize(
    ("feature", "level"), [("group.version", 2), ("group.version", -1), ("metadata.version", 7)]
)
def test_other_levels_of_a_feature_are_not(feature: str, level: int) -> None:
    with pytest.raises(KeyError):
        level_of(feature, level)
