"""Rows as JSON, one object a line, always with all columns in their order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kraftops.query.row import COLUMNS, Row
from kraftops.records.internal_topics import USER
from kraftops.records.long_text import LongText
from kraftops.records.meaning import BASE64, base64_of

_BOOL = {False: "false", True: "true"}


def row_json(row: Row) -> str:
    texts = [
        f'"{name}":{_text(name, value, row)}' for name, value in zip(COLUMNS, row, strict=True)
    ]
    return "{" + ",".join(texts) + "}\n"


def chosen_json(row: Row, names: Sequence[str]) -> str:
    """Return some columns of a row as one line of JSON, in the order of *names*."""
    texts = [f'"{name}":{_text(name, row[COLUMNS.index(name)], row)}' for name in names]
    return "{" + ",".join(texts) + "}\n"


def json_pieces(row: Row) -> Iterator[str]:
    """Yield the line of a row with a long key or value, in pieces."""
    lead = "{"
    for name, value in zip(COLUMNS, row, strict=True):
        yield f'{lead}"{name}":'
        if isinstance(value, LongText):
            yield '"'
            for piece in value.pieces():
                yield json_text(piece)[1:-1]
            yield '"'
        else:
            yield _text(name, value, row)
        lead = ","
    yield "}\n"


def json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def headers_json(row: Row) -> str:
    """Return the headers of a row as JSON, their values in base64."""
    pairs = [
        {"key": key, "value": None if raw is None else base64_of(raw)} for key, raw in row.headers
    ]
    return json.dumps(pairs, separators=(",", ":"), ensure_ascii=False)


def _text(name: str, value: object, row: Row) -> str:
    if value is None:
        return "null"
    if name in ("key", "value"):
        is_json = row.kind != USER and getattr(row, f"{name}_encoding") != BASE64
        return str(value) if is_json else json_text(str(value))
    if name == "headers":
        return headers_json(row)
    if isinstance(value, bool):
        return _BOOL[value]
    return str(value) if isinstance(value, int) else json_text(str(value))
