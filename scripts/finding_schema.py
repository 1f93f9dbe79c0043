"""Findings in JSON schemas: their codes, and their definition in schemas written by hand."""

import json
import re
from typing import Any

from answer_schemas import object_schema
from command_tree import REPOSITORY
from kraftops.findings.answer import FINDING
from kraftops.findings.catalogue import catalogue

_FOLDER = "core/kraftops/json_schemas"
_DEFINITION = re.compile(r'^    "finding": \{.*\}(?=,?$)', re.MULTILINE)


def schemas() -> dict[str, str]:
    """Return the texts of the schemas with findings, by path from the top of the repository."""
    definition = f'    "finding": {json.dumps(with_codes(object_schema(FINDING)))}'
    texts = {}
    for path in sorted((REPOSITORY / _FOLDER).glob("*.json")):
        text = path.read_text("utf-8")
        if _DEFINITION.search(text):
            texts[f"{_FOLDER}/{path.name}"] = _DEFINITION.sub(lambda _: definition, text)
    return texts


def with_codes(schema: Any) -> Any:
    """Return a schema in which a finding has one of the codes of the catalogue."""
    if isinstance(schema, list):
        return [with_codes(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: with_codes(part) for name, part in schema.items()}
    properties = parts.get("properties", {})
    if {"code", "severity", "isPossible"} <= properties.keys():
        properties["code"] = {"enum": sorted(catalogue()), **properties["code"]}
        del properties["code"]["type"]
    return parts
