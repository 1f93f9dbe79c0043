"""Write the table of what releases of Kafka know, from their own jars.

It needs Java and Maven: `PYTHONPATH=. python scripts/release_tables.py`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.helpers.kafka.jvm.jars import resolved_jars

RELEASES = (
    *("3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1", "3.9.1"),
    *("4.0.0", "4.1.1", "4.2.1", "4.3.1"),
)
_PROJECT = Path(__file__).parent.parent
FACTS = _PROJECT / "tests/helpers/kafka/tools/ReleaseFacts.java"
PATH = _PROJECT / "core/kraftops/storage/releases/releases.json"
_CHECKS = (  # of `ConfigDef`'s validators as they print themselves, in the words of `keys.py`
    (r"\[([-\d.]+),\.\.\.,([-\d.]+)\]", r"\1..\2"),
    (r"\[([-\d.]+),\.\.\.\]", r"\1.."),
    (r"\[1,\.\.\.,9\] or -1", "gzip"),
    (r"non-empty string", "text"),
    (r"non-empty list", "items+"),
    (r"\(case insensitive\) \[(.*)\]", r"any-case:\1"),
    (r"\[([a-zA-Z_, ]+)\]", r"one-of:\1"),
)


def facts(release: str) -> list[list[str]]:
    """Return what the jars of a release have, by `ReleaseFacts.java`."""
    jars = resolved_jars(release)
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", str(FACTS)]
    done = subprocess.run(
        [*command, *map(str, sorted(jars.glob("kafka*.jar")))],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def check(kind: str, validator: str) -> str:
    """Return a validator in the notation of `kraftops.storage.config.keys`; empty for others."""
    for pattern, text in _CHECKS:
        if found := re.fullmatch(pattern, validator):
            words = found.expand(text).replace(", ", "|")
            return words.replace("one-of:", "items:") if kind == "list" else words
    # Lists that must not be empty print nothing.
    return "any" if kind == "list" and not validator else ""


def main() -> int:
    """Write the table."""
    features: dict[str, dict[str, list[int]]] = {}
    keys: dict[str, dict[str, str]] = {}
    classes: dict[str, dict[str, list[str]]] = {}
    names = [release.rpartition(".")[0] for release in RELEASES]
    for release, name in zip(RELEASES, names, strict=True):
        for fact, *fields in facts(release):
            if fact == "feature":
                features.setdefault(name, {})[fields[0]] = [int(fields[1]), int(fields[2])]
            elif fact == "key":
                key, kind, _, validator, _ = fields
                row = f"{kind.lower()} {check(kind.lower(), validator)}".strip()
                keys.setdefault(key, {})[name] = row
            else:
                plugin, owner = fields
                interface = plugin.rpartition(".")[2]  # some have moved to other packages
                classes.setdefault(owner, {}).setdefault(name, []).append(interface)
    spans = {key: _spans(names, rows) for key, rows in sorted(keys.items())}
    kinds = {
        owner: _spans(names, {name: " ".join(sorted(set(kinds))) for name, kinds in rows.items()})
        for owner, rows in sorted(classes.items())
    }
    parts = [
        f'"measured": {json.dumps(dict(zip(names, RELEASES, strict=True)))}',
        f'"features": {_lines(features)}',
        f'"keys": {_lines(spans)}',
        f'"classes": {_lines(kinds)}',
    ]
    PATH.write_text("{" + ",\n".join(parts) + "}\n", "utf-8")
    return 0


def _spans(names: list[str], rows: dict[str, str]) -> list[list[str]]:
    """Return the first and the last of the releases in a row that have the same, and what."""
    spans: list[list[str]] = []
    for index, name in enumerate(names):
        row = rows.get(name)
        if row is None:
            continue
        if spans and spans[-1][2] == row and spans[-1][1] == names[index - 1]:
            spans[-1][1] = name
        else:
            spans.append([name, name, row])
    return spans


def _lines(table: dict[str, object]) -> str:
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in table.items())
    return f"{{\n{rows}\n}}"


if __name__ == "__main__":
    sys.exit(main())
