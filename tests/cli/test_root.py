"""The command `kraftops` finds its subcommands, and says its version."""

import platform

import click
import pytest
from click.testing import CliRunner

from kraftops.origin import Origin
from kraftops_cli.root import COMMANDS, TASKS, root
from kraftops_cli.version import KAFKA_VERSION, VERSION
from tests.helpers.tools.console import KRAFTOPS, run_here


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_exists_under_its_name(name: str) -> None:
    context = click.Context(root)

    command = root.get_command(context, name)

    assert isinstance(command, click.Command)
    shown = CliRunner().invoke(root, [name, "--help"], obj=None)
    assert (shown.exit_code, f"kraftops {name}" in shown.output) == (0, True)


def test_version_names_engine_origin_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = Origin("pip", "/mnt/a b/kraftops-0.2.0-py3-none-any.whl")
    monkeypatch.setattr("kraftops.engine.choice.engine_name", lambda: "some")
    monkeypatch.setattr("kraftops_cli.installed.why_not_native", lambda: "not built")
    monkeypatch.setattr("kraftops_cli.installed.origin", lambda: wheel)
    monkeypatch.setattr("kraftops_cli.installed.extra_remedy", wheel.extra_remedy)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    done = CliRunner().invoke(root, ["--version"])

    assert done.exit_code == 0
    assert done.output.splitlines() == [
        f"kraftops {VERSION} (Kafka {KAFKA_VERSION}), some engine",
        f"installed from {wheel.place}, on Python {platform.python_version()}",
        "missing: the compiled engine (not built): install the wheel for this platform",
        f"missing: Parquet and remote files: pip install '{wheel.place}[arrow]'",
        f"missing: Spark: pip install '{wheel.place}[spark]'",
    ]


def test_version_is_said_before_a_command_runs() -> None:
    done = CliRunner().invoke(root, ["--version", "no-such-command"])

    assert (done.exit_code, done.output.startswith("kraftops ")) == (0, True)


def test_help_lists_all_commands_with_their_help() -> None:
    done = CliRunner().invoke(root, ["-h"])

    for name, (_, text) in COMMANDS.items():
        assert any(line.split() == [name, *text.split()] for line in done.output.splitlines())


def test_kraftops_alone_shows_the_help_with_each_command_below_its_task() -> None:
    done = CliRunner().invoke(root, [])

    assert (done.exit_code, "What is wrong:" in done.output) == (0, True)
    assert sorted(name for names in TASKS.values() for name in names) == sorted(COMMANDS)


@pytest.mark.parametrize(
    ("words", "beginning"),
    [
        (["cluster", "drain"], "  Move leaders away from brokers"),
        (["conditions"], "dump-log: Conditions:\n"),
        (["exit", "status"], "kraftops: Exit status:\n"),
        ([], "Usage: kraftops "),
    ],
)
def test_help_shows_commands_and_chapters(words: list[str], beginning: str) -> None:
    done = run_here("help", *words, program=KRAFTOPS)

    assert (done.code, done.text.lstrip("\n").startswith(beginning)) == (0, True)


def test_help_of_an_unknown_topic_names_a_similar_one() -> None:
    done = run_here("help", "conditons", program=KRAFTOPS)

    assert done.code == 1
    assert done.err.endswith("hint: perhaps conditions is meant\n")
