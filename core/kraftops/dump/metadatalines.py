"""The lines of metadata records, straight from a batch's bytes.

Most of a record's framing repeats from record to record. The six bytes after its offset delta
hold the lengths of key and value and the numbers of the frame, so one look-up of them gives where
the payload begins and ends and a renderer (`kraftops.schema.text`) that has all constant text
built in. What does not fit is left to the general code, record by record: this loop need not be
right about odd input, it only has to notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

from kraftops.dump.meanings import id_fields
from kraftops.dump.otherrecords import odd_types, pass_others
from kraftops.dump.query import Query
from kraftops.dump.runs import Run
from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.memo import Memo
from kraftops.records.dialects import dialect, type_name
from kraftops.records.secrets import CONFIGURATION, SECRET_FIELDS, may_name_secret
from kraftops.schema.message import Message
from kraftops.schema.text import MALFORMED, RendererFactory, renderer_factory
from kraftops.varint import read_varint, varint_bytes

_FRAME = 6  # bytes looked up: a key length of one byte, a value length of up to two, the frame
_KEPT_DELTAS = 1 << 14
_LINE = "| offset: {offset}{time}{start}{{{data}}}}}\n"
_LINE_WITHOUT_METADATA = "{start}{{{data}}}}}\n"
_JSON = (
    '{head}{offset},"timestamp":{time}{start}{{{data}}},"topicId":{field:topicId},'
    '"partitionId":{field:partitionId},"brokerId":{field:brokerId},'
    '"keyEncoding":null,"valueEncoding":null,"error":null}}\n'
)
_PARAMETERS = "b, p, e, offset, time, head"
_FEW_PASSED = 8  # where no more are passed, those that are asked for are frequent
_TOGETHER = 64  # records that are looked at with those that are asked for, where these are frequent
_SAFE = 1 << 62  # no sum of a smaller number with a delta leaves int64

Line = Callable[[bytes, int, int, int, str, Any], Any]
"""Makes what is printed from a buffer, two positions in it, an offset, a time, and a head."""
LineMaker = Callable[[Message, int, int], Line | None]
"""Makes what prints the records of a message, a version and a size, if they can be printed here."""
_Fit = tuple[int, int, Line | None]
_UNFIT: _Fit = (0, 0, None)


class MetadataLines:
    """Prints runs of plain metadata records: no key, no headers, consecutive offsets."""

    def __init__(self, query: Query, make_line: LineMaker, time_labels: tuple[str, str]) -> None:
        """Print what *query* asks for, as *make_line* has it.

        *time_labels* stand before a time, that of creation and that of the batch's end.
        """
        self._dialect = dialect(query.dialect)
        self._query = query
        self._make_line = make_line
        self._time_labels = time_labels
        self._frames: Memo[_Fit] = Memo(self._fit)
        self._deltas: list[bytes] = []  # offset deltas from 0 on, as they are written
        self._odd_types = b""  # for `pass_others`: empty, none are passed
        if query.filter.types and query.dialect == "kafka":
            self._odd_types = odd_types(self._dialect, query.filter.types)

    def add(
        self, run: Run, append: Callable[[Any], None], head: Any = "", middle: str = ""
    ) -> tuple[int, int]:
        """Do what `FastLines.add` says, or `FastRows.add`."""
        _, p, done, _, header = run
        base_offset, attributes, first_time = header[0], header[5], header[7]
        if (
            header.base_sequence >= 0
            or attributes & v2.CONTROL
            or not (-_SAFE < base_offset < _SAFE and -_SAFE < first_time < _SAFE)
        ):
            return p, done
        if self._odd_types:
            return self._add_chosen(run, append, head, middle)
        return self._add_all(run, append, head, middle)

    def _add_chosen(
        self, run: Run, append: Callable[[Any], None], head: Any, middle: str
    ) -> tuple[int, int]:
        """Do what `add` does, and spend little on records of types that are not asked for."""
        b, p, done, stop, header = run
        while done < stop:
            before = done
            p, done = pass_others(b, p, done, stop, self._odd_types)
            if done == stop:
                break
            ahead = min(stop, done + (_TOGETHER if done - before <= _FEW_PASSED else 1))
            p, printed = self._add_all(Run(b, p, done, ahead, header), append, head, middle)
            if printed == done:
                break
            done = printed
        return p, done

    def _add_all(
        self, run: Run, append: Callable[[Any], None], head: Any, middle: str
    ) -> tuple[int, int]:
        b, p, done, stop, header = run
        base_offset, attributes = header.base_offset, header.attributes
        first_time, max_time = header.base_timestamp, header.max_timestamp
        frames = self._frames
        label, appended_label = self._time_labels
        appended_at = ""
        if attributes & v2.LOG_APPEND_TIME:
            appended_at = f"{appended_label}{max_time}{middle}"
        offset = base_offset + done
        deltas: Iterator[bytes] = islice(self._deltas, done, stop)
        if stop > len(self._deltas):
            deltas = self._more_deltas(done, stop)
        cached, time = -1, ""
        try:
            for delta in deltas:
                # The length in one or two bytes, an attribute byte, the timestamp delta.
                n = b[p]
                if n < 128:
                    q, e = p + 2, p + 1 + (n >> 1)
                else:
                    q, e = p + 3, p + 2 + ((n & 127 | b[p + 1] << 7) >> 1)
                t = b[q]
                q += 1
                if t > 127:
                    t |= b[q] << 8
                    q += 1
                if t != cached:
                    if t & 0x8001:  # negative, or longer than two bytes
                        break
                    cached = t
                    time = appended_at or (
                        f"{label}{first_time + ((t & 127 | t >> 8 << 7) >> 1)}{middle}"
                    )
                k = q + len(delta)
                start, size, line = frames[b[k : k + _FRAME]]
                if line is None or n & 1 or k + size != e or b[q:k] != delta or b[e - 1]:
                    break
                append(line(b, k + start, e - 1, offset, time, head))
                p = e
                offset += 1
        except MALFORMED:
            pass
        return p, offset - base_offset

    def _more_deltas(self, done: int, stop: int) -> Iterator[bytes]:
        """Return the offset deltas of records *done* to *stop*, and keep them if not too many."""
        if stop > _KEPT_DELTAS:
            return map(varint_bytes, range(done, stop))
        self._deltas += map(varint_bytes, range(len(self._deltas), stop))
        return islice(self._deltas, done, stop)

    def _fit(self, key: bytes) -> _Fit:
        """Return what the bytes after an offset delta say of the record."""
        if len(key) < _FRAME or key[0] != 1:  # a record with a key
            return _UNFIT
        try:
            size, pos = read_varint(key, 1)
            frame = self._dialect.read_frame(key[pos:])
            message = self._dialect.messages[frame.type]
        except (DecodeError, KeyError):
            return _UNFIT
        if size < frame.body or not message.versions.has(frame.version):
            return _UNFIT
        line: Line | None = _no_line
        if self._query.filter.fits_type(type_name(message)):
            line = self._make_line(message, frame.version, size)
        return (pos + frame.body, pos + size + 1, line) if line else _UNFIT


def text_lines(query: Query) -> MetadataLines:
    """Return what prints the lines of Kafka's tool."""

    def make(message: Message, version: int, size: int) -> Line:
        start = f'payload: {{"type":"{type_name(message)}","version":{version},"data":'
        template = _LINE_WITHOUT_METADATA
        if query.skip_record_metadata:
            start = f"| {start}"
        else:
            start = f" keySize: -1 valueSize: {size} sequence: -1 headerKeys: [] {start}"
            template = _LINE
        return _line_factory(message, version, template)(start)

    return MetadataLines(query, make, (" CreateTime: ", " LogAppendTime: "))


def json_lines(query: Query) -> MetadataLines:
    """Return what prints rows as JSON."""

    def make(message: Message, version: int, size: int) -> Line:
        start = (
            f'"keySize":null,"valueSize":{size},"headers":[],"kind":"metadata",'
            f'"type":"{type_name(message)}","version":{version},"key":null,"value":'
        )
        template = with_id_fields(_JSON, message)
        return _line_factory(message, version, template)(start)

    return MetadataLines(query, make if query.show_secrets else without_secrets(make), ("", ""))


def _no_line(*_: object) -> str:
    """Stand for the line of a record that is not asked for."""
    return ""


def without_secrets(make: LineMaker) -> LineMaker:
    """Return *make*, but for records that may hold secrets, which do not fit."""

    def make_others(message: Message, version: int, size: int) -> Line | None:
        if message.name in SECRET_FIELDS:
            return None
        line = make(message, version, size)
        return _unless_secret(line) if line and message.name == CONFIGURATION else line

    return make_others


def _unless_secret(line: Line) -> Line:
    def guarded(b: bytes, p: int, e: int, offset: int, time: str, head: Any) -> Any:
        if may_name_secret(b, p, e):
            raise DecodeError("secret")
        return line(b, p, e, offset, time, head)

    return guarded


def with_id_fields(template: str, message: Message) -> str:
    """Return a template for renderers, in which columns of ids become fields of a message."""
    for column, field in id_fields(message).items():
        template = template.replace(f"{{field:{column}}}", f"{{field:{field}}}")
    return template


@cache
def _line_factory(message: Message, version: int, template: str) -> RendererFactory:
    return renderer_factory(message, version, template, _PARAMETERS, short_arrays=True)
