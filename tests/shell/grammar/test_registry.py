"""Each row of the registry has a function, help and values to complete."""

import re
from importlib import import_module
from inspect import signature

import pytest

from kraftops_shell.grammar.command import Command, Values
from kraftops_shell.grammar.registry import COMMANDS, commands
from tests.helpers.project.imports import REPOSITORY

GUIDE = (REPOSITORY / "docs/guides/browse-metadata.md").read_text("utf-8")
KAFKAS = ["cat", "cd", "exit", "find", "help", "history", "ls", "man", "pwd", "tree"]
each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)


@each_command
def test_function_takes_session_and_call(command: Command) -> None:
    module, _, name = command.function.partition(":")

    function = getattr(import_module(f"kraftops_shell.commands.{module}"), name)

    assert len(signature(function).parameters) == 2


@each_command
def test_command_has_an_example_and_a_phrase_that_fits_a_menu(command: Command) -> None:
    assert command.examples
    assert command.examples[0][0].split()[0] == command.name
    assert 0 < len(command.line) <= 60
    assert all(flag.help for flag in command.flags)


@each_command
def test_module_has_a_test_of_its_name(command: Command) -> None:
    *rooms, module = command.function.partition(":")[0].split(".")

    assert REPOSITORY.joinpath("tests/shell/commands", *rooms, f"test_{module}.py").is_file()


@each_command
def test_our_commands_for_a_single_use_are_in_the_table_of_the_guide(command: Command) -> None:
    if not command.is_kafkas and command.is_one_shot:
        assert re.search(rf"^\|.*`{command.name}\b.*\|.*\|$", GUIDE, re.MULTILINE)


@each_command
def test_file_flags_complete_files(command: Command) -> None:
    kinds = {"FILE": Values.FILES, "DIR": Values.DIRECTORIES}
    for flag in command.flags:
        is_file = flag.values in kinds.values()
        assert flag.values is kinds.get(flag.value or "", Values.TEXT if is_file else flag.values)


def test_kafkas_form_has_kafkas_commands() -> None:
    assert list(commands(kafka=True, one_shot=False)) == KAFKAS


def test_help_and_man_are_for_a_single_use_in_our_form_only() -> None:
    assert {"help", "man"} <= set(commands(kafka=False, one_shot=True))
    assert not {"help", "man"} & set(commands(kafka=True, one_shot=True))


def test_commands_are_sorted_by_name() -> None:
    names = [command.name for command in COMMANDS]

    assert names == sorted(names)


def test_single_use_leaves_out_commands_of_a_session() -> None:
    left_out = set(commands(kafka=False, one_shot=False)) - set(
        commands(kafka=False, one_shot=True)
    )

    words = {"?", "alias", "clear", "ll", "quit", "set", "source", "unalias", "watch"}
    assert left_out == {"cd", "exit", "history", "pwd"} | words
