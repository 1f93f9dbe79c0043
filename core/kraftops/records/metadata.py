"""Records of the cluster metadata log, in Kafka's framing or a dialect's.

The texts are from Kafka's `DumpLogSegments` and `MetadataRecordSerde`.
"""

from kraftops.errors import DecodeError
from kraftops.records.dialects import KAFKA_DIALECT, Dialect, dialect, type_name
from kraftops.records.meaning import Decoded, Unknown
from kraftops.schema.compile import MALFORMED, compiled
from kraftops.schema.message import Data, Message


def decode(value: bytes | None, dialect_name: str = KAFKA_DIALECT) -> Decoded | Unknown:
    framing = dialect(dialect_name)
    body = read_body(value, framing)
    if isinstance(body, Unknown):
        return body
    number, version, data = body
    message = framing.messages[number]
    if not message.versions.has(version):
        return Unknown(f"unknown version {version} of {message.name}", value, number, version)
    return Decoded(type_name(message), version, data)


def read_body(
    value: bytes | None, framing: Dialect, *, whole: bool = True
) -> tuple[int, int, Data] | Unknown:
    """Return type, version and data of a framed value; an `Unknown` has Kafka's reason.

    Unless *whole* is set, lists of structs are empty.
    """
    try:
        frame = framing.read_frame(value or b"")
    except DecodeError as error:
        return Unknown(error.message, value)
    assert value is not None  # no frame can be read from nothing
    message = framing.messages.get(frame.type)
    if message is None:
        return Unknown(
            "org.apache.kafka.common.errors.UnsupportedVersionException: "
            f"Unknown metadata id {frame.type}",
            value,
            frame.type,
            frame.version,
        )
    version = _nearest(message, frame.version)
    failed = Unknown(
        f"Failed to deserialize record with type {frame.type}", value, frame.type, frame.version
    )
    face = compiled(message, version)
    read = face.read if whole or frame.version > version else face.outline
    try:
        data, end = read(value, frame.body)
    except DecodeError:
        return failed
    if frame.version > version and _has_structs(message, data):
        return failed
    if end < len(value):
        garbage = f"Found {len(value) - end} byte(s) of garbage after {frame.type}"
        return Unknown(garbage, value, frame.type, frame.version)
    return frame.type, frame.version, data


def payload_text(value: bytes | None, offset: int, framing: Dialect) -> str:
    """Return Kafka's text of a value: JSON, or the reason why there is none."""
    raw = value or b""
    try:
        frame = framing.read_frame(raw)
        message = framing.messages[frame.type]
        version = _nearest(message, frame.version)
        data = compiled(message, version).text(raw, frame.body, len(raw))
        is_known = frame.version == version
    except (*MALFORMED, KeyError):
        is_known = False
    if not is_known:
        body = read_body(value, framing)
        if isinstance(body, Unknown):
            return f"Error at {offset}, skipping. {body.reason}"
    return f'{{"type":"{type_name(message)}","version":{frame.version},"data":{data}}}'


def _nearest(message: Message, version: int) -> int:
    """Return the known version that is nearest to *version*: Kafka reads an unknown one so.

    Kafka's generated readers check the version only for a struct inside the message.
    """
    last = message.versions.last
    assert last is not None
    return min(max(version, message.versions.first), last)


def _has_structs(message: Message, data: Data) -> bool:
    return any(data.get(field.name) for field in message.fields if field.is_struct)
