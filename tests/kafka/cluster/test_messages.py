"""Our definitions of requests and answers equal Kafka's."""

import json
import re
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

from kraftops.wire.net.codec import OUR_DEFINITIONS

pytestmark = pytest.mark.kafka

NAMES = [path.name for path in files(OUR_DEFINITIONS).iterdir() if path.name.endswith(".json")]
KEPT = ("name", "type", "versions", "nullableVersions", "taggedVersions", "tag", "default")


def of_version_0(fields: list[dict]) -> list[dict]:  # type: ignore[type-arg]
    """Return what the fields of the first version are on the wire."""
    found = []
    for each in fields:
        if not each["versions"].startswith("0"):
            continue
        kept = {key: each[key] for key in KEPT if key in each}
        kept["fields"] = of_version_0(each.get("fields", []))
        found.append(kept)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_definition_is_that_of_kafka(jars: Path, name: str) -> None:
    ours = json.loads(files(OUR_DEFINITIONS).joinpath(name).read_text("utf-8"))
    [jar] = jars.glob("kafka-clients-*.jar")
    with zipfile.ZipFile(jar) as archive:
        text = archive.read(f"common/message/{name}").decode()
    theirs = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))

    assert ours["apiKey"] == theirs["apiKey"]
    assert ours["flexibleVersions"] == theirs["flexibleVersions"]
    assert of_version_0(ours["fields"]) == of_version_0(theirs["fields"])
