"""Releases of Kafka by their highest version of Fetch, which nearly every release raises."""

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
    """Name the releases whose highest version of Fetch is *fetch*, which may be unknown."""
    if fetch is None:
        return "an unknown release"
    for highest, releases in _FETCH_RELEASES:
        if fetch <= highest:
            return f"Kafka {releases}"
    return "Kafka 4.1 or later"
