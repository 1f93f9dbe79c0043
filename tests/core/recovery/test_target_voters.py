"""The voters that there are to be."""

import pytest

from kraftops.errors import UsageError
from kraftops.recovery.wanted import Place, parse_moves


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("a=b", {Place("a", None): Place("b", None)}),
        ("a:1=b:2,c=d:3", {Place("a", 1): Place("b", 2), Place("c", None): Place("d", 3)}),
        ("[::1]:1=b", {Place("0:0:0:0:0:0:0:1", 1): Place("b", None)}),
        ("::1=b", {Place("0:0:0:0:0:0:0:1", None): Place("b", None)}),
        (" a=b , ", {Place("a", None): Place("b", None)}),
    ],
)
def test_moves(text: str, moves: dict[Place, Place]) -> None:
    assert parse_moves(text) == moves


@pytest.mark.parametrize("text", ["", "a", "=b", "a=", "a=b=c", "a:99999=b", "a=b,a=c", "a:x=b"])
def test_moves_of_another_form(text: str) -> None:
    with pytest.raises(UsageError, match="--listener-hosts"):
        parse_moves(text)


def test_place_is_written_as_it_is_read() -> None:
    (old, new) = next(iter(parse_moves("[::1]:1=b:2").items()))

    assert parse_moves(f"{old}={new}") == {old: new}
