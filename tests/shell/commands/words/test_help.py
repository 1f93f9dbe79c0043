"""The help that teaches: by task, with examples, in any width."""

import pytest

from kraftops.views.partitions import PARTITIONS
from kraftops.views.registry import VIEWS
from kraftops_shell.commands.words.help import topics
from kraftops_shell.grammar.command import Task
from kraftops_shell.grammar.registry import COMMANDS
from kraftops_shell.run import run_line
from kraftops_terminal.widths import width_of_text
from tests.helpers.tree.small_trees import session


def help_of(*words: str, width: int = 80, kafka: bool = False, is_terminal: bool = False) -> str:
    one, out, err = session({}, kafka=kafka)
    one.text_width = width
    one.is_on_terminal = is_terminal
    code = run_line(one, words)
    return out.text if code == 0 and not err else "".join(err)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_overview_has_an_example_of_each_command_and_fits(width: int) -> None:
    text = help_of("help", width=width)

    for command in COMMANDS:
        assert f"\n  {command.examples[0][0]}" in text
    for sign in ("| hands", "> writes", "@ is", "; separates"):
        assert sign in text
    examples = {f"  {line}" for command in COMMANDS for line, _ in command.examples}
    wide = [line for line in text.splitlines() if width_of_text(line) > width]
    assert {line.rstrip() for line in wide} <= examples


@pytest.mark.parametrize("task", list(Task), ids=lambda one: one.word)
def test_task_has_phrases_and_all_examples_of_its_commands(task: Task) -> None:
    text = help_of("help", task.word, width=200)

    for command in COMMANDS:
        if command.task is task:
            assert f"  {command.name} " in text
            assert command.line in text
            assert all(line in text for line, _ in command.examples)


def test_command_and_question_mark() -> None:
    assert help_of("help", "ls") == help_of("man", "ls") == help_of("ls", "--help")
    assert help_of("?") == help_of("help")


def test_views_list_their_columns_with_types() -> None:
    text = help_of("help", "partitions", width=200)

    assert "columns:" in text
    for column in PARTITIONS.columns:
        assert f"\n  {column.name} " in text
    assert "list of number; replicas in sync" in text
    assert "one of offline, ok, under-min-isr, under-replicated" in text
    for view in ("changes", "groups", "log", "skew", *VIEWS):
        assert "\ncolumns:\n" in help_of("help", view)
    assert "columns:" not in help_of("help", "ls")


def test_unknown_word_names_what_was_meant() -> None:
    assert help_of("help", "serach").startswith("help: there is no command or task serach: did you")
    assert "did you mean search?" in help_of("help", "serach")
    assert f"({', '.join(topics())})" in help_of("help", "xyzzy")


def test_kafkas_form_has_kafkas_list() -> None:
    assert help_of("help", kafka=True).startswith("Welcome to the Apache Kafka metadata shell.")
    assert help_of("?", kafka=True, is_terminal=True) == help_of("help", kafka=True)
    assert help_of("ll", "-h", kafka=True, is_terminal=True).startswith("ll: List nodes")
