"""The release and the feature levels of a new cluster."""

import pytest

from kraftops.errors import UsageError
from kraftops.storage.bootstrap.features import (
    chosen_levels,
    chosen_version,
    dependencies,
    level_text,
    parse_levels,
)
from kraftops.storage.bootstrap.releases import (
    LATEST_PRODUCTION,
    MetadataVersion,
    by_level,
    by_name,
)

KRAFT = "kraft.version"
ELR = "eligible.leader.replicas.version"


def version(name: str) -> MetadataVersion:
    return by_name(name, unstable=True)


@pytest.mark.parametrize(
    ("arguments", "levels"),
    [
        pytest.param([], {}, id="none"),
        pytest.param(["a=1", "b=2"], {"a": 1, "b": 2}, id="two"),
        pytest.param(["a=1", "a=2"], {"a": 2}, id="repeated: the last counts"),
        pytest.param([" a = 1 "], {"a": 1}, id="blanks"),
        pytest.param(["=1"], {"": 1}, id="no name"),
    ],
)
def test_levels_are_read(arguments: list[str], levels: dict[str, int]) -> None:
    assert parse_levels(arguments) == levels


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("group.version", "equals sign not found."),
        ("", "equals sign not found."),
        ("a=b=1", "unable to parse b=1 as a short."),
        ("a=", "unable to parse  as a short."),
        ("a= x ", "unable to parse x as a short."),
        ("a=40000", "unable to parse 40000 as a short."),
    ],
)
def test_malformed_level_is_refused(argument: str, reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_levels([argument])

    assert refused.value.message == f"Can't parse feature=level string {argument}: {reason}"


@pytest.mark.parametrize(
    ("release", "levels", "unstable", "name"),
    [
        pytest.param(None, {}, False, "4.3-IV0", id="the newest"),
        pytest.param(None, {}, True, "4.4-IV0", id="the newest, unstable ones too"),
        pytest.param("3.9", {}, True, "3.9-IV0", id="a release"),
        pytest.param(None, {"metadata.version": 7}, False, "3.3-IV3", id="a level"),
        pytest.param(None, {"metadata.version": 31}, True, "4.4-IV0", id="an unstable level"),
        pytest.param("3.9", {"group.version": 1}, False, "3.9-IV0", id="another feature"),
    ],
)
def test_version_is_chosen(
    release: str | None, levels: dict[str, int], *, unstable: bool, name: str
) -> None:
    asked = None if release is None else version(release)

    assert chosen_version(asked, levels, unstable=unstable).name == name


@pytest.mark.parametrize(
    ("release", "level", "message"),
    [
        (
            "3.9",
            21,
            "Use --release-version instead of --feature metadata.version=X to avoid ambiguity.",
        ),
        (
            None,
            6,
            "No MetadataVersion with feature level 6. Valid feature levels are from 7 to 31.",
        ),
        (None, 31, "metadata.version 4.4-IV0 is not yet stable."),
    ],
)
def test_version_that_may_not_be_chosen_is_refused(
    release: str | None, level: int, message: str
) -> None:
    asked = None if release is None else version(release)

    with pytest.raises(UsageError) as refused:
        chosen_version(asked, {"metadata.version": level}, unstable=False)

    assert refused.value.message == message


@pytest.mark.parametrize(
    ("name", "asked", "is_dynamic", "expected"),
    [
        pytest.param("3.3", {}, False, (0, 0, 0, 0, 0, 0), id="old"),
        pytest.param("3.9", {}, False, (0, 0, 0, 0, 0, 0), id="static quorum"),
        pytest.param(
            "3.6", {}, True, (1, 0, 0, 0, 0, 0), id="dynamic quorum, whatever the release"
        ),
        pytest.param("4.0", {}, True, (1, 2, 1, 0, 0, 0), id="4.0"),
        pytest.param("4.3", {}, True, (1, 2, 1, 1, 1, 1), id="4.3"),
        pytest.param("3.3", {"transaction.version": 2}, False, (0, 2, 0, 0, 0, 0), id="ahead"),
        pytest.param("4.3", {ELR: 0, "share.version": 0}, False, (0, 2, 1, 0, 0, 1), id="without"),
        pytest.param("4.0-IV1", {ELR: 1}, False, (0, 0, 1, 1, 0, 0), id="as soon as it can be"),
        pytest.param("4.3", {KRAFT: 0}, False, (0, 2, 1, 1, 1, 1), id="static, as asked"),
        pytest.param("4.3", {KRAFT: 1}, True, (1, 2, 1, 1, 1, 1), id="dynamic, as asked"),
    ],
)
def test_levels_are_chosen(
    name: str, asked: dict[str, int], *, is_dynamic: bool, expected: tuple[int, ...]
) -> None:
    found = chosen_levels(version(name), asked, is_dynamic=is_dynamic)

    names = (KRAFT, "transaction.version", "group.version", ELR, "share.version", "streams.version")
    assert tuple(found[feature] for feature in names) == expected
    assert found["metadata.version"] == version(name).level
    assert len(found) == 7


@pytest.mark.parametrize(
    ("asked", "is_dynamic", "message"),
    [
        pytest.param(
            {"foo": 1, "bar": 1},
            False,
            "Unsupported feature: bar. Supported features are: eligible.leader.replicas.version, "
            "group.version, kraft.version, share.version, streams.version, transaction.version",
            id="unknown: the first by name",
        ),
        pytest.param(
            {"group.version": 2}, False, "No feature:group.version with feature level 2", id="level"
        ),
        pytest.param(
            {"group.version": -1},
            False,
            "No feature:group.version with feature level -1",
            id="negative level",
        ),
        pytest.param(
            {ELR: 1},
            False,
            f"{ELR} could not be set to 1 because it depends on metadata.version level 23",
            id="dependency",
        ),
        pytest.param(
            {KRAFT: 0},
            True,
            "Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of ",
            id="static level of a dynamic quorum",
        ),
        pytest.param(
            {KRAFT: 1},
            False,
            "Cannot set kraft.version to 1 unless controller.quorum.voters is empty and one of ",
            id="dynamic level of a static quorum",
        ),
        pytest.param(
            {KRAFT: 2}, True, "No feature:kraft.version with feature level 2", id="unknown quorum"
        ),
    ],
)
def test_levels_that_cannot_be_had_are_refused(
    asked: dict[str, int], *, is_dynamic: bool, message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        chosen_levels(version("3.9"), asked, is_dynamic=is_dynamic)

    assert refused.value.message.startswith(message)


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (f"{ELR}=1", (f"{ELR}=1", ("metadata.version=23 (4.0-IV1)",))),
        (f" {ELR} = 0 ", (f"{ELR}=0", ())),
        ("transaction.version=1", ("transaction.version=1", ())),
        ("metadata.version=31", ("metadata.version=31 (4.4-IV0)", ())),
    ],
)
def test_dependencies_are_named(argument: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert dependencies(argument) == expected


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            "group.version",
            (
                "Invalid feature format: group.version. "
                "Expected format: 'feature=version' (e.g. 'group.version=1')"
            ),
        ),
        ("group.version=x", "Invalid version format: x for feature group.version"),
        ("group.version=1=1", "Invalid version format: 1=1 for feature group.version"),
        ("metadata.version=6", "Unknown metadata.version 6"),
        ("foo=1", "Unknown feature: foo"),
        ("group.version=9", "Feature level 9 is not supported for feature group.version"),
    ],
)
def test_dependencies_of_nothing_are_refused(argument: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        dependencies(argument)

    assert refused.value.message == message


def test_text_of_a_level_has_its_release() -> None:
    assert (
        level_text("metadata.version", LATEST_PRODUCTION.level) == "metadata.version=30 (4.3-IV0)"
    )
    assert level_text("metadata.version", 99) == "metadata.version=99"
    assert by_level(99) is None
    assert level_text("group.version", 1) == "group.version=1"
