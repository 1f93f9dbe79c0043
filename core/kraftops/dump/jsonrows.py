"""Rows as JSON, one object a line, always with all columns in their order."""

from __future__ import annotations

import json

from kraftops.dump.rows import BASE64, COLUMNS, USER, Row, base64_of
from kraftops.log import batch as v2
from kraftops.log.batch import Header
from kraftops.log.codecs import CODECS

_BOOL = {None: "null", False: "false", True: "true"}
_CODECS = tuple(f'"{name}"' for name in CODECS) + ("null",) * (v2.CODEC_MASK + 1 - len(CODECS))


def row_json(row: Row) -> str:
    """Return a row as one line of JSON."""
    texts = [
        f'"{name}":{_text(name, value, row)}' for name, value in zip(COLUMNS, row, strict=True)
    ]
    return "{" + ",".join(texts) + "}\n"


def json_head(path: str, position: int, header: Header) -> str:
    """Return what the rows of a batch begin with, up to the offset."""
    return (
        f'{{"file":{json_text(path)},"position":{_number(position)},'
        f'"baseOffset":{header.base_offset},'
        '"offset":'
    )


def json_middle(header: Header) -> str:
    """Return what rows of a batch without sequences have between timestamp and sizes."""
    is_appended = header.attributes & v2.LOG_APPEND_TIME
    return (
        f',"timestampType":"{"LogAppendTime" if is_appended else "CreateTime"}",'
        f'"leaderEpoch":{_number(header.leader_epoch)},"producerId":{_number(header.producer_id)},'
        f'"producerEpoch":{_number(header.producer_epoch)},"sequence":null,'
        f'"transactional":{_BOOL[bool(header.attributes & v2.TRANSACTIONAL)]},'
        f'"control":{_BOOL[header.is_control]},"codec":{_CODECS[header.codec]},'
    )


def json_text(text: str) -> str:
    """Return a text as a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def headers_json(row: Row) -> str:
    """Return the headers of a row as JSON, their values in base64."""
    pairs = [
        {"key": key, "value": None if raw is None else base64_of(raw)} for key, raw in row.headers
    ]
    return json.dumps(pairs, separators=(",", ":"), ensure_ascii=False)


def _number(number: int) -> str:
    return "null" if number < 0 else str(number)


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
