"""Calls from the words of a line; the messages are argparse4j's."""

import pytest

from kraftops_shell.grammar.arguments import BadLineError, Call, read_call
from kraftops_shell.grammar.command import Argument, Command, Flag

ONE = Command(
    "one",
    "",
    "",
    (Argument("a", "", ""), Argument("b", "?", "")),
    (
        Flag("-l", None, ""),
        Flag("--sort", "ORDER", "", ("name", "size")),
        Flag("--dirs", "DIR", "", is_list=True),
    ),
)
KNOWN = {
    "one": ONE,
    "many": Command("many", "", "", (Argument("a", "*", ""),)),
    "more": Command("more", "", "", (Argument("a", "+", ""),)),
    "none": Command("none", "", ""),
}


def read(*words: str, kafka: bool = False) -> Call | None:
    return read_call(words, KNOWN, kafka=kafka)


@pytest.mark.parametrize("words", [(), ("",), ("", "")])
def test_empty_words_ask_for_nothing(words: tuple[str, ...]) -> None:
    assert read(*words) is None


def test_empty_words_at_the_end_do_not_count() -> None:
    assert read("many", "a", "", "b", "", "") == Call(KNOWN["many"], ("a", "", "b"), {}, {})


@pytest.mark.parametrize(
    ("words", "found", "flags"),
    [
        (("one", "x"), ("x",), {}),
        (("one", "-l", "x", "y"), ("x", "y"), {"-l": True}),
        (("one", "x", "--sort", "size"), ("x",), {"--sort": "size"}),
        (("one", "--sort=name", "x"), ("x",), {"--sort": "name"}),
        (("one", "--sort", "name", "x", "--sort", "size"), ("x",), {"--sort": "size"}),
        (("one", "--", "-l"), ("-l",), {}),
        (("one", "-5"), ("-5",), {}),
        (("one", "-"), ("-",), {}),
    ],
)
def test_flags_stand_anywhere(
    words: tuple[str, ...], found: tuple[str, ...], flags: dict[str, str | bool]
) -> None:
    call = read(*words)

    assert call
    assert (call.words, call.flags) == (found, flags)


def test_list_goes_on_to_the_next_flag() -> None:
    call = read("one", "x", "--dirs", "a", "b", "-l")

    assert call
    assert call.lists == {"--dirs": ("a", "b")}
    assert call.flags == {"-l": True}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("two",), "invalid choice: 'two' (choose from 'one', 'many', 'more', 'none')"),
        (("o", "x"), "invalid choice: 'o': did you mean 'one'?"),
        (("o",), "invalid choice: 'o': did you mean 'one'?"),
        (("m",), "ambiguous command: m could match many, more"),
        (("one",), "too few arguments"),
        (("more",), "too few arguments"),
        (("one", "a", "b", "c", "d"), "unrecognized arguments: 'c d'"),
        (("none", "x"), "unrecognized arguments: 'x'"),
        (("many", "-x", "y"), "unrecognized arguments: '-x y'"),
        (("one", "-l=3", "x"), "argument -l: ignore implicit argument '3'"),
        (("one", "x", "--sort"), "argument --sort: expected one argument"),
        (
            ("one", "x", "--sort", "y"),
            "argument --sort: invalid choice: 'y' (choose from 'name', 'size')",
        ),
    ],
)
def test_words_that_make_no_sense_are_refused(words: tuple[str, ...], reason: str) -> None:
    with pytest.raises(BadLineError) as refused:
        read(*words)

    assert str(refused.value) == reason


def test_kafkas_form_looks_at_the_words_of_a_beginning_first() -> None:
    with pytest.raises(BadLineError) as refused:
        read("o", kafka=True)

    assert str(refused.value) == "too few arguments"


def test_kafkas_form_has_no_flags() -> None:
    with pytest.raises(BadLineError) as refused:
        read("one", "-l", "x", kafka=True)

    assert str(refused.value) == "unrecognized arguments: '-l x'"
