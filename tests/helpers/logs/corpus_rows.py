"""The logs of the corpus as rows, with their decoders, and JSON in two ways."""

import json
from pathlib import Path
from typing import Any

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import text_chunks
from kraftops.dump.scan.part_rows import part_rows
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from kraftops.query.row_lines import row_json
from tests.helpers.engine.choice import using
from tests.helpers.logs.segments import IN

FLAGS = {
    "metadata": "--cluster-metadata-decoder",
    "offsets": "--offsets-decoder",
    "transaction": "--transaction-log-decoder",
    "share": "--share-group-state-decoder",
    "remote": "--remote-log-metadata-decoder",
    "user": "--print-data-log",
}
"""Of the command line, by decoder."""
_DECODERS = {
    "consumer_offsets": "offsets",
    "offsets-": "offsets",
    "transaction_state": "transaction",
    "txn-all": "transaction",
    "share": "share",
    "rlmm": "remote",
    "meta": "metadata",
    "ckpt": "metadata",
    "boot": "metadata",
    "v3": "metadata",
}
"""By what the name of a directory begins with."""

EVERY_LOG = sorted(
    path for path in IN.rglob("*") if path.suffix in (".log", ".checkpoint") and path.is_file()
)
LOGS = [path for path in EVERY_LOG if "dmg" not in path.parts]
"""The logs without damaged bytes; some hold odd records."""


def name_of(path: Path) -> str:
    """Return a short name of a log of the corpus."""
    return str(path.relative_to(IN))


def decoder_of(path: Path) -> str:
    """Return the decoder that a log of the corpus is for."""
    names = [part for part in path.relative_to(IN).parts if part not in ("craft", "dmg")]
    return next((_DECODERS[one] for one in _DECODERS if names[0].startswith(one)), "user")


def rows(path: Path | str, query: Query | None = None) -> list[Row]:
    """Return the rows of a file."""
    return list(part_rows(ByteRange(str(path)), query or Query(form="json"), Report()))


def engine_json(path: Path | str, query: Query) -> str:
    """Return the JSON or CSV of a file by the engine in use."""
    return b"".join(text_chunks(str(path), query, Report())).decode()


def json_of_rows(path: Path | str, query: Query) -> str:
    """Return the JSON of a file by way of columns and rows."""
    return "".join(map(row_json, rows(path, query)))


def reference_json(path: Path | str, query: Query) -> str:
    """Return the JSON of a file by the reference engine."""
    with using("reference"):
        return engine_json(path, query)


def parsed(text: str) -> list[dict[str, Any]]:
    """Return lines of JSON as data."""
    return [json.loads(line) for line in lines_of(text)]


def logs_of(text: str) -> list[dict[str, Any]]:
    """Return the logs of a summary that was printed as JSON."""
    logs: list[dict[str, Any]] = json.loads(text)["logs"]
    return logs


def lines_of(text: str) -> list[str]:
    """Split at newlines only: `splitlines` also splits at characters that JSON may hold."""
    lines = text.split("\n")
    assert lines.pop() == ""
    return lines


def query_of(path: Path, **changes: Any) -> Query:
    """Return the query that asks for the rows of a log with its decoder."""
    filters = {name: changes.pop(name) for name in list(changes) if name in Filter.__slots__}
    known = {"decoder": decoder_of(path), "form": "json", "deep_iteration": True, **changes}
    return Query(filter=Filter(**filters), **known)
