"""The command `kraftops` finds its subcommands, and says its version."""

import click
import pytest
from click.testing import CliRunner

from kraftops_cli.root import COMMANDS, root
from kraftops_cli.version import KAFKA_VERSION, VERSION


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_exists_under_its_name(name: str) -> None:
    context = click.Context(root)

    command = root.get_command(context, name)

    assert isinstance(command, click.Command)
    shown = CliRunner().invoke(root, [name, "--help"], obj=None)
    assert (shown.exit_code, f"kraftops {name}" in shown.output) == (0, True)


@pytest.mark.parametrize(
    ("reason", "text"),
    [(None, "\n"), ("absent", " (the native one is absent)\n")],
)
def test_version_names_the_engine_and_why_it_is_not_the_native_one(
    monkeypatch: pytest.MonkeyPatch, reason: str | None, text: str
) -> None:
    monkeypatch.setattr("kraftops.engine.choice.engine_name", lambda: "some")
    monkeypatch.setattr("kraftops.engine.choice.why_not_native", lambda: reason)

    done = CliRunner().invoke(root, ["--version"])

    assert done.exit_code == 0
    assert done.output == f"kraftops {VERSION} (Kafka {KAFKA_VERSION}), some engine{text}"


def test_version_is_said_before_a_command_runs() -> None:
    done = CliRunner().invoke(root, ["--version", "no-such-command"])

    assert (done.exit_code, done.output.startswith("kraftops ")) == (0, True)


def test_help_lists_all_commands_with_their_help() -> None:
    done = CliRunner().invoke(root, ["-h"])

    for name, (_, text) in COMMANDS.items():
        assert any(line.split() == [name, *text.split()] for line in done.output.splitlines())


def test_kraftops_alone_is_a_wrong_command_line() -> None:
    assert CliRunner().invoke(root, []).exit_code == 2
