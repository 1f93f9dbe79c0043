"""The compiled engine: what it is told of messages, and its scans.

`_native` knows no message. It is given the tables of `kraftops.schema.tables`, and what
`kraftops.records` has as data beside them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from kraftops.engine import _native
from kraftops.engine.scan_contract import Column, Note, Outcome, Request
from kraftops.errors import DecodeError, KraftopsError
from kraftops.log.codecs import decompress
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS, file_text, id_fields
from kraftops.records.control import definitions
from kraftops.records.decoders.user import DECODERS
from kraftops.records.dialects import dialect, type_name
from kraftops.records.secrets import CONFIGURATION, PUBLIC_SUFFIXES, SECRET_FIELDS, SECRET_WORDS
from kraftops.schema.message import Message

_REMOTE = "remote-log-metadata"
_ID_SLOTS = {"topicId": 0, "partitionId": 1, "brokerId": 2}
_NAME_SLOT = 3
_USER_FORMS = dict(zip(DECODERS, ("text", "int32", "int64", "hex"), strict=True))
_CONSUMER = '{"protocolType":"consumer",'
_NO_UNTIL = 1 << 63


def scan(request: Request) -> NativeScan:
    """Return a scan of one file by the compiled engine."""
    return NativeScan(request)


def count_framed(
    decoder: str, dialect_name: str, buffer: bytes, pos: int, count: int
) -> list[tuple[int | None, int | None, int, int]]:
    """Count records by their frames; see `kraftops.engine.reference.counting.count_framed`.

    Raises:
        DecodeError: the records do not take all bytes from *pos* on.
    """
    found = _framed(decoder, dialect_name).count(buffer, pos, count)
    if found is None:
        from kraftops.engine.reference.counting import count_framed as explain

        return explain(decoder, dialect_name, buffer, pos, count)
    return found


class NativeScan:
    """Reads the batches of one file; a `kraftops.engine.scan_contract.Scan`."""

    def __init__(self, request: Request) -> None:
        """Read as *request* says."""
        query = request.query
        limit = query.max_inflated_bytes

        def inflate(codec: int, data: bytes) -> bytes | None:
            try:
                return decompress(codec, data, limit)
            except (DecodeError, MemoryError):
                return None  # the reference says why

        self._scan = _native.Scan(_decoder(query), _control(), inflate, _described(request))

    @property
    def first_offset(self) -> int | None:
        """See `Scan`."""
        return self._scan.first_offset

    @first_offset.setter
    def first_offset(self, offset: int | None) -> None:
        self._scan.first_offset = offset

    @property
    def last_offset(self) -> int | None:
        """See `Scan`."""
        return self._scan.last_offset

    @last_offset.setter
    def last_offset(self, offset: int | None) -> None:
        self._scan.last_offset = offset

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        """Read the whole batches in *data*; see `Scan.feed`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        try:
            made = self._scan.feed(data, start, position)
        except RuntimeError as error:
            raise KraftopsError(
                f"at byte {position}: {error}", hint="KRAFTOPS_ENGINE=reference reads it slower"
            ) from error
        out, following, why, notes, gaps, marks, rows, columns = made
        table = None
        if columns is not None:
            table = {name: Column(*buffers) for name, buffers in columns.items()}
        return Outcome(
            out, following, why, [Note(*note) for note in notes], gaps, marks, rows, table
        )


def _described(request: Request) -> dict[str, Any]:
    query = request.query
    columns = COLUMNS if query.columns is None else query.columns
    return {
        "form": "columns" if query.form == "parquet" else query.form,
        "deep": query.deep_iteration,
        "skip_metadata": query.skip_record_metadata,
        "payload": query.decoder is not None,
        "check": query.check,
        "chosen": request.is_chosen,
        "marks": request.marks,
        "file": file_text(request.path).encode(),
        "columns": [name for name in COLUMNS if name in columns],
        "secrets": None if query.show_secrets else (list(SECRET_WORDS), list(PUBLIC_SUFFIXES)),
        **_selection(query.filter),
    }


def _selection(asked: Filter) -> dict[str, Any]:
    return {
        "types": list(asked.types),
        "offsets": (asked.first_offset, asked.last_offset),
        "times": (asked.since, None if asked.until >= _NO_UNTIL else asked.until),
        "keys": list(map(_bytes, asked.keys)),
        "topics": list(map(_bytes, asked.topics)),
        "topic_ids": list(map(_bytes, asked.topic_ids)),
        "where": [(_bytes(path), _bytes(text)) for path, text in asked.where],
    }


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _decoder(query: Query) -> _native.Decoder:
    decoder = query.decoder
    if decoder in ("metadata", "remote"):
        return _framed(decoder, query.dialect)
    if decoder not in (None, "user"):
        return _keyed(decoder)
    return _user(query.key_decoder, query.value_decoder)


@cache
def _user(key: str, value: str) -> _native.Decoder:
    return _native.Decoder({"form": "user", "key": _USER_FORMS[key], "value": _USER_FORMS[value]})


@cache
def _framed(decoder: str, dialect_name: str) -> _native.Decoder:
    is_remote = decoder == "remote"
    spoken = dialect(_REMOTE if is_remote else dialect_name)
    texts = _texts() if is_remote else {}
    return _native.Decoder(
        {
            "form": "framed",
            "kind": decoder,
            "framing": "kafka" if is_remote else dialect_name,
            "types": [
                {
                    "number": number,
                    "name": type_name(message),
                    "message": message,
                    "slots": _slots(message),
                    "secret": _secret_fields(message),
                    "by_name": message.name == CONFIGURATION,
                    "text": texts.get(number),
                }
                for number, message in spoken.messages.items()
            ],
        }
    )


def _slots(message: Message) -> list[tuple[str, int]]:
    slots = [(field, _ID_SLOTS[column]) for column, field in id_fields(message).items()]
    return [*slots, ("name", _NAME_SLOT)] if message.name == CONFIGURATION else slots


def _secret_fields(message: Message) -> list[str]:
    if message.name == CONFIGURATION:
        return ["value"]
    return sorted(SECRET_FIELDS.get(message.name, ()))


def _texts() -> dict[int, tuple[list[Any], list[Any]]]:
    """Return the pieces of the text of each type, and what is refused; states with their names."""
    from kraftops.records import remote_text as remote

    states = {
        "segment state": ",".join(remote.SEGMENT_STATES),
        "partition state": ",".join(remote.PARTITION_STATES),
    }

    def named(form: str) -> str:
        return f"{form}:{states[form]}" if form in states else form

    def pieces(text: tuple[remote.Piece, ...]) -> list[Any]:
        return [
            piece if isinstance(piece, str) else (list(piece[0]), named(piece[1])) for piece in text
        ]

    return {
        number: (
            pieces(text),
            [
                (named(test.removeprefix("no ")), field, other, pieces(reason))
                for test, field, other, reason in remote.REFUSALS[number]
            ],
        )
        for number, text in remote.TEXTS.items()
    }


@cache
def _keyed(decoder: str) -> _native.Decoder:
    from kraftops.records.decoders.keyed import messages, type_names

    names = type_names(decoder)
    return _native.Decoder(
        {
            "form": "keyed",
            "kind": decoder,
            "types": [
                {
                    "number": number,
                    "name": names[number],
                    "key": key,
                    "value": value,
                    "embedded": _embedded(value),
                }
                for number, (key, value) in messages(decoder).items()
            ],
        }
    )


def _embedded(message: Message) -> tuple[str, list[tuple[str, Message]]] | None:
    """Return what a value begins with whose members hold messages of their own, and which."""
    if message.name != "GroupMetadataValue":
        return None
    protocol = import_module("kraftops.schema.tables.consumer").MESSAGES
    return _CONSUMER, [
        ("subscription", protocol["ConsumerProtocolSubscription"]),
        ("assignment", protocol["ConsumerProtocolAssignment"]),
    ]


@cache
def _control() -> _native.Control:
    return _native.Control(definitions())
