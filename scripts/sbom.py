"""The bill of materials of a release, as CycloneDX 1.6 in JSON."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from dependencies import Component

NAME = "kraftops.cdx.json"
"""The name inside a wheel, in `.dist-info/sboms` (PEP 770)."""
_NAMESPACE = uuid.UUID("8e0ca2b4-70a4-5a7c-9d3f-55dd4b8bd4a1")


def document(version: str, bundled: Iterable[Component], required: Iterable[Component] = ()) -> str:
    """Return the document of a version, the same text for the same parts.

    *bundled* parts are inside of our files; *required* ones are installed beside them.
    """
    bundled, required = sorted(bundled), sorted(required)
    ours = f"pkg:pypi/kraftops@{version}"
    parts = [*bundled, *required]
    known = {one.url for one in parts}
    inner = {url for one in parts for url in one.needs}
    content: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": ours,
                "name": "kraftops",
                "version": version,
                "licenses": [{"expression": "Apache-2.0"}],
                "purl": ours,
            }
        },
        "components": [
            *(_component(one, "bundled") for one in bundled),
            *(_component(one, "installed beside it") for one in required),
        ],
        "dependencies": [
            {"ref": ours, "dependsOn": sorted(known - inner)},
            *({"ref": one.url, "dependsOn": sorted(known & {*one.needs})} for one in parts),
        ],
    }
    serial = uuid.uuid5(_NAMESPACE, json.dumps(content, sort_keys=True))
    return json.dumps({**content, "serialNumber": f"urn:uuid:{serial}"}, indent=2) + "\n"


def components(text: str) -> list[Component]:
    """Return the parts that a document lists."""
    return [
        Component(
            part["purl"].partition(":")[2].partition("/")[0],
            part["name"],
            part["version"],
            part["licenses"][0]["expression"] if "licenses" in part else "",
            part["hashes"][0]["content"] if "hashes" in part else "",
        )
        for part in json.loads(text)["components"]
    ]


def _component(one: Component, place: str) -> Mapping[str, Any]:
    return {
        "type": "library",
        "bom-ref": one.url,
        "name": one.name,
        "version": one.version,
        **({"hashes": [{"alg": "SHA-256", "content": one.sha256}]} if one.sha256 else {}),
        **({"licenses": [{"expression": one.licence}]} if one.licence else {}),
        "purl": one.url,
        "properties": [{"name": "kraftops:place", "value": place}],
    }
