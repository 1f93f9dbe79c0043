"""Both engines render every message in every version in the same way, also damaged ones."""

import struct
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftops.log.batch import CONTROL
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.schema.message import Message
from tests.helpers.engine.agreement import agree, batch_with, needs_both, paths_of, rows_of, shown
from tests.helpers.engine.random_conditions import conditions_about
from tests.helpers.engine.random_messages import (
    CONTROL_MESSAGES,
    DIALECTS,
    Kind,
    frame_bytes,
    framed_messages,
    message_bytes,
)
from tests.helpers.logs.coordinators import COORDINATORS, messages
from tests.helpers.logs.messages import data_for, encoded, table, versions_of

pytestmark = needs_both

Payload = tuple[bytes | None, bytes | None]
EXAMPLES = settings(max_examples=6)


def _framed() -> list[Any]:
    found = []
    for decoder, name in (*(("metadata", one) for one in DIALECTS), ("remote", "kafka")):
        for number, message in framed_messages(decoder, name):
            for version in versions_of(message):
                kind = Kind(decoder, name)
                label = f"{decoder}-{name}-{message.name}-{version}"
                found.append(pytest.param(kind, number, message, version, id=label))
    return found


def _keyed() -> list[Any]:
    return [
        pytest.param(Kind(decoder, "kafka"), number, version, id=f"{decoder}-{number}-{version}")
        for decoder in COORDINATORS
        for number, (_, value) in messages(decoder).items()
        for version in versions_of(value)
    ]


def _edits(draw: st.DataObject, raw: bytes) -> list[bytes]:
    """Return bytes unchanged, with more after them, cut, and with another byte."""
    cut = draw.draw(st.integers(0, max(len(raw) - 1, 0)), label="cut")
    tail = draw.draw(st.binary(min_size=1, max_size=3), label="tail")
    at = draw.draw(st.integers(0, max(len(raw) - 1, 0)), label="at")
    byte = draw.draw(st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFF]), label="byte")
    return [raw, raw + tail, raw[:cut], raw[:at] + bytes([byte]) + raw[at + 1 :]]


@pytest.mark.parametrize(("kind", "number", "message", "version"), _framed())
@EXAMPLES
@given(draw=st.data())
def test_every_framed_message_is_rendered_alike(
    kind: Kind, number: int, message: Message, version: int, draw: st.DataObject
) -> None:
    framing = "kafka" if kind.decoder == "remote" else kind.dialect
    data = draw.draw(data_for(message, version, unknown_tags=True))
    values = []
    for with_defaults in (False, True):
        body = encoded(message, version, data, with_defaults=with_defaults)
        values += _edits(draw, frame_bytes(framing, number, version) + body)
    last = message.versions.last or 0
    others = ((number, last + 1), (number, 0x7FFF), (number, -1), (number, -3), (99, version))
    values += [frame_bytes(framing, *numbers) + body for numbers in others]
    agree(batch_with([(None, value) for value in values]), *shown(kind))


@pytest.mark.parametrize(("kind", "number", "version"), _keyed())
@EXAMPLES
@given(draw=st.data())
def test_every_coordinator_message_is_rendered_alike(
    kind: Kind, number: int, version: int, draw: st.DataObject
) -> None:
    assert kind.decoder
    key_message, value_message = messages(kind.decoder)[number]
    raw_key = encoded(key_message, 0, draw.draw(data_for(key_message, 0, unknown_tags=True)))
    data = draw.draw(data_for(value_message, version, unknown_tags=True))
    if value_message.name == "GroupMetadataValue" and draw.draw(st.booleans()):
        data["protocolType"] = "consumer"
        for member in data["members"]:
            for part in ("subscription", "assignment"):
                member[part] = draw.draw(_embedded(f"ConsumerProtocol{part.title()}"), label=part)
    raw = encoded(value_message, version, data, with_defaults=draw.draw(st.booleans()))
    key, value = struct.pack(">h", number) + raw_key, struct.pack(">h", version) + raw
    last = value_message.versions.last or 0
    payloads: list[Payload] = [(key, one) for one in _edits(draw, value)]
    payloads += [(one, value) for one in _edits(draw, key)]
    payloads += [(key, struct.pack(">h", other) + raw) for other in (last + 1, -1, 0x7FFF)]
    payloads += [(struct.pack(">h", 99) + raw_key, value), (key, None), (None, value), (key, b"")]
    agree(batch_with(payloads), *shown(kind))


def _embedded(name: str) -> st.SearchStrategy[bytes]:
    message = table("consumer")[name]

    def whole(version: int) -> st.SearchStrategy[bytes]:
        return data_for(message, version).map(
            lambda data: struct.pack(">h", version) + encoded(message, version, data)
        )

    sound = st.sampled_from(versions_of(message)).flatmap(whole)
    stated = st.sampled_from([-1, 4, 99])
    other = st.tuples(stated, sound).map(lambda pair: struct.pack(">h", pair[0]) + pair[1][2:])
    cut = st.tuples(sound, st.integers(1, 4)).map(lambda pair: pair[0][: -pair[1]])
    return st.one_of(sound, sound.map(lambda raw: raw + b"\0\7"), other, cut, st.binary(max_size=6))


@pytest.mark.parametrize("number", range(7))
@settings(max_examples=12)
@given(draw=st.data())
def test_every_control_record_is_rendered_alike(number: int, draw: st.DataObject) -> None:
    message = table("control")[CONTROL_MESSAGES[number]]
    payloads: list[Payload] = []
    for version in versions_of(message):
        raw = encoded(message, version, draw.draw(data_for(message, version, unknown_tags=True)))
        for stated in (version, 0, 1, 2, -1, 0x7FFF):
            lead = struct.pack(">h", stated)
            value = lead + (raw if number < 2 else raw[2:])
            keys = [struct.pack(">hh", key_version, number) for key_version in (0, 1, -1)]
            payloads += [(key, value) for key in keys]
            payloads += [(struct.pack(">hh", 0, number), one) for one in _edits(draw, value)]
    key = struct.pack(">hh", 0, number)
    payloads += [(key, None), (key, b""), (key, b"\0"), (None, b"\0\0"), (b"\0\0\0", None)]
    payloads += [(struct.pack(">hh", 0, other), b"\0\0\0\0\0\1") for other in (-1, 7, 77)]
    for decoder in ("metadata", "user", "offsets"):
        queries = shown(Kind(decoder, "kafka"))
        agree(batch_with(payloads, CONTROL), *queries, replace(queries[1], deep_iteration=False))


@pytest.mark.parametrize(("kind", "number", "message", "version"), _framed())
def test_odd_encodings_of_framed_messages_are_rendered_alike(
    kind: Kind, number: int, message: Message, version: int
) -> None:
    """Tags are repeated, in any order, with wrong sizes or defaults; some nulls are not allowed."""
    rng = Random(f"{message.name} {version}")
    framing = "kafka" if kind.decoder == "remote" else kind.dialect
    lead = frame_bytes(framing, number, version)
    values = [lead + message_bytes(rng, message, version, odd=odd) for odd in (0.05, 0.3) * 12]
    agree(batch_with([(None, value) for value in values]), *shown(kind)[1:])


@pytest.mark.parametrize(("kind", "number", "version"), _keyed())
def test_odd_encodings_of_coordinator_messages_are_rendered_alike(
    kind: Kind, number: int, version: int
) -> None:
    assert kind.decoder
    rng = Random(f"{kind} {number} {version}")
    key_message, value_message = messages(kind.decoder)[number]
    payloads: list[Payload] = []
    for odd in (0.05, 0.3) * 12:
        key = message_bytes(rng, key_message, 0, odd=odd / 4)
        value = message_bytes(rng, value_message, version, odd=odd)
        payloads.append((struct.pack(">h", number) + key, struct.pack(">h", version) + value))
    agree(batch_with(payloads), *shown(kind)[1:])


@pytest.mark.parametrize(("kind", "number", "message", "version"), _framed())
def test_every_field_of_a_framed_message_can_be_a_condition(
    kind: Kind, number: int, message: Message, version: int
) -> None:
    """Conditions have the value, another one, or name an absent tagged field."""
    rng = Random(f"{message.name} {version}")
    framing = "kafka" if kind.decoder == "remote" else kind.dialect
    lead = frame_bytes(framing, number, version)
    values = [lead + message_bytes(rng, message, version, odd=odd) for odd in (0.0, 0.0, 0.2) * 4]
    data = batch_with([(None, value) for value in values])
    query = Query(kind.decoder, dialect=kind.dialect, form="csv")
    values_of = [{"value": row["value"]} for row in rows_of(data, kind)]
    pairs = [pair for row in values_of for pair in paths_of(row)]
    asked = sorted({test for path, found in pairs for test in conditions_about(path, found)})
    for where in rng.sample(asked, min(len(asked), 60)):
        agree(data, replace(query, filter=Filter(where=where)))
    for field in message.fields:
        agree(data, replace(query, filter=Filter(where=f"value.{field.name} is null")))
