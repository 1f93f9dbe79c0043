"""The definition of a finding in the JSON schemas of all outputs that have findings."""

import json
import re

from command_tree import REPOSITORY
from kraftops.findings.finding import Severity

_FOLDER = "core/kraftops/json_schemas"
_DEFINITION = re.compile(r'^    "finding": \{.*\}(?=,?$)', re.MULTILINE)
_TEXT = {"type": "string"}
_MEANINGS = (
    "loss: data is lost, or the next start loses it; stops: a server will not start or not join; "
    "risk: it hurts at the next failure or start; note: nothing has to be done"
)


def schemas() -> dict[str, str]:
    """Return the texts of the schemas with findings, by path from the top of the repository."""
    definition = f'    "finding": {json.dumps(_definition())}'
    texts = {}
    for path in sorted((REPOSITORY / _FOLDER).glob("*.json")):
        text = path.read_text("utf-8")
        if _DEFINITION.search(text):
            texts[f"{_FOLDER}/{path.name}"] = _DEFINITION.sub(lambda _: definition, text)
    return texts


def _definition() -> dict[str, object]:
    properties: dict[str, object] = {
        "code": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"},
        "severity": {"enum": [str(severity) for severity in Severity], "description": _MEANINGS},
        "isPossible": {
            "type": "boolean",
            "description": "Some evidence was set aside, so that it need not be true",
        },
        "text": {"type": "string", "description": "One sentence"},
        "node": _nullable("integer"),
        "directory": _nullable("string", "A log directory"),
        "topic": _nullable("string"),
        "partition": _nullable("integer"),
        "file": _nullable("string", "The path of a file or of a partition's directory"),
        "position": _nullable("integer", "In bytes, in the file"),
        "offset": _nullable("integer"),
        "time": _nullable("integer", "ms since 1970"),
        "evidence": {"type": "array", "items": _object({"source": _TEXT, "fact": _TEXT})},
        "consequence": _nullable("string", "What follows, and for whom"),
        "cure": _nullable("string", "What to do"),
        "commands": {
            "type": "array",
            "items": _TEXT,
            "description": "For the cure, to be pasted into a shell",
        },
        "count": {"type": "integer", "description": "How many times the same cause was seen"},
        "records": _nullable("integer", "Records that it is about; null if they are not counted"),
        "bytes": _nullable("integer", "Bytes of these records"),
    }
    return _object(properties)


def _nullable(kind: str, description: str = "") -> dict[str, object]:
    schema: dict[str, object] = {"type": [kind, "null"]}
    return schema | ({"description": description} if description else {})


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties)}
