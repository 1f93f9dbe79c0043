"""Release of a node, by its features or its APIs."""

import pytest

from kraftops.storage.bootstrap.releases import METADATA_VERSIONS
from kraftops.wire.rpc.cluster import Feature
from kraftops.wire.rpc.connection import VersionRange
from kraftops.wire.rpc.node_release import release_of

NEWEST = METADATA_VERSIONS[-1]
FETCH = 1


def metadata_version(last: int) -> list[Feature]:
    return [
        Feature("kraft.version", VersionRange(0, 1), None),
        Feature("metadata.version", VersionRange(1, last), None),
    ]


@pytest.mark.parametrize(
    ("apis", "features", "release"),
    [
        (None, metadata_version(20), "3.8"),
        ({FETCH: (4, 17)}, metadata_version(NEWEST.level), NEWEST.release),
        (None, metadata_version(NEWEST.level + 1), f"later than {NEWEST.release}"),
        ({FETCH: (4, 17)}, [], "3.9 or 4.0"),
        ({}, [], None),
        (None, [], None),
    ],
)
def test_release_is_that_of_the_features_or_the_apis(
    apis: dict[int, tuple[int, int]] | None, features: list[Feature], release: str | None
) -> None:
    assert release_of(apis, features) == release
