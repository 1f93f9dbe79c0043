"""The JSON schema of a report, from the types of its document."""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from answer_schemas import DRAFT, object_schema
from kraftops.answers.version import JSON_VERSION
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Finding
from kraftops.report.document import Report, TimedIncident, json_name
from kraftops.timeline.answer import INCIDENT

_TYPES = {str: "string", int: "integer", bool: "boolean"}


def report_schema() -> dict[str, object]:
    constants = {"command": {"const": "report"}, "formatVersion": {"const": JSON_VERSION}}
    return {
        "$schema": DRAFT,
        "title": "kraftops report --format json",
        **_object(Report, constants),
    }


def _object(kind: Any, properties: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties |= {json_name(kind, name): _schema(hints[name]) for name in kind.__match_args__}
    about, *_ = str(kind.__doc__).splitlines()
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": [*properties],
    }


def _schema(kind: Any) -> dict[str, Any]:
    arguments = get_args(kind)
    if kind in (Finding, TimedIncident):
        return object_schema(FINDING) if kind is Finding else _incident()
    if get_origin(kind) is Literal:
        return {"enum": sorted(arguments)}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _schema(arguments[0])}
    if get_origin(kind) is UnionType:
        schema = _schema(arguments[0])
        if schema["type"] in _TYPES.values():
            return {"type": [schema["type"], "null"]}
        return {"anyOf": [schema, {"type": "null"}]}
    return {"type": _TYPES[kind]} if kind in _TYPES else _object(kind, {})


def _incident() -> dict[str, Any]:
    """Return the schema of the answer about incidents, with what a report says besides."""
    schema: dict[str, Any] = object_schema(INCIDENT)
    schema["properties"]["command"] = {"type": ["string", "null"]}
    schema["required"].append("command")
    return schema
