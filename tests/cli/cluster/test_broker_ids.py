"""Ids of brokers on the command line and in sentences."""

import click
import pytest

from kraftops_cli.cluster.broker_ids import BrokerIds, flattened, ids_text


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("3", (3,)),
        ("-1", (-1,)),
        ("+007", (7,)),
        ("101,102", (101, 102)),
        ("5,101-103", (5, 101, 102, 103)),
        ("7-7", (7,)),
    ],
)
def test_ids_are_single_ones_and_ranges(text: str, ids: tuple[int, ...]) -> None:
    assert BrokerIds().convert(text, None, None) == ids


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "1,,2",
        "5-3",
        "0-2147483647",
        "1-",
        "2147483648",
        "2147483647-2147483648",
        "\u0661-\u0663",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(click.UsageError):
        BrokerIds().convert(text, None, None)


def test_ids_are_named_once_and_shortly() -> None:
    assert flattened([(3, 1), (1, 2)]) == [3, 1, 2]
    assert ids_text([120, *range(101, 120), 3, 5, 6, 4]) == "3-6, 101-120"
    assert ids_text([3, 1, 2]) == "1, 2, 3"
    assert ids_text([-1]) == "-1"
    assert ids_text([]) == ""
