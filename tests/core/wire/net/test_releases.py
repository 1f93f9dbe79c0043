"""Releases by the highest version of Fetch."""

import pytest

from kraftops.wire.net.releases import release_range


@pytest.mark.parametrize(
    ("fetch", "release"),
    [
        (None, "an unknown release"),
        (0, "Kafka 0.11 or earlier"),
        (4, "Kafka 0.11 or earlier"),
        (14, "Kafka 3.5 or 3.6"),
        (17, "Kafka 3.9 or 4.0"),
        (18, "Kafka 4.1 or later"),
    ],
)
def test_release_of_a_version(fetch: int | None, release: str) -> None:
    assert release_range(fetch) == release
