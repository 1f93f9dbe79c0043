"""Requests and answers as bytes, by the message definitions and the field codec of kafka-python.

Its message classes are not used: they share a registry with the KafkaConsumer of a program that
imports this library.
"""

import struct
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from kraftops.errors import DecodeError
from kraftops.varint import read_uvarint

Answer = Any
"""An answer: a container of kafka-python, with fields in snake case."""

API_VERSIONS = 18  # `ApiKeys.API_VERSIONS`, whose answer has a header of its own (KIP-511)
OUR_DEFINITIONS = "kraftops.wire.messages"
_OURS = ("AddRaftVoter", "FetchSnapshot", "RemoveRaftVoter", "UnregisterBroker")
_HEAD = struct.Struct(">hhih")
# Errors of the codec on malformed bytes.
_MALFORMED = (
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    struct.error,
    TypeError,
    ValueError,
)


_NeverNull = Sequence[tuple[str, "_NeverNull | None"]]
"""The non-nullable strings and arrays of a struct; for an array of structs, also their fields."""


class Definition:
    """All versions of a request or an answer."""

    def __init__(self, name: str) -> None:
        """Load the definition *name*, as `FetchRequest`."""
        import warnings

        package = OUR_DEFINITIONS if name.startswith(_OURS) else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of importlib.resources
            # heavy: 50 ms
            from kafka.protocol.data_container import DataContainer
            from kafka.protocol.schemas import BaseField, StructField, load_json
            from kafka.protocol.schemas.fields.codecs import TaggedFields

            if not __debug__:
                TaggedFields.decode_empty = _decode_no_tags
            definition = load_json(name, package=package)
        self.key: int = definition["apiKey"]
        self.first, self.last = BaseField.parse_versions(definition["validVersions"])
        self._flexible = BaseField.parse_versions(definition["flexibleVersions"])
        self._struct = StructField(definition)
        self._checks: dict[int, _NeverNull] = {}
        self._container = type(name, (DataContainer,), {"_struct": self._struct})

    def is_flexible(self, version: int) -> bool:
        """Tell whether *version* has compact lengths and tagged fields (KIP-482)."""
        first, last = self._flexible
        return bool(first <= version <= last)

    def encode(self, version: int, values: Mapping[str, object]) -> bytes:
        """Encode a body; fields that *values* lacks have Kafka's defaults."""
        flexible = self.is_flexible(version)
        body: bytes = self._struct.encode(
            _with_defaults(self._struct, values), version=version, compact=flexible, tagged=flexible
        )
        return body

    def decode(self, version: int, data: memoryview) -> tuple[Answer, int]:
        """Decode a body; the number is the position after it.

        Raises:
            ValueError, or another error of the codec: it is malformed, or has a forbidden null.
        """
        flexible = self.is_flexible(version)
        read = self._struct.compiled_decode_from(
            version, compact=flexible, tagged=flexible, data_class=self._container
        )
        answer: tuple[Answer, int] = read(data, 0)
        _refuse_nulls(answer[0], self._never_null(version))
        return answer

    def _never_null(self, version: int) -> _NeverNull:
        if version not in self._checks:
            self._checks[version] = _never_null(self._struct, version)
        return self._checks[version]


@cache
def definition(name: str) -> Definition:
    """Load a definition (`FetchRequest`) on first use, and keep it."""
    return Definition(name)


def _decode_no_tags(data: Any) -> None:
    """Read that there are no tagged fields: kafka-python does it in an assertion (`python -O`)."""
    if data.read(1) != b"\0":
        raise ValueError("tagged fields where there can be none")


def _never_null(fields: Any, version: int) -> _NeverNull:
    return [
        (name, _never_null(field, version) if field.is_struct_array() else None)
        for name, field in fields.fields.items()
        if field.tag is None
        and field.for_version_q(version)
        and (field.is_array() or field.is_struct_array() or field.type_str == "string")
        and not field.nullable_for_version_q(version)
    ]


def _refuse_nulls(container: Answer, checks: _NeverNull) -> None:
    """Refuse nulls in non-nullable fields, which the codec accepts."""
    for name, inner in checks:
        value = getattr(container, name)
        if value is None:
            raise ValueError(name)
        for member in value if inner else ():
            _refuse_nulls(member, inner or ())


def _with_defaults(fields: Any, values: Mapping[str, object]) -> dict[str, object]:
    """Return *values* with defaults for the missing fields that are not tagged."""
    filled: dict[str, object] = {}
    for name, field in fields.fields.items():
        value = values.get(name)
        if name not in values:
            if field.tag is None:
                filled[name] = field.default
        elif field.is_struct_array() and isinstance(value, list):
            filled[name] = [_with_defaults(field, item) for item in value]
        else:
            filled[name] = value
    return filled


def encode_request(
    api: str, version: int, correlation: int, client_id: str, values: Mapping[str, object]
) -> bytes:
    """Encode a request of an API (`Fetch`) with its header, without the frame's length."""
    request = definition(f"{api}Request")
    client = client_id.encode("utf-8", "replace")
    head = _HEAD.pack(request.key, version, correlation, len(client)) + client
    if request.is_flexible(version):
        head += b"\0"
    payload = head + request.encode(version, values)
    return len(payload).to_bytes(4, "big") + payload


def decode_answer(api: str, version: int, correlation: int, payload: bytes | bytearray) -> Answer:
    """Decode an answer with its header; it must be that to request *correlation*.

    Raises:
        DecodeError: it is malformed, or the answer to another request.
    """
    response = definition(f"{api}Response")
    data = memoryview(payload)
    if len(payload) < 4:
        raise DecodeError(f"an answer of {len(payload)} bytes")
    answered = int.from_bytes(data[:4], signed=True)
    if answered != correlation:
        raise DecodeError(f"an answer to request {answered}, where {correlation} was asked")
    body = data[4:]
    is_refused = response.key == API_VERSIONS and len(body) > 1 and any(body[:2])
    try:
        if is_refused:
            version = 0  # KIP-511: a server that does not know the version answers in the oldest
        elif response.is_flexible(version) and response.key != API_VERSIONS:
            body = body[_end_of_tags(body) :]
        answer, end = response.decode(version, body)
    except _MALFORMED as error:
        raise DecodeError(f"an answer to {api} that cannot be read") from error
    if end != len(body):
        raise DecodeError(f"an answer to {api} of {len(body)} bytes whose fields take {end}")
    return answer


def _end_of_tags(body: memoryview) -> int:
    """Skip the tagged fields of a response header (KIP-482): none is defined yet."""
    raw = bytes(body[:256])
    count, pos = read_uvarint(raw, 0)
    for _ in range(count):
        _, pos = read_uvarint(raw, pos)
        size, pos = read_uvarint(raw, pos)
        if size < 0:
            raise DecodeError("a tagged field of a negative size")
        pos += size
    return pos
