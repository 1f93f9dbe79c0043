"""Calls from the words of a line; the messages are argparse4j's."""

import pytest

from kraftops_shell.grammar.arguments import BadLineError, Call, read_call
from kraftops_shell.grammar.command import Argument, Command, Flag, Values
from kraftops_shell.grammar.registry import commands, words_of_a_terminal

ONE = Command(
    "one",
    "",
    "",
    (Argument("a", "", ""), Argument("b", "?", "")),
    (
        Flag("-l", None, ""),
        Flag("-a", None, ""),
        Flag("--sort", "ORDER", "", ("name", "size")),
        Flag("--dirs", "DIR", "", is_list=True),
    ),
)
KNOWN = {
    "one": ONE,
    "many": Command("many", "", "", (Argument("a", "*", ""),)),
    "more": Command("more", "", "", (Argument("a", "+", ""),)),
    "none": Command("none", "", ""),
    "man": Command("man", "", "", (Argument("cmd", "", ""),)),
    "again": Command(
        "again", "", "", (Argument("LINE", "+", "", Values.LINE),), (Flag("-n", "N", ""),)
    ),
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
        (("one", "-la", "x"), ("x",), {"-l": True, "-a": True}),
        (
            ("again", "-n", "3", "one", "-n", "-l", "--help"),
            ("one", "-n", "-l", "--help"),
            {"-n": "3"},
        ),
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
    ("words", "reason", "usage"),
    [
        (("two",), "there is no command two; help shows the commands", ""),
        (("o", "x"), "there is no command o: did you mean one?", ""),
        (("nome",), "there is no command nome: did you mean none?", ""),
        (("mnay",), "there is no command mnay: did you mean many?", ""),
        (("show", "one"), "there is no command show: did you mean one?", ""),
        (("m",), "there is no command m: did you mean man or many or more?", ""),
        (("one",), "one needs a", "usage: one [-l] [-a] [--sort ORDER] [--dirs DIR] a [b]"),
        (("more",), "more needs a", "usage: more a [a ...]"),
        (("none", "x"), "unrecognized arguments: 'x'", "usage: none"),
        (("many", "-x", "y"), "there is no option -x", "usage: many [a [a ...]]"),
        (("one", "--sotr", "y"), "there is no option --sotr: did you mean --sort?", None),
        (("one", "-lx", "y"), "there is no option -lx: did you mean -l?", None),
        (("one", "a", "b", "c", "d"), "unrecognized arguments: 'c d'", None),
        (("one", "-l=3", "x"), "argument -l: ignore implicit argument '3'", None),
        (("one", "x", "--sort"), "argument --sort: expected one argument", None),
        (
            ("one", "x", "--sort", "y"),
            "argument --sort: invalid choice: 'y' (choose from 'name', 'size')",
            None,
        ),
    ],
)
def test_words_that_make_no_sense_are_refused(
    words: tuple[str, ...], reason: str, usage: str | None
) -> None:
    with pytest.raises(BadLineError) as refused:
        read(*words)

    assert str(refused.value) == reason
    assert usage is None or refused.value.usage == usage


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ("two",),
            "invalid choice: 'two' (choose from 'one', 'many', 'more', 'none', 'man', 'again')",
        ),
        (("o", "x"), "invalid choice: 'o': did you mean 'one'?"),
        (("m",), "ambiguous command: m could match many, more, man"),
        (("one",), "too few arguments"),
        (("none", "--help"), "unrecognized arguments: '--help'"),
    ],
)
def test_kafkas_form_has_the_reasons_of_argparse4j(words: tuple[str, ...], reason: str) -> None:
    with pytest.raises(BadLineError) as refused:
        read(*words, kafka=True)

    assert (str(refused.value), refused.value.usage) == (reason, "")


@pytest.mark.parametrize("words", [("one", "--help"), ("one", "-h"), ("one", "x", "-l", "-h")])
def test_help_of_a_command_is_its_manual(words: tuple[str, ...]) -> None:
    assert read(*words) == Call(KNOWN["man"], ("one",), {}, {})


def test_value_of_a_flag_asks_for_no_help() -> None:
    call = read("one", "x", "--dirs", "-h")

    assert call
    assert call.lists == {"--dirs": ("-h",)}


@pytest.mark.parametrize(
    ("words", "name", "flags"),
    [
        (("ls", "-la", "x"), "ls", {"-l": True, "-a": True}),
        (("ls", "x"), "ls", {}),
        (("ll",), "ll", {}),
        (("ls", "--help"), "man", {}),
    ],
)
def test_terminal_takes_words_of_ours_in_kafkas_form(
    words: tuple[str, ...], name: str, flags: dict[str, str | bool]
) -> None:
    known, ours = commands(kafka=True, one_shot=False), words_of_a_terminal()

    call = read_call(words, known, kafka=True, ours=ours)

    assert call
    assert (call.command.name, call.flags) == (name, flags)


def test_terminal_has_kafkas_answer_where_there_is_one() -> None:
    known, ours = commands(kafka=True, one_shot=False), words_of_a_terminal()

    with pytest.raises(BadLineError) as refused:
        read_call(("ls", "-l"), known, kafka=True, ours=ours)

    assert str(refused.value) == "unrecognized arguments: '-l'"


def test_kafkas_form_looks_at_the_words_of_a_beginning_first() -> None:
    with pytest.raises(BadLineError) as refused:
        read("o", kafka=True)

    assert str(refused.value) == "too few arguments"


def test_kafkas_form_has_no_flags() -> None:
    with pytest.raises(BadLineError) as refused:
        read("one", "-l", "x", kafka=True)

    assert str(refused.value) == "unrecognized arguments: '-l x'"
