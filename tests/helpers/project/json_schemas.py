"""The schemas of JSON outputs, and a check of real outputs that is stricter than they are.

For users, objects may have more fields than the schema, since fields are added. Here a field that
the schema does not have is an error.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from kraftops_cli.terminal.failure import asks_for_json
from tests.helpers.project.imports import REPOSITORY

FOLDER = REPOSITORY / "core/kraftops/json_schemas"
_MOST_LINES = 20
_SHELL = "metadata-shell-"
SHARED = {
    **dict.fromkeys(("next", "prev"), "history-of"),
    **dict.fromkeys(("cat", "find", "grep", "ll", "ls", "tree"), "nodes"),
}
"""The schemas of commands of the shell that have that of another, or of several."""
_OF_SHELL = {
    *(path.name.split(".")[0].removeprefix(_SHELL) for path in FOLDER.glob(f"{_SHELL}*")),
    *SHARED,
}
_SEVERAL = {"--follow", "--watch"}
"""Options with which a command answers more than once."""
OPEN = {"failure.v2"}
"""Schemas of objects with fields that they do not list."""


def schema_name(tool: str, data: dict[str, Any]) -> str:
    """Return the name of the schema of an object in the output of a tool (`storage`)."""
    if {"file", "baseOffset", "crcValid"} <= data.keys():
        return "row.v1"
    version = f"v{data.get('formatVersion', 1)}"
    if "error" in data:
        return f"failure.{version}"
    command = str(data.get("command", ""))
    command = SHARED.get(command, command)
    is_named = not command or command == tool or tool.endswith(f"-{command}")
    return f"{tool}.{version}" if is_named else f"{tool}-{command}.{version}"


def check_output(program: str, args: Sequence[str], text: str) -> None:
    """Check the lines of JSON that a program printed, as far as they have a schema."""
    if not asks_for_json(args) or "--sql" in args:  # rows of SQL have any columns
        return
    if program == Path(sys.executable).name:  # which says nothing of the tool that it runs
        return
    tool = program.removeprefix("kafka-").removesuffix(".sh")
    if tool == "kraftops":
        tool = next((each for each in args if not each.startswith("-")), tool)
    if tool == "metadata-shell":  # the schemas are those of the shell's commands
        word = next((each for each in args if each in _OF_SHELL), None)
        tool = f"{_SHELL}{SHARED.get(word, word)}" if word else tool
    objects = [
        line
        for line in text.splitlines()[-_MOST_LINES:]
        if line.startswith("{") and line.endswith("}")
    ]
    if "cat" in args:  # in the form of Kafka, which prints the JSON of a leaf as it is
        objects = [line for line in objects if "formatVersion" in json.loads(line)]
    for line in objects:
        assert problems(tool, line) == [], line
    answers = [line for line in objects if "formatVersion" in json.loads(line)]
    assert len(answers) <= 1 or not _SEVERAL.isdisjoint(args), text


def problems(tool: str, line: str) -> list[str]:
    """Return what is wrong with a line of JSON of a tool."""
    data = _as_answer(tool, json.loads(line))
    name = schema_name(tool, data)
    if not (FOLDER / f"{name}.json").exists():
        return [f"there is no schema {name}"] if "formatVersion" in data else []
    return [f"{name}: {error.json_path}: {error.message}" for error in _errors(name, data)]


def _as_answer(tool: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of `ndjson` as the answer that `json` has with this row alone."""
    path = FOLDER / f"{tool}.v2.json"
    if "formatVersion" in row or not path.exists():
        return row
    properties = json.loads(path.read_text("utf-8"))["properties"]
    lists = [name for name, schema in properties.items() if schema.get("type") == "array"]
    return {"command": tool.removeprefix(_SHELL), "formatVersion": 2, lists[0]: [row]}


def _errors(name: str, data: object) -> Iterator[Any]:
    yield from _validator(name).iter_errors(data)


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema if name in OPEN else closed(schema))


def closed(schema: Any) -> Any:
    """Return a schema in which objects have no other fields than those it lists."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        inner.setdefault("additionalProperties", False)
    return inner
