"""Generate writers: plain data of a message version to bytes, as Kafka writes them.

A missing field is written as its default; a tagged field that equals its default is left out. The
unknown tagged fields that `kraftops.schema.codegen.read` has kept are written back.
"""

import struct
from collections.abc import Callable, Mapping, Sequence

from kraftops.schema.codegen.read import default_data
from kraftops.schema.codegen.source import Source, fixed_runs, struct_of
from kraftops.schema.message import SCALARS, UNKNOWN_TAGS, Field, Message, present
from kraftops.varint import uvarint_bytes

Writer = Callable[[Mapping[str, object]], bytes]


def writer(message: Message, version: int) -> Writer:
    """Return a function of plain data to bytes.

    It raises `struct.error` for a number out of range and `TypeError` for null where the version
    has none.
    """
    return _Generator(message, version).writer()


class _Generator:
    """Generator of the source of one writer."""

    def __init__(self, message: Message, version: int) -> None:
        self._message = message
        self._version = version
        self._is_flexible = message.is_flexible(version)
        self._source = Source(
            {
                "array_length": _compact_length if self._is_flexible else struct.Struct(">i").pack,
                "string": _compact_string if self._is_flexible else _string,
                "bytes_": _compact_bytes if self._is_flexible else _bytes,
                "fixed_array": _fixed_array,
                "tag_section": _tag_section,
            }
        )

    def writer(self) -> Writer:
        self._source.add(0, "def write(d):", "    out = []")
        self._add_struct(1, "d", "out", self._message.fields)
        self._source.add(1, "return b''.join(out)")
        return self._source.function("write")

    def _add_struct(self, depth: int, data: str, out: str, fields: tuple[Field, ...]) -> None:
        """Add code that appends the struct in the dict *data* to the list *out*."""
        source, fields_here = self._source, present(fields, self._version)
        for run in fixed_runs([field for field in fields_here if field.tag is None]):
            if run[0].is_fixed:
                pack = source.name("pack", struct_of(run).pack)
                values = ", ".join(f"{data}.get({f.name!r}, {f.default!r})" for f in run)
                source.add(depth, f"{out}.append({pack}({values}))")
            else:
                value = source.name("v")
                source.add(depth, f"{value} = {data}.get({run[0].name!r}, {run[0].default!r})")
                self._add_value(depth, run[0], value, out)
        if self._is_flexible:
            tagged = [field for field in fields_here if field.tag is not None]
            self._add_tags(depth, data, out, tagged)

    def _add_tags(self, depth: int, data: str, out: str, tagged: list[Field]) -> None:
        """Add code that appends the tagged fields in the dict *data* to the list *out*."""
        source = self._source
        tags = source.name("tags")
        source.add(depth, f"{tags} = dict({data}.get({UNKNOWN_TAGS!r}, ()))")
        for field in tagged:
            value, inner = source.name("v"), source.name("out")
            default = default_data(field, self._version)
            source.add(depth, f"{value} = {data}.get({field.name!r}, {default!r})")
            source.add(depth, f"if {value} != {default!r}:", f"    {inner} = []")
            if field.is_fixed:
                pack = source.name("pack", struct_of([field]).pack)
                source.add(depth + 1, f"{inner}.append({pack}({value}))")
            else:
                self._add_value(depth + 1, field, value, inner)
            source.add(depth + 1, f"{tags}[{field.tag}] = b''.join({inner})")
        source.add(depth, f"{out}.append(tag_section({tags}))")

    def _add_value(self, depth: int, field: Field, value: str, out: str) -> None:
        """Add code that appends an array, a struct, string or bytes."""
        source = self._source
        if field.array:
            if field.nullable:
                source.add(depth, f"if {value} is None: {out}.append(array_length(-1))", "else:")
                depth += 1
            source.add(depth, f"{out}.append(array_length(len({value})))")
            if field.type in SCALARS:
                code = SCALARS[field.type]
                source.add(depth, f"{out}.append(fixed_array({value}, {code!r}))")
                return
            element = source.name("v")
            source.add(depth, f"for {element} in {value}:")
            self._add_element(depth + 1, field, element, out)
        elif field.is_struct and field.nullable:
            null = b"\xff" if field.tag is None else b"\0"  # KIP-893
            source.add(depth, f"{out}.append({null!r} if {value} is None else b'\\x01')")
            source.add(depth, f"if {value} is not None:")
            self._add_element(depth + 1, field, value, out)
        else:
            self._add_element(depth, field, value, out)

    def _add_element(self, depth: int, field: Field, value: str, out: str) -> None:
        """Add code that appends a struct, string or bytes."""
        if field.is_struct:
            self._add_struct(depth, value, out, field.fields)
            return
        write = "string" if field.type == "string" else "bytes_"
        nullable = field.nullable and not field.array
        self._source.add(depth, f"{out}.append({write}({value}, {nullable}))")


def _tag_section(tags: Mapping[int, bytes]) -> bytes:
    out = [uvarint_bytes(len(tags))]
    for tag, value in sorted(tags.items()):
        out += [uvarint_bytes(tag), uvarint_bytes(len(value)), value]
    return b"".join(out)


def _compact_length(length: int) -> bytes:
    return uvarint_bytes(length + 1)


def _fixed_array(values: Sequence[object], code: str) -> bytes:
    return struct.pack(">" + code * len(values), *values)


def _text_writer(
    length_bytes: Callable[[int], bytes],
) -> Callable[[str | None, bool], bytes]:
    def string(text: str | None, nullable: bool) -> bytes:
        return value(None if text is None else text.encode(), nullable)

    value = _bytes_writer(length_bytes)
    return string


def _bytes_writer(
    length_bytes: Callable[[int], bytes],
) -> Callable[[bytes | None, bool], bytes]:
    def bytes_(raw: bytes | None, nullable: bool) -> bytes:
        if raw is not None:
            return length_bytes(len(raw)) + raw
        if not nullable:
            raise TypeError("null in a field that cannot be null")
        return length_bytes(-1)

    return bytes_


_string = _text_writer(struct.Struct(">h").pack)
_bytes = _bytes_writer(struct.Struct(">i").pack)
_compact_string, _compact_bytes = _text_writer(_compact_length), _bytes_writer(_compact_length)
