"""The texts of help and man; in Kafka's form as Kafka's shell prints them."""

import pytest

from kraftops_shell.commands.manual import manual_text
from kraftops_shell.grammar.registry import COMMANDS
from kraftops_shell.run import run_line
from tests.helpers.tree.small_trees import session

NAMES = {command.name: command for command in COMMANDS}
AT_40 = """\
Welcome to the Apache Kafka metadata shell.

usage:  {cat,cd,exit,find,help,history,ls,man,pwd,tree}
        ...

positional arguments:
  {cat,cd,exit,find,help,history,ls,man,pwd,tree}
    cat                  Show   the
                         contents
                         of
                         metadata
                         files.
"""


def help_at(width: int) -> str:
    one, out, _ = session({}, kafka=True)
    one.text_width = width
    run_line(one, ["help"])
    return out.text


def test_help_is_wrapped_and_justified() -> None:
    assert help_at(40).startswith(AT_40)
    assert "    cat                  Show the contents  of metadata\n" in help_at(60)
    assert "    cat                  Show the contents of metadata files.\n" in help_at(80)


def test_usage_is_wrapped_where_it_does_not_fit() -> None:
    assert "tree} ...\n" in help_at(64)
    assert "tree}\n        ...\n" in help_at(63)


def test_very_narrow_help_has_a_word_a_line() -> None:
    assert f"  cmd                    \n{'':25}The\n{'':25}command\n" in manual_text(
        NAMES["man"], 20, with_flags=False
    )


def test_kafkas_manual_has_no_flags() -> None:
    assert manual_text(NAMES["ls"], with_flags=False) == (
        "ls: List metadata nodes.\n\nusage: ls [targets [targets ...]]\n\n"
        "positional arguments:\n  targets                The metadata node paths to list.\n"
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1, 40, 80, 200])
def test_our_manual_has_all_parts(name: str, width: int) -> None:
    command = NAMES[name]

    text = manual_text(command, width, with_flags=True)

    assert text.startswith(f"{name}: {command.help}\n\nusage: {name}")
    for flag in command.flags:
        assert f"  {flag.name}" in text
    for line, meaning in command.examples:
        assert f"  {line}\n      {meaning}\n" in text
    assert " ".join(command.details.split()) in " ".join(text.split())


def test_unknown_command_has_no_manual() -> None:
    one, out, err = session({})

    assert run_line(one, ["man", "nope"]) == 1
    assert out.text == ""
    assert err == ["man: unknown command nope. Type help to get a list of commands. [usage]"]
