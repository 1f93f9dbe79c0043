"""Records of the cluster metadata log, in Kafka's framing or a dialect's.

The texts are those of Kafka's `DumpLogSegments` and `MetadataRecordSerde`.
"""

from kraftops.errors import DecodeError
from kraftops.records.dialects import Dialect, dialect, type_name
from kraftops.records.meaning import Decoded, Unknown
from kraftops.schema.compile import compiled
from kraftops.schema.read import Data
from kraftops.schema.text import MALFORMED


def decode(value: bytes | None, dialect_name: str = "kafka") -> Decoded | Unknown:
    """Return the meaning of a record's value."""
    found = read_body(value, dialect(dialect_name))
    if isinstance(found, Unknown):
        return found
    number, version, data = found
    return Decoded(type_name(dialect(dialect_name).messages[number]), version, data)


def read_body(value: bytes | None, spoken: Dialect) -> tuple[int, int, Data] | Unknown:
    """Return type, version and data of a framed value; the reason of an unknown is Kafka's."""
    try:
        frame = spoken.read_frame(value or b"")
    except DecodeError as error:
        return Unknown(error.message, value)
    assert value is not None  # no frame can be read from nothing
    message = spoken.messages.get(frame.type)
    if message is None:
        return Unknown(
            "org.apache.kafka.common.errors.UnsupportedVersionException: "
            f"Unknown metadata id {frame.type}",
            value,
            frame.type,
            frame.version,
        )
    failed = f"Failed to deserialize record with type {frame.type}"
    if not message.versions.has(frame.version):
        return Unknown(failed, value, frame.type, frame.version)
    try:
        data, end = compiled(message, frame.version).read(value, frame.body)
    except DecodeError:
        return Unknown(failed, value, frame.type, frame.version)
    if end < len(value):
        garbage = f"Found {len(value) - end} byte(s) of garbage after {frame.type}"
        return Unknown(garbage, value, frame.type, frame.version)
    return frame.type, frame.version, data


def payload_text(value: bytes | None, offset: int, spoken: Dialect) -> str:
    """Return what Kafka's tool prints of a value: JSON, or why there is none."""
    raw = value or b""
    try:
        frame = spoken.read_frame(raw)
        message = spoken.messages[frame.type]
        data = compiled(message, frame.version).text(raw, frame.body, len(raw))
    except (*MALFORMED, KeyError):
        unknown = read_body(value, spoken)
        assert isinstance(unknown, Unknown), f"the faces disagree about {raw!r}"
        return f"Error at {offset}, skipping. {unknown.reason}"
    return f'{{"type":"{type_name(message)}","version":{frame.version},"data":{data}}}'
