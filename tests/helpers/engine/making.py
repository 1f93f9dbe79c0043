"""Logs and questions made from a seed: what engines must agree about, right and wrong.

A part of a text, number or id comes from a small stock, so that filters find something.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from google_crc32c import value as crc32c

from kraftops.log.codecs import compress
from kraftops.query.filters import Filter, normal_type
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS
from kraftops.records.decoders import record_types
from kraftops.records.decoders.user import DECODERS
from kraftops.records.dialects import dialect
from kraftops.schema.message import Field, Message
from kraftops.uuids import to_text
from kraftops.varint import varint_bytes
from tests.helpers.kafka.cases.mutations import INTS, LONGS, mutated
from tests.helpers.logs.coordinators import COORDINATORS, messages
from tests.helpers.logs.messages import fields_of, is_flexible, table, uvarint, versions_of

DIALECTS = ("kafka", "kip-631", "kip-631-draft")
FORMS = ("text", "json", "csv", "parquet")
KINDS = (
    *((name, "kafka") for name in (None, "user", "remote", *COORDINATORS)),
    *(("metadata", name) for name in DIALECTS),
)
"""Decoders and dialects."""

CONTROL_MESSAGES = (
    "EndTxnMarker",
    "EndTxnMarker",
    "LeaderChangeMessage",
    "SnapshotHeaderRecord",
    "SnapshotFooterRecord",
    "KRaftVersionRecord",
    "VotersRecord",
)
"""The messages in the values of control records, by type."""
TOPICS = ("orders", 'pay,"ments"', "é日😀", "x" * 126)
IDS = (bytes(16), bytes(15) + b"\1", b"0123456789abcdef", b"\xff" * 16)
_TEXTS = (
    "",
    "a",
    *TOPICS,
    "group-1",
    "consumer",
    "cleanup.policy",
    "ssl.keystore.PASSWORD",
    "ssl.keystore.location",
    "sasl.jaas.config",
    "null",
    "true",
    "-1",
    "\x00\b\t\n\f\r\x1f\x7f\u2028\ufffd",
    "back\\slash",
    "<redacted>",
    "y" * 127,
    "é" * 200,
)
BAD_TEXTS = (
    b"\xff",
    b"\xc3",
    b"a\xed\xa0\x80b",
    b"\xed\xa0",
    b"\xed\xb0\x80\xed",
    b"\xed",
    b"\xc0\x80",
    b"\xf0\x9f\x98",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\xe2(\xa1\xff",
    b"\xe2\x82",
    b"ok\x80\x80\x80",
)
_WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8}
_DOUBLES = (0.0, -0.0, 1.0, 1e7, 9999999.0, 1e-3, 9.99e-4, 1e21, 5e-324, 1e23, 0.1, 1 / 3, -1e300)
_STOCK = (0, 1, 2, 3, -1, 7)


class Kind(NamedTuple):
    """A decoder, and the dialect of the metadata log."""

    decoder: str | None
    dialect: str


def text_bytes(rng: Random, *, is_bad: bool = True) -> bytes:
    """Return the bytes of a text, rarely such that are no UTF-8."""
    chance = rng.random()
    if is_bad and chance < 0.06:
        return rng.choice(BAD_TEXTS) + rng.choice((b"", b"z", *BAD_TEXTS))
    if chance < 0.3:
        return "".join(chr(rng.randrange(0x20, 0x250)) for _ in range(rng.randrange(8))).encode()
    return rng.choice(_TEXTS).encode()


def value_bytes(rng: Random, field: Field, *, flexible: bool, odd: float) -> bytes:
    """Return one value of the type of a field, without lengths of arrays."""
    kind = field.type
    if kind in _WIDTHS:
        width = _WIDTHS[kind]
        if kind == "bool" and rng.random() > odd:
            return rng.choice((b"\0", b"\1"))
        number = rng.choice(_STOCK)
        if rng.random() < 0.3:
            number = rng.choice((*INTS, *LONGS, rng.getrandbits(64)))
        return (number & ((1 << 8 * width) - 1)).to_bytes(width)
    if kind == "float64":
        if rng.random() < 0.3:
            return rng.randbytes(8)
        return struct.pack(">d", rng.choice((*_DOUBLES, float("nan"), float("inf"), -float("inf"))))
    if kind == "uuid":
        return rng.choice(IDS) if rng.random() < 0.8 else rng.randbytes(16)
    if kind == "string":
        raw = text_bytes(rng)
        return length_bytes(len(raw), ">h", flexible=flexible) + raw
    raw = rng.randbytes(rng.choice((0, 1, 3, 8, 8, 130)))
    if field.name in ("subscription", "assignment") and rng.random() < 0.8:
        raw = _consumer_bytes(rng, field.name, odd)
    return length_bytes(len(raw), ">i", flexible=flexible) + raw


def _consumer_bytes(rng: Random, name: str, odd: float) -> bytes:
    """Return what a consumer puts into the bytes of a classic group."""
    message = table("consumer")[f"ConsumerProtocol{name.title()}"]
    version = rng.choice(versions_of(message))
    stated = rng.choice((-1, 4, 99)) if rng.random() < 0.1 else version
    raw = struct.pack(">h", stated) + message_bytes(rng, message, version, odd=odd)
    return mutated(rng, raw) if rng.random() < 0.2 + odd else raw + rng.choice((b"", b"", b"\0\1"))


def length_bytes(length: int, code: str, *, flexible: bool) -> bytes:
    """Return a length as it is written before what has it; -1 is null."""
    return uvarint(length + 1 & 0xFFFFFFFF) if flexible else struct.pack(code, length)


def message_bytes(rng: Random, message: Message, version: int, *, odd: float = 0.0) -> bytes:
    """Return bytes of a message version, any that its readers take; *odd* is how many are wrong."""
    return _struct(rng, message.fields, version, is_flexible(message, version), odd, 0)


def _struct(
    rng: Random, fields: Sequence[Field], version: int, flexible: bool, odd: float, depth: int
) -> bytes:
    here = fields_of(tuple(fields), version)
    plain = [field for field in here if field.tag is None]
    out = b"".join(_value(rng, field, version, flexible, odd, depth) for field in plain)
    if not flexible:
        return out
    tags: list[tuple[int, bytes]] = []
    for field in here:
        if field.tag is None:
            continue
        times = rng.choices((0, 1, 2, 3), (10, 10, 1 + odd, odd))[0]
        for _ in range(times):
            raw = _value(rng, field, version, flexible, odd, depth)
            if rng.random() < 0.3:
                raw = default_bytes(field, version)
            tags.append((field.tag, raw))
    if rng.random() < 0.15:
        tags.append(
            (
                rng.choice((5, 9, 40, 63, 64, 65, 127, 128, 300, 1 << 20)),
                rng.randbytes(rng.randrange(4)),
            )
        )
    absent = [field.tag for field in fields if field.tag is not None and field not in here]
    if absent and rng.random() < 0.02 + odd:
        tags.append((rng.choice(absent), b"\0"))
    if rng.random() < 0.7:
        tags.sort(key=lambda pair: pair[0])
    else:
        rng.shuffle(tags)
    out += uvarint(len(tags))
    for tag, raw in tags:
        size = len(raw)
        if rng.random() < odd:
            size = rng.choice((0, 1, size + 1, 1 << 31, (1 << 32) - 1))
        out += uvarint(tag) + uvarint(size) + raw
    return out


def _value(
    rng: Random, field: Field, version: int, flexible: bool, odd: float, depth: int
) -> bytes:
    is_null = rng.random() < (0.25 if field.nullable else odd / 4)

    def one() -> bytes:
        if field.is_struct:
            return _struct(rng, field.fields, version, flexible, odd, depth + 1)
        return value_bytes(rng, field, flexible=flexible, odd=odd)

    if field.array:
        if is_null:
            return length_bytes(-1, ">i", flexible=flexible)
        count = rng.choice((0, 1, 1, 2, 3, 3)) if depth < 3 else rng.choice((0, 0, 1))
        if not field.is_struct and rng.random() < 0.03:
            count = rng.choice((63, 64, 126, 127, 130))
        stated = (
            count if rng.random() >= odd / 4 else rng.choice((count + 1, 1 << 20, 0x7FFFFFFE, -2))
        )
        return length_bytes(stated, ">i", flexible=flexible) + b"".join(one() for _ in range(count))
    if field.is_struct and field.nullable:
        if is_null:
            return rng.choice((b"\xff", b"\x80")) if field.tag is None else b"\0"
        return b"\1" + one()
    if is_null and field.type in ("string", "bytes"):
        return length_bytes(-1, ">h" if field.type == "string" else ">i", flexible=flexible)
    return one()


def default_bytes(field: Field, version: int) -> bytes:
    """Return the default of a tagged field, which nobody needs to write."""
    if field.default is None:
        return b"\0"
    if field.array:
        return b"\1"
    if field.is_struct:
        inner = (
            _plain_default(one, version)
            for one in fields_of(field.fields, version)
            if one.tag is None
        )
        lead = b"\1" if field.nullable else b""
        return lead + b"".join(inner) + b"\0"
    return _plain_default(field, version)


def _plain_default(field: Field, version: int) -> bytes:
    if field.default is None:
        return b"\xff" if field.is_struct and not field.array else b"\0"
    if field.array:
        return b"\1"
    if field.is_struct:
        return default_bytes(field, version)
    if field.type in _WIDTHS:
        width = _WIDTHS[field.type]
        return (int(str(int(field.default))) & ((1 << 8 * width) - 1)).to_bytes(width)  # type: ignore[call-overload]
    if field.type == "float64":
        return bytes(8)
    return bytes(16) if field.type == "uuid" else b"\1"


def frame_bytes(dialect_name: str, number: int, version: int) -> bytes:
    """Return what stands before the body of a framed value."""
    lead = {"kafka": b"\1", "kip-631": b"\0", "kip-631-draft": b""}[dialect_name]
    return lead + uvarint(number & 0xFFFFFFFF) + uvarint(version & 0xFFFFFFFF)


@cache
def framed_messages(decoder: str, dialect_name: str) -> tuple[tuple[int, Message], ...]:
    """Return the messages of a framed decoder by number."""
    spoken = dialect("remote-log-metadata" if decoder == "remote" else dialect_name)
    return tuple(spoken.messages.items())


def framed_value(
    rng: Random, kind: Kind, number: int, message: Message, version: int, odd: float
) -> bytes:
    """Return a framed value."""
    framing = "kafka" if kind.decoder == "remote" else kind.dialect
    raw = frame_bytes(framing, number, version)
    nearest = min(max(version, message.versions.first), message.versions.last or 0)
    raw += message_bytes(rng, message, nearest, odd=odd)
    if rng.random() < 0.03 + odd / 4:
        raw += rng.randbytes(rng.randrange(1, 4))
    return raw


def payload(rng: Random, kind: Kind, odd: float) -> tuple[bytes | None, bytes | None]:
    """Return key and value for a decoder."""
    if kind.decoder in ("metadata", "remote"):
        number, message = rng.choice(framed_messages(kind.decoder, kind.dialect))
        version = rng.choice(versions_of(message))
        if rng.random() < 0.03 + odd / 4:
            version = rng.choice((-1, version + 1, 99, 0x7FFF))
        if rng.random() < odd / 4:
            number = rng.choice((number + 1, 99, 300, 0x7FFF, 0x8000, -1))
        key = rng.choice((None, None, None, b"", b"key", b"\xff"))
        value: bytes | None = framed_value(rng, kind, number, message, version, odd)
        if rng.random() < odd / 2:
            assert value is not None
            value = rng.choice((None, b"", mutated(rng, value), mutated(rng, value)))
        return key, value
    if kind.decoder in COORDINATORS:
        number = rng.choice(list(messages(kind.decoder)))
        key_message, value_message = messages(kind.decoder)[number]
        version = rng.choice(versions_of(value_message))
        key = struct.pack(">h", number) + message_bytes(rng, key_message, 0, odd=odd)
        value = struct.pack(">h", version) + message_bytes(rng, value_message, version, odd=odd)
        if value_message.name == "GroupMetadataValue" and rng.random() < 0.7:
            value = _of_consumers(rng, value_message, version, odd)
        if rng.random() < 0.15:
            value = None
        if value is not None and rng.random() < 0.03 + odd / 4:
            value = struct.pack(">h", rng.choice((-1, version + 1, 99))) + value[2:]
        if rng.random() < odd / 4:
            key = struct.pack(">h", rng.choice((-1, number + 1, 99, 300))) + key[2:]
        if rng.random() < odd / 2:
            key = rng.choice((None, b"", b"\0", mutated(rng, key), mutated(rng, key)))
        if rng.random() < odd / 2 and value is not None:
            value = rng.choice((b"", b"\0", mutated(rng, value), mutated(rng, value)))
        return key, value
    return user_bytes(rng), user_bytes(rng)


def _of_consumers(rng: Random, message: Message, version: int, odd: float) -> bytes:
    _, *others = fields_of(message.fields, version)
    flexible = is_flexible(message, version)
    raw = length_bytes(8, ">h", flexible=flexible) + b"consumer"
    return struct.pack(">h", version) + raw + _struct(rng, others, version, flexible, odd, 0)


def user_bytes(rng: Random) -> bytes | None:
    """Return a key or value of a user."""
    chance = rng.random()
    if chance < 0.1:
        return None
    if chance < 0.25:
        return rng.randbytes(rng.choice((0, 1, 3, 4, 5, 7, 8, 9, 64)))
    if chance < 0.35:
        return struct.pack(">q", rng.choice(LONGS))
    if chance < 0.45:
        return json.dumps({"topic": rng.choice(TOPICS), "n": rng.choice(_STOCK)}).encode()
    return text_bytes(rng)


def control_payload(rng: Random, odd: float) -> tuple[bytes | None, bytes | None]:
    """Return key and value of a control record."""
    number = rng.choice((0, 1, 2, 3, 4, 5, 6))
    key: bytes | None = struct.pack(">hh", rng.choice((0, 0, 0, 1, 5)), number)
    message = table("control")[CONTROL_MESSAGES[number]]
    version = rng.choice((0, 0, 1, *versions_of(message)))
    body = message_bytes(rng, message, min(version, message.versions.last or 0), odd=odd)
    # A marker's version comes before its fields, the others' is the first of them.
    raw = struct.pack(">h", version) + (body if number < 2 else body[2:])
    value: bytes | None = raw
    if rng.random() < 0.05 + odd / 2:
        key = rng.choice(
            (
                None,
                b"",
                b"\0\0",
                b"\0\0\0",
                struct.pack(">hh", -1, number),
                struct.pack(">hh", 0, rng.choice((-1, 7, 77))),
            )
        )
    if rng.random() < 0.05 + odd / 2:
        value = rng.choice(
            (
                None,
                b"",
                b"\0",
                raw[:1],
                raw[:4],
                struct.pack(">h", rng.choice((-1, 2, 9))) + raw[2:],
                mutated(rng, raw),
                mutated(rng, raw),
            )
        )
    return key, value


class Raw(NamedTuple):
    """A record before it is framed: deltas as they are written."""

    offset_delta: int
    time_delta: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    attributes: int = 0


def raw_bytes(record: Raw) -> bytes:
    """Return a record in its framing."""
    parts = [
        bytes([record.attributes]),
        varint_bytes(record.time_delta),
        varint_bytes(record.offset_delta),
    ]
    for part in (record.key, record.value):
        parts += [b"\1"] if part is None else [varint_bytes(len(part)), part]
    parts.append(varint_bytes(len(record.headers)))
    for key, value in record.headers:
        parts += [varint_bytes(len(key)), key]
        parts += [b"\1"] if value is None else [varint_bytes(len(value)), value]
    body = b"".join(parts)
    return varint_bytes(len(body)) + body


def sealed(
    body: bytes,
    count: int,
    *,
    base_offset: int = 0,
    attributes: int = 0,
    last_delta: int | None = None,
    base_time: int = 0,
    max_time: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
    epoch: int = 0,
    magic: int = 2,
) -> bytes:
    """Return a batch around the bytes of its records, which are compressed as its attributes say."""
    codec = attributes & 7
    if 0 < codec < 5:
        body = compress(codec, body)
    checked = struct.pack(
        ">hiqqqhii",
        attributes,
        max(count - 1, 0) if last_delta is None else last_delta,
        base_time,
        base_time if max_time is None else max_time,
        producer_id,
        producer_epoch,
        sequence,
        count,
    )
    checked += body
    head = struct.pack(">qiibI", base_offset, len(checked) + 9, epoch, magic, crc32c(checked))
    return head + checked


_CONTROL, _APPEND, _TRANSACTIONAL, _HORIZON = 0x20, 0x08, 0x10, 0x40


def log_bytes(rng: Random, kind: Kind, odd: float = 0.0) -> bytes:
    """Return a log for a decoder; its offsets and times mostly go up, with gaps."""
    offset = rng.choice((0, 0, 0, 5, 1 << 40))
    time = rng.choice((0, 1_700_000_000_000))
    out = []
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        batch, offset = batch_of(rng, kind, offset, time, odd)
        out.append(batch)
        time += rng.randrange(3)
        offset += rng.choice((0, 0, 0, 1, 7))
    return b"".join(out)


def batch_of(rng: Random, kind: Kind, offset: int, time: int, odd: float) -> tuple[bytes, int]:
    """Return a batch, and the offset that follows."""
    attributes = rng.choice((0, 0, 0, 1, 2, 3, 4))
    is_control = rng.random() < (0.1 if odd or kind.decoder else 0.05)
    for bit, chance in ((_APPEND, 0.15), (_TRANSACTIONAL, 0.15), (_HORIZON, 0.1)):
        attributes |= bit if rng.random() < chance else 0
    attributes |= _CONTROL if is_control else 0
    if rng.random() < odd / 8:
        attributes = rng.choice((5, 6, 7, 0x80, -1, -0x8000, attributes | 0x100))
    many = rng.choices((0, 1, 2, 5, 20), (1, 8, 8, 8, 2))[0]
    delta, records = 0, []
    for _ in range(many):
        key, value = control_payload(rng, odd) if is_control else payload(rng, kind, odd)
        step, at = delta, rng.randrange(3)
        if rng.random() < odd / 4:
            step = rng.choice((-1, delta - 2, *INTS))
        if rng.random() < odd / 4:
            at = rng.choice(LONGS)
        records.append(Raw(step, at, key, value, _headers(rng, odd), rng.choice((0, 0, 0, 255))))
        delta += rng.choice((1, 1, 1, 1, 3))
    sequence = rng.choice((-1, -1, 0, 7, 0x7FFFFFFF, 0x7FFFFFFE))
    if rng.random() < odd / 4:
        sequence = rng.choice(INTS)
    count = len(records)
    if rng.random() < odd / 8:
        count = rng.choice((0, count - 1, count + 1, -1, 1 << 20, 0x7FFFFFFF))
    body = b"".join(map(raw_bytes, records))
    if rng.random() < odd / 4:
        body = mutated(rng, body)
    base_offset, max_time = offset, time + 3
    if rng.random() < odd / 6:
        base_offset = rng.choice(LONGS)
    if rng.random() < odd / 6:
        max_time = rng.choice(LONGS)
    if rng.random() < odd / 6:
        time = rng.choice(LONGS)
    batch = sealed(
        body,
        count,
        base_offset=base_offset,
        attributes=attributes,
        last_delta=max(delta - 1, 0) if rng.random() >= odd / 4 else rng.choice(INTS),
        base_time=time,
        max_time=max_time,
        producer_id=rng.choice((-1, 0, 7, 1 << 40, -2)),
        producer_epoch=rng.choice((-1, 0, 0x7FFF)),
        sequence=sequence,
        epoch=rng.choice((0, 3, -1)),
        magic=2 if rng.random() >= odd / 10 else rng.choice((0, 1, 3, 127, -1)),
    )
    if rng.random() < odd / 6:
        batch = batch[:17] + rng.randbytes(4) + batch[21:]
    return batch, offset + delta


def _headers(rng: Random, odd: float) -> tuple[tuple[bytes, bytes | None], ...]:
    if rng.random() < 0.75:
        return ()
    many = rng.choice((1, 1, 2, 3, 130)) if rng.random() < 0.95 or not odd else 300
    return tuple(
        (text_bytes(rng), None if rng.random() < 0.2 else text_bytes(rng)) for _ in range(many)
    )


# Questions


def query_of(rng: Random, kind: Kind, rows: Sequence[Mapping[str, Any]] = ()) -> Query:
    """Return a question about a log; *rows* of it, as JSON has them, are what filters ask for."""
    decoders = list(DECODERS)
    form = rng.choice(FORMS)
    names = None
    if form == "parquet" and rng.random() < 0.5:
        names = frozenset(rng.sample(COLUMNS, rng.randrange(1, 9)))
    return Query(
        decoder=kind.decoder,
        dialect=kind.dialect,
        key_decoder=rng.choice((decoders[0], *decoders)),
        value_decoder=rng.choice((decoders[0], *decoders)),
        deep_iteration=rng.random() < 0.8,
        skip_record_metadata=rng.random() < 0.2,
        inflation_limit=rng.choice((100, 1000)) if rng.random() < 0.05 else None,
        form=form,
        show_secrets=rng.random() < 0.3,
        salvage=rng.random() < 0.15,
        check=rng.random() < 0.3,
        filter=filter_of(rng, kind, rows) if rng.random() < 0.6 else Filter(),
        columns=names,
    )


def filter_of(rng: Random, kind: Kind, rows: Sequence[Mapping[str, Any]] = ()) -> Filter:
    """Return a filter, mostly of one thing."""
    found: dict[str, Any] = {}
    row = rng.choice(rows) if rows else {}
    for _ in range(rng.choice((1, 1, 1, 2))):
        match rng.choice(("types", "topics", "keys", "offsets", "times", "where", "where")):
            case "types":
                known = sorted(record_types(kind.decoder, kind.dialect))
                names = rng.sample(known, min(len(known), rng.randrange(1, 4)))
                names += [row["type"]] if row.get("type") else []
                names += rng.choice(([], [], ["99"], ["nosuch"]))
                found["types"] = frozenset(map(normal_type, names))
            case "topics":
                ids = [to_text(one) for one in IDS]
                found["topics"] = frozenset(rng.sample((*TOPICS, *ids), 2))
                found["topic_ids"] = frozenset(rng.sample(ids, rng.randrange(2)))
            case "keys":
                found["keys"] = frozenset(_keys(rng, row))
            case "offsets":
                first = (row.get("offset") or 0) + rng.choice((-1, 0, 1))
                if rng.random() < 0.7:
                    found["first_offset"] = first
                if rng.random() < 0.7:
                    found["last_offset"] = first + rng.choice((0, 0, 1, 3))
            case "times":
                time = (row.get("timestamp") or 0) + rng.choice((-1, 0, 1))
                if rng.random() < 0.7:
                    found["since"] = time
                if rng.random() < 0.7:
                    found["until"] = time + rng.choice((0, 1, 2))
            case _:
                where = [where_of(rng, row) for _ in range(rng.choice((1, 1, 2)))]
                found["where"] = tuple(where)
    if not _is_in_range(found):
        return Filter()
    return Filter(**found)


def _is_in_range(found: Mapping[str, Any]) -> bool:
    numbers = [value for value in found.values() if isinstance(value, int)]
    return all(-(1 << 63) <= number < 1 << 63 for number in numbers)


def _keys(rng: Random, row: Mapping[str, Any]) -> list[str]:
    key = row.get("key")
    keys = [rng.choice(("group-1", "", "a", "0", "key"))]
    if isinstance(key, dict):
        keys += [value for value in key.values() if isinstance(value, str)]
        keys.append(text_of(key))
    elif key is not None:
        keys.append(str(key))
    return keys


def text_of(found: Any) -> str:
    """Return what a condition is compared with."""
    if isinstance(found, str):
        return found
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def where_of(rng: Random, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return a condition, which mostly holds for a row."""
    column = rng.choice(COLUMNS if rng.random() < 0.5 else ("value", "key", "headers"))
    found: Any = row.get(column)
    path = [column]
    while isinstance(found, dict | list) and found and rng.random() < 0.9:
        if isinstance(found, dict):
            name = rng.choice(list(found))
            path.append(name)
            found = found[name]
        else:
            at = rng.randrange(len(found))
            path.append(rng.choice((str(at), str(at), f"0{at}")))
            found = found[at]
    text = text_of(found)
    if rng.random() < 0.15:
        path.append(rng.choice(("nosuch", "0", "-1", "", "name", "٣")))
        text = rng.choice((text, "null"))
    if rng.random() < 0.2:
        text = rng.choice(
            ("", "null", "-1", "0", "0.0", "true", "[]", "{}", text + " ", text[:-1], '"' + text)
        )
    if path[1:] == [""]:
        path.pop()  # which `parse_where` should refuse
    return ".".join(path), text
