"""The rows of metadata records, and the same as CSV, straight from a batch's bytes."""

from __future__ import annotations

from functools import cache
from typing import Any

from kraftops.dump.meanings import is_shallow
from kraftops.dump.metadatalines import (
    Line,
    MetadataLines,
    with_id_fields,
    without_secrets,
)
from kraftops.dump.query import Query
from kraftops.dump.rows import COLUMNS, Row, RowHead
from kraftops.records.dialects import type_name
from kraftops.schema.message import Message
from kraftops.schema.text import RendererFactory, renderer_factory

_NOTHING = (None,) * len(COLUMNS[COLUMNS.index("key") :])
_BREAK = "\x1f"  # JSON has no such character
_TEMPLATE = _BREAK.join(
    ("{{{data}}}", "{field:topicId}", "{field:partitionId}", "{field:brokerId}")
)


def metadata_rows(query: Query) -> MetadataLines:
    """Return what makes rows in the place of lines; each batch needs its `RowHead`."""
    make = _maker if query.show_secrets else without_secrets(_maker)
    return MetadataLines(query, _shallow_maker if is_shallow(query) else make, ("", ""))


def csv_lines(query: Query) -> MetadataLines:
    """Return what prints rows as CSV."""
    make = _csv_maker if query.show_secrets else without_secrets(_csv_maker)
    return MetadataLines(query, make, ("", ""))


def _csv_maker(message: Message, version: int, size: int) -> Line:
    render = _renderer_factory(message, version)("")
    start = f",{size},,metadata,{type_name(message)},{version},,"

    def line(b: bytes, p: int, e: int, offset: int, time: str, head: str) -> str:
        data, topic, partition, broker = render(b, p, e).split(_BREAK)
        if data != "{}":
            data = data.replace('"', '""')
            data = f'"{data}"'
        topic = "" if topic == "null" else topic[1:-1]
        partition = "" if partition == "null" else partition
        broker = "" if broker == "null" else broker
        return f"{head}{offset},{time}{start}{data},{topic},{partition},{broker},,,\n"

    return line


def _maker(message: Message, version: int, size: int) -> Line:
    render = _renderer_factory(message, version)("")
    name, new, row_type = type_name(message), tuple.__new__, Row

    def row(b: bytes, p: int, e: int, offset: int, time: str, head: RowHead) -> Row:
        data, topic, partition, broker = render(b, p, e).split(_BREAK)
        return new(
            row_type,
            (
                *head.before, offset, int(time), *head.behind, None, *head.behind_sequence,
                None, size, (),
                "metadata", name, version, None, data,
                None if topic == "null" else topic[1:-1],
                None if partition == "null" else int(partition),
                None if broker == "null" else int(broker),
                None, None, None,
            ),
        )  # fmt: skip

    return row


def _shallow_maker(message: Message, version: int, size: int) -> Line:
    name = type_name(message)

    def row(*place: Any) -> Row:
        offset, time, head = place[3:]
        return Row._make(
            (
                *head.before, offset, int(time), *head.behind, None, *head.behind_sequence,
                None, size, (), "metadata", name, version, *_NOTHING,
            )
        )  # fmt: skip

    return row


@cache
def _renderer_factory(message: Message, version: int) -> RendererFactory:
    return renderer_factory(message, version, with_id_fields(_TEMPLATE, message), short_arrays=True)
