"""Each row of the registry has a function, help and values to complete."""

import re
from importlib import import_module
from inspect import signature

import pytest

from kraftops_shell.grammar.registry import COMMANDS, Command, Values, commands
from tests.helpers.project.imports import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
SHELL_IN_README = README.split("\n## kafka-metadata-shell\n")[1].split("\n## ")[0]
KAFKAS = ["cat", "cd", "exit", "find", "help", "history", "ls", "man", "pwd", "tree"]
each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)


@each_command
def test_function_takes_session_and_call(command: Command) -> None:
    module, _, name = command.function.partition(":")

    function = getattr(import_module(f"kraftops_shell.commands.{module}"), name)

    assert len(signature(function).parameters) == 2


@each_command
def test_our_commands_for_a_single_use_have_examples(command: Command) -> None:
    if not command.is_kafkas and command.is_one_shot:
        assert command.examples


@each_command
def test_module_has_a_test_of_its_name(command: Command) -> None:
    module = command.function.partition(":")[0]

    assert (REPOSITORY / f"tests/shell/commands/test_{module}.py").is_file()


@each_command
def test_our_commands_for_a_single_use_are_in_the_table_of_the_readme(command: Command) -> None:
    if not command.is_kafkas and command.is_one_shot:
        assert re.search(rf"^\|.*`{command.name}\b.*\|.*\|$", SHELL_IN_README, re.MULTILINE)


@each_command
def test_file_flags_complete_files(command: Command) -> None:
    kinds = {"FILE": Values.FILES, "DIR": Values.DIRECTORIES}
    for flag in command.flags:
        assert flag.values is kinds.get(flag.value or "", Values.TEXT)


def test_kafkas_form_has_kafkas_commands() -> None:
    assert list(commands(kafka=True, one_shot=False)) == KAFKAS


def test_commands_are_sorted_by_name() -> None:
    names = [command.name for command in COMMANDS]

    assert names == sorted(names)


def test_single_use_leaves_out_commands_of_a_session() -> None:
    left_out = set(commands(kafka=False, one_shot=False)) - set(
        commands(kafka=False, one_shot=True)
    )

    assert left_out == {"cd", "exit", "help", "history", "man", "pwd"}
