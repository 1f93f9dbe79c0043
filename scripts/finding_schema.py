"""The definition of a finding in the JSON schemas that are written by hand."""

import json
import re

from command_tree import REPOSITORY
from kraftops.answers.schema import object_schema
from kraftops.findings.answer import FINDING

_FOLDER = "core/kraftops/json_schemas"
_DEFINITION = re.compile(r'^    "finding": \{.*\}(?=,?$)', re.MULTILINE)


def schemas() -> dict[str, str]:
    """Return the texts of the schemas with findings, by path from the top of the repository."""
    definition = f'    "finding": {json.dumps(object_schema(FINDING))}'
    texts = {}
    for path in sorted((REPOSITORY / _FOLDER).glob("*.json")):
        text = path.read_text("utf-8")
        if _DEFINITION.search(text):
            texts[f"{_FOLDER}/{path.name}"] = _DEFINITION.sub(lambda _: definition, text)
    return texts
