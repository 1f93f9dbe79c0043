"""The table of releases agrees with what else is known of them."""

import pytest

from kraftops.records.readability import RELEASES
from kraftops.storage.bootstrap.releases import FEATURES, LATEST_PRODUCTION, METADATA_VERSIONS
from kraftops.storage.config.keys import server_keys
from kraftops.storage.releases.table import (
    Release,
    release_named,
    release_of,
    releases,
)


def of(name: str) -> Release:
    release = release_named(name)
    assert release
    return release


def test_releases_are_those_whose_records_are_known() -> None:
    assert tuple(release.name for release in releases()) == RELEASES


@pytest.mark.parametrize("name", RELEASES)
def test_release_supports_its_metadata_versions_and_none_above(name: str) -> None:
    levels = [version.level for version in METADATA_VERSIONS if version.release == name]

    assert of(name).features["metadata.version"][1] == max(levels)


def test_last_release_has_all_features_and_keys() -> None:
    last = releases()[-1]

    assert last.features["metadata.version"] == (7, LATEST_PRODUCTION.level)
    assert last.features.keys() == {"metadata.version", *FEATURES}
    assert last.keys.keys() == server_keys().keys()
    assert last.changed_keys == {}


def test_level_of_a_feature_that_a_release_lacks_is_0() -> None:
    assert of("3.9").supports("group.version", 0)
    assert not of("3.9").supports("group.version", 1)
    assert of("4.0").supports("group.version", 1)


def test_keys_of_other_releases_have_their_own_limits() -> None:
    changed = of("3.9").changed_keys
    segment, hint = changed["log.segment.bytes"], changed["zookeeper.session.timeout.ms"]

    assert segment
    assert (segment.type, segment.check) == ("int", "14..")
    assert hint
    assert hint.type == "int"
    assert changed["share.coordinator.threads"] is None
    assert "log.dirs" not in changed


def test_classes_come_and_go() -> None:
    authorizer = "kafka.security.authorizer.AclAuthorizer"

    assert authorizer in of("3.9").classes
    assert authorizer not in of("4.0").classes


def test_registration_tells_the_release() -> None:
    assert release_of({"metadata.version": (1, 21)}) == of("3.9")
    assert release_of({"metadata.version": (7, 27), "group.version": (0, 1)}) == of("4.1")
    assert release_of({"metadata.version": (7, 99)}) is None
    assert release_of({}) is None
