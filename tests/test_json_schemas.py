"""Schemas of JSON outputs: each command with `--format json` has one.

`tests.helpers.tools.console` checks by them what all tests print.
"""

import json
from collections.abc import Iterator

import click
import pytest
from jsonschema import Draft202012Validator

from kraftops_cli.root import root
from kraftops_shell.grammar.registry import COMMANDS
from tests.helpers.project.json_schemas import FOLDER, SHARED, closed, problems

SCHEMAS = sorted(FOLDER.glob("*.json"))


def json_commands(command: click.Command, *names: str) -> Iterator[str]:
    """Yield the names of commands with `--format json`, as `cluster-describe`."""
    context = click.Context(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner
            yield from json_commands(inner, *names, name)
    for option in command.params:
        if option.name == "form" and "json" in getattr(option.type, "choices", ()):
            yield "-".join(names)


def shell_commands() -> Iterator[str]:
    """Yield the names of commands of the shell with lines of JSON, as `metadata-shell-stat`."""
    for command in COMMANDS:
        for flag in command.flags:
            if {"json", "ndjson"} & set(flag.choices or ()):
                yield f"metadata-shell-{command.name}"


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_schema_is_one(path: object) -> None:
    schema = json.loads(path.read_text("utf-8"))  # type: ignore[attr-defined]

    Draft202012Validator.check_schema(schema)
    assert schema["title"]


def test_every_command_with_json_has_a_schema() -> None:
    found = {path.name.split(".")[0] for path in SCHEMAS}
    commands = {*json_commands(root), *shell_commands()} - UNDER_OTHER_NAMES

    assert len(commands) >= 1
    assert commands - found == set()


UNDER_OTHER_NAMES = {
    "dump-log",
    "cluster-id",
    "metadata-shell",
    "metadata-shell-log",
    *(f"metadata-shell-{name}" for name in SHARED),
    *("spark-dump", "spark-summary", "spark-check", "spark-report"),
}
"""Commands whose schemas are `row`, those of another command, or those of the shell's commands."""


def test_field_that_is_not_listed_is_found() -> None:
    """Without this, the check of outputs could not fail."""
    answer = {"command": "cluster-id", "formatVersion": 2, "clusterId": "x"}

    assert problems("cluster", json.dumps(answer)) == []
    assert problems("cluster", json.dumps({**answer, "more": 1})) != []
    assert problems("cluster", json.dumps({**answer, "clusterId": 1})) != []
    assert closed({"type": "object", "properties": {}})["additionalProperties"] is False
