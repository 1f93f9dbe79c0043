"""Random keys and values of all decoders, from a seed, correct and wrong.

Parts of texts, numbers and ids come from small sets, so that filters find some.
"""

import json
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from kraftops.records.dialects import dialect
from kraftops.schema.message import Field, Message
from tests.helpers.kafka.cases.mutations import INTS, LONGS, mutated
from tests.helpers.logs.coordinators import COORDINATORS, messages
from tests.helpers.logs.messages import fields_of, is_flexible, table, uvarint, versions_of

DIALECTS = ("kafka", "kip-631", "kip-631-draft")
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
SMALL_NUMBERS = (0, 1, 2, 3, -1, 7)
Payload = tuple[bytes | None, bytes | None]
"""A key and a value."""


class Kind(NamedTuple):
    """A decoder, and the dialect of the metadata log."""

    decoder: str | None
    dialect: str


def text_bytes(rng: Random, *, is_bad: bool = True) -> bytes:
    """Return the bytes of a text, rarely bad UTF-8."""
    chance = rng.random()
    if is_bad and chance < 0.06:
        return rng.choice(BAD_TEXTS) + rng.choice((b"", b"z", *BAD_TEXTS))
    if chance < 0.3:
        return "".join(chr(rng.randrange(0x20, 0x250)) for _ in range(rng.randrange(8))).encode()
    return rng.choice(_TEXTS).encode()


def value_bytes(rng: Random, field: Field, *, flexible: bool, odd: float) -> bytes:
    """Return one value of the type of a field, without lengths of arrays."""
    if field.type in _WIDTHS:
        return _number_bytes(rng, field.type, odd)
    if field.type == "float64":
        if rng.random() < 0.3:
            return rng.randbytes(8)
        return struct.pack(">d", rng.choice((*_DOUBLES, float("nan"), float("inf"), -float("inf"))))
    if field.type == "uuid":
        return rng.choice(IDS) if rng.random() < 0.8 else rng.randbytes(16)
    if field.type == "string":
        raw = text_bytes(rng)
        return length_bytes(len(raw), ">h", flexible=flexible) + raw
    raw = rng.randbytes(rng.choice((0, 1, 3, 8, 8, 130)))
    if field.name in ("subscription", "assignment") and rng.random() < 0.8:
        raw = _consumer_bytes(rng, field.name, odd)
    return length_bytes(len(raw), ">i", flexible=flexible) + raw


def _number_bytes(rng: Random, kind: str, odd: float) -> bytes:
    width = _WIDTHS[kind]
    if kind == "bool" and rng.random() > odd:
        return rng.choice((b"\0", b"\1"))
    number = rng.choice(SMALL_NUMBERS)
    if rng.random() < 0.3:
        number = rng.choice((*INTS, *LONGS, rng.getrandbits(64)))
    return (number & ((1 << 8 * width) - 1)).to_bytes(width)


def _consumer_bytes(rng: Random, name: str, odd: float) -> bytes:
    """Return the bytes that a consumer gives to its classic group."""
    message = table("consumer")[f"ConsumerProtocol{name.title()}"]
    version = rng.choice(versions_of(message))
    stated = rng.choice((-1, 4, 99)) if rng.random() < 0.1 else version
    raw = struct.pack(">h", stated) + message_bytes(rng, message, version, odd=odd)
    return mutated(rng, raw) if rng.random() < 0.2 + odd else raw + rng.choice((b"", b"", b"\0\1"))


def length_bytes(length: int, code: str, *, flexible: bool) -> bytes:
    """Return a length as it is written; -1 is null."""
    return uvarint(length + 1 & 0xFFFFFFFF) if flexible else struct.pack(code, length)


def message_bytes(rng: Random, message: Message, version: int, *, odd: float = 0.0) -> bytes:
    """Return random bytes of a message version that its readers take; *odd* is the share of errors."""
    return _Writer(rng, version, odd, flexible=is_flexible(message, version)).struct(message.fields)


class _Writer:
    """The writer of random values of a message version."""

    def __init__(self, rng: Random, version: int, odd: float, *, flexible: bool) -> None:
        self.rng = rng
        self.version = version
        self.odd = odd
        self.flexible = flexible

    def struct(self, fields: Sequence[Field], depth: int = 0) -> bytes:
        """Return a struct."""
        present = fields_of(tuple(fields), self.version)
        plain = [field for field in present if field.tag is None]
        out = b"".join(self._value(field, depth) for field in plain)
        if not self.flexible:
            return out
        tags = [pair for field in present for pair in self._tagged(field, depth)]
        return out + self._tag_section(tags, [one for one in fields if one not in present])

    def _tagged(self, field: Field, depth: int) -> Iterator[tuple[int, bytes]]:
        """Yield a tagged field: mostly once or never."""
        if field.tag is None:
            return
        times = self.rng.choices((0, 1, 2, 3), (10, 10, 1 + self.odd, self.odd))[0]
        for _ in range(times):
            raw = self._value(field, depth)
            if self.rng.random() < 0.3:
                raw = default_bytes(field, self.version)
            yield field.tag, raw

    def _tag_section(self, tags: list[tuple[int, bytes]], absent_fields: Sequence[Field]) -> bytes:
        rng, odd = self.rng, self.odd
        if rng.random() < 0.15:
            unknown = rng.choice((5, 9, 40, 63, 64, 65, 127, 128, 300, 1 << 20))
            tags.append((unknown, rng.randbytes(rng.randrange(4))))
        absent = [field.tag for field in absent_fields if field.tag is not None]
        if absent and rng.random() < 0.02 + odd:
            tags.append((rng.choice(absent), b"\0"))
        if rng.random() < 0.7:
            tags.sort(key=lambda pair: pair[0])
        else:
            rng.shuffle(tags)
        out = uvarint(len(tags))
        for tag, raw in tags:
            size = len(raw)
            if rng.random() < odd:
                size = rng.choice((0, 1, size + 1, 1 << 31, (1 << 32) - 1))
            out += uvarint(tag) + uvarint(size) + raw
        return out

    def _value(self, field: Field, depth: int) -> bytes:
        rng, odd, flexible = self.rng, self.odd, self.flexible
        is_null = rng.random() < (0.25 if field.nullable else odd / 4)
        if field.array:
            return (
                length_bytes(-1, ">i", flexible=flexible) if is_null else self._array(field, depth)
            )
        if field.is_struct and field.nullable:
            if is_null:
                return rng.choice((b"\xff", b"\x80")) if field.tag is None else b"\0"
            return b"\1" + self._element(field, depth)
        if is_null and field.type in ("string", "bytes"):
            return length_bytes(-1, ">h" if field.type == "string" else ">i", flexible=flexible)
        return self._element(field, depth)

    def _array(self, field: Field, depth: int) -> bytes:
        rng, odd = self.rng, self.odd
        count = rng.choice((0, 1, 1, 2, 3, 3)) if depth < 3 else rng.choice((0, 0, 1))
        if not field.is_struct and rng.random() < 0.03:
            count = rng.choice((63, 64, 126, 127, 130))
        stated = count
        if rng.random() < odd / 4:
            stated = rng.choice((count + 1, 1 << 20, 0x7FFFFFFE, -2))
        items = b"".join(self._element(field, depth) for _ in range(count))
        return length_bytes(stated, ">i", flexible=self.flexible) + items

    def _element(self, field: Field, depth: int) -> bytes:
        if field.is_struct:
            return self.struct(field.fields, depth + 1)
        return value_bytes(self.rng, field, flexible=self.flexible, odd=self.odd)


def default_bytes(field: Field, version: int) -> bytes:
    """Return the default of a tagged field, which no writer needs to write."""
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
    """Return the frame of a value."""
    lead = {"kafka": b"\1", "kip-631": b"\0", "kip-631-draft": b""}[dialect_name]
    return lead + uvarint(number & 0xFFFFFFFF) + uvarint(version & 0xFFFFFFFF)


@cache
def framed_messages(decoder: str, dialect_name: str) -> tuple[tuple[int, Message], ...]:
    """Return the messages of a framed decoder by number."""
    framing = dialect("remote-log-metadata" if decoder == "remote" else dialect_name)
    return tuple(framing.messages.items())


def framed_value(
    rng: Random, kind: Kind, type_version: tuple[int, int], message: Message, odd: float
) -> bytes:
    """Return a framed value; *type_version* are the numbers in the frame."""
    number, version = type_version
    framing = "kafka" if kind.decoder == "remote" else kind.dialect
    raw = frame_bytes(framing, number, version)
    nearest = min(max(version, message.versions.first), message.versions.last or 0)
    raw += message_bytes(rng, message, nearest, odd=odd)
    if rng.random() < 0.03 + odd / 4:
        raw += rng.randbytes(rng.randrange(1, 4))
    return raw


def payload(rng: Random, kind: Kind, odd: float) -> Payload:
    """Return key and value for a decoder."""
    if kind.decoder in ("metadata", "remote"):
        return _framed_payload(rng, kind, odd)
    if kind.decoder in COORDINATORS:
        return _keyed_payload(rng, kind.decoder, odd)
    return user_bytes(rng), user_bytes(rng)


def _framed_payload(rng: Random, kind: Kind, odd: float) -> Payload:
    number, message = rng.choice(framed_messages(kind.decoder or "", kind.dialect))
    version = rng.choice(versions_of(message))
    if rng.random() < 0.03 + odd / 4:
        version = rng.choice((-1, version + 1, 99, 0x7FFF))
    if rng.random() < odd / 4:
        number = rng.choice((number + 1, 99, 300, 0x7FFF, 0x8000, -1))
    key = rng.choice((None, None, None, b"", b"key", b"\xff"))
    value: bytes | None = framed_value(rng, kind, (number, version), message, odd)
    if rng.random() < odd / 2:
        assert value is not None
        value = rng.choice((None, b"", mutated(rng, value), mutated(rng, value)))
    return key, value


def _keyed_payload(rng: Random, decoder: str, odd: float) -> Payload:
    number = rng.choice(list(messages(decoder)))
    key_message, value_message = messages(decoder)[number]
    version = rng.choice(versions_of(value_message))
    key: bytes | None = struct.pack(">h", number) + message_bytes(rng, key_message, 0, odd=odd)
    value = _coordinator_value(rng, value_message, version, odd)
    assert key is not None
    if rng.random() < odd / 4:
        key = struct.pack(">h", rng.choice((-1, number + 1, 99, 300))) + key[2:]
    if rng.random() < odd / 2:
        key = rng.choice((None, b"", b"\0", mutated(rng, key), mutated(rng, key)))
    if rng.random() < odd / 2 and value is not None:
        value = rng.choice((b"", b"\0", mutated(rng, value), mutated(rng, value)))
    return key, value


def _coordinator_value(rng: Random, message: Message, version: int, odd: float) -> bytes | None:
    value = struct.pack(">h", version) + message_bytes(rng, message, version, odd=odd)
    if message.name == "GroupMetadataValue" and rng.random() < 0.7:
        value = _of_consumers(rng, message, version, odd)
    if rng.random() < 0.15:
        return None
    if rng.random() < 0.03 + odd / 4:
        value = struct.pack(">h", rng.choice((-1, version + 1, 99))) + value[2:]
    return value


def _of_consumers(rng: Random, message: Message, version: int, odd: float) -> bytes:
    _, *others = fields_of(message.fields, version)
    flexible = is_flexible(message, version)
    raw = length_bytes(8, ">h", flexible=flexible) + b"consumer"
    writer = _Writer(rng, version, odd, flexible=flexible)
    return struct.pack(">h", version) + raw + writer.struct(others)


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
        return json.dumps({"topic": rng.choice(TOPICS), "n": rng.choice(SMALL_NUMBERS)}).encode()
    return text_bytes(rng)


def control_payload(rng: Random, odd: float) -> Payload:
    """Return key and value of a control record."""
    number = rng.choice((0, 1, 2, 3, 4, 5, 6))
    key: bytes | None = struct.pack(">hh", rng.choice((0, 0, 0, 1, 5)), number)
    message = table("control")[CONTROL_MESSAGES[number]]
    version = rng.choice((0, 0, 1, *versions_of(message)))
    body = message_bytes(rng, message, min(version, message.versions.last or 0), odd=odd)
    # A marker has its version before its fields, the others as their first field.
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
