"""Sizes with units."""

import pytest

from kraftops.display.sizes import many, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1024 * 1024 - 1, "1.0 MiB"),
        (200 << 20, "200.0 MiB"),
        (5 << 30, "5.0 GiB"),
        (1 << 70, "1048576.0 PiB"),
    ],
)
def test_size_has_a_unit(size: int, text: str) -> None:
    assert size_text(size) == text


def test_one_thing_is_no_plural() -> None:
    assert [many(count, "replica") for count in (0, 1, 2)] == [
        "0 replicas",
        "1 replica",
        "2 replicas",
    ]
