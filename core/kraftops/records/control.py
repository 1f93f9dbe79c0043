"""Control records: transaction markers and KRaft's records (Kafka's `ControlRecordType`)."""

from typing import NamedTuple

from kraftops.errors import DecodeError, Underflow
from kraftops.log.batch import Record
from kraftops.records.decoder import bounded_meaning, unread_meaning
from kraftops.records.meaning import UNKNOWN, Decoded, Meaning, Unknown, size_error, unknown_name
from kraftops.schema.compile import CompiledMessage, compiled
from kraftops.schema.message import Data, Message
from kraftops.schema.tables import messages

CONTROL_TYPES = (
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
)
"""The types of control records, which any log may have, by number."""

CONTROL = "control"
"""The kind of rows of control records."""

_MARKERS = (0, 1)  # of transactions: ABORT, COMMIT (`ControlRecordType`)
_TYPES = {
    2: ("LeaderChange: ", "LeaderChangeMessage"),
    3: ("SnapshotHeader ", "SnapshotHeaderRecord"),
    4: ("SnapshotFooter ", "SnapshotFooterRecord"),
    5: ("KRaftVersion ", "KRaftVersionRecord"),
    6: ("KRaftVoters ", "VotersRecord"),
}


def definitions() -> list[tuple[int, str, str | None, Message]]:
    """Return number, name, printed prefix and the value's message of each type.

    The prefix of a transaction marker is None.
    """
    by_name = messages("control")
    markers = [
        (number, CONTROL_TYPES[number], None, by_name["EndTxnMarker"]) for number in _MARKERS
    ]
    others = [
        (number, CONTROL_TYPES[number], label, by_name[name])
        for number, (label, name) in _TYPES.items()
    ]
    return [*markers, *others]


def control_text(key: bytes | None, value: bytes | None) -> str:
    """Return the text that Kafka's tool prints for a control record.

    Raises:
        DecodeError: Kafka's tool fails there.
    """
    number = control_type(key)
    if number not in _MARKERS and number not in _TYPES:
        return f"controlType: {unknown_name(number)}"
    if value is None:
        raise DecodeError("a control record without a value")
    if len(value) < 2:
        raise Underflow(f"a control record's value of {len(value)} bytes")
    version = int.from_bytes(value[:2], signed=True)
    if number in _MARKERS:
        if version < 0:
            raise DecodeError(f"a transaction marker of version {version}")
        if len(value) < 6:
            raise Underflow(f"a transaction marker of {len(value)} bytes")
        epoch = int.from_bytes(value[2:6], signed=True)
        return f"endTxnMarker: {CONTROL_TYPES[number]} coordinatorEpoch: {epoch}"
    label, name = _TYPES[number]
    return label + _message_text(messages("control")[name], value, version)


def decode(key: bytes | None, value: bytes | None, *, whole: bool = True) -> Decoded | Unknown:
    """Return the meaning of a control record; its type is Kafka's name, as KRAFT_VOTERS.

    Key and value may be views. Unless *whole* is set, lists of structs are empty.
    """
    error = size_error(key, value)
    if error is not None:
        return Unknown(error, value)
    decoded = _read(key, None if value is None else bytes(value), whole=whole)
    if isinstance(decoded, Unknown):
        return decoded
    return Decoded(decoded.type, decoded.version, decoded.data)


def decode_text(key: bytes | None, value: bytes | None) -> tuple[str, int, str] | Unknown:
    """Return type and version of a control record, and its fields as JSON."""
    decoded = _read(key, value, whole=False)
    if isinstance(decoded, Unknown):
        return decoded
    assert value is not None  # nothing can be read from it
    return decoded.type, decoded.version, decoded.face.text(value, decoded.start, decoded.end)


def _read_meaning(record: Record) -> Meaning:
    decoded = decode_text(record.key, record.value)
    if isinstance(decoded, Unknown):
        return unread_meaning(CONTROL, record, decoded.reason, decoded.type, decoded.version)
    name, version, text = decoded
    return Meaning(kind=CONTROL, type=name, version=version, key=None, value=text)


control_meaning = bounded_meaning(CONTROL, _read_meaning)
"""Return the meaning of a control record."""


def control_type_name(key: bytes | None) -> str:
    """Return the name of a control record's type; UNKNOWN(number) for an unknown one."""
    try:
        return control_name(control_type(key))
    except DecodeError:
        return UNKNOWN


def control_name(number: int) -> str:
    """Return the name of a type of control records; UNKNOWN(number) for an unknown one."""
    is_known = 0 <= number < len(CONTROL_TYPES)
    return CONTROL_TYPES[number] if is_known else unknown_name(number)


class _ControlRecord(NamedTuple):
    type: str
    version: int
    data: Data
    face: CompiledMessage
    start: int
    end: int


def _read(key: bytes | None, value: bytes | None, *, whole: bool) -> _ControlRecord | Unknown:
    number = None
    try:
        number = control_type(key)
        if not 0 <= number < len(CONTROL_TYPES):
            return Unknown(f"unknown control record type {number}", value, number)
        if value is None or len(value) < 2:
            return Unknown("a control record without a whole value", value, number)
        version = int.from_bytes(value[:2], signed=True)
        message = messages("control")["EndTxnMarker" if number in _MARKERS else _TYPES[number][1]]
        # In a marker the version precedes the fields; in all others it is the first field.
        start = 2 if number in _MARKERS else 0
        face = compiled(message, min(max(version, 0), message.versions.last or 0))
        data, end = (face.read if whole else face.outline)(value, start)
    except DecodeError as error:
        return Unknown(error.message, value, number)
    return _ControlRecord(
        type=CONTROL_TYPES[number], version=version, data=data, face=face, start=start, end=end
    )


def control_type(key: bytes | None) -> int:
    """Return the type in the key of a control record.

    Raises:
        DecodeError: the key holds none.
    """
    if key is None:
        raise DecodeError("a control record without a key")
    if len(key) < 4:
        raise Underflow(f"a control record's key of {len(key)} bytes")
    version = int.from_bytes(key[:2], signed=True)
    if version < 0:
        raise DecodeError(f"a control record's key of version {version}")
    return int.from_bytes(key[2:4], signed=True)


def _message_text(message: Message, value: bytes, version: int) -> str:
    # Kafka reads every version as version 0, and prints it as the version that is stated.
    face = compiled(message, 0)
    written_version = min(max(version, 0), message.versions.last or 0)
    if written_version:
        data, _ = face.read(value, 0)
        face = compiled(message, written_version)
        raw = face.write(data)
        return face.text(raw, 0, len(raw))
    _, end = face.outline(value, 0)
    return face.text(value, 0, end)
