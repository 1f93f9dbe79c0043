"""Generate writers: plain data of a message version to bytes, as Kafka writes them.

A field that the data lacks is written as its default; a tagged field that equals its default is
left out, and unknown tagged fields go back where `kraftops.schema.read` found them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

from kraftops.schema.message import SCALARS, Field, Message, present
from kraftops.schema.read import UNKNOWN_TAGS, default_data
from kraftops.schema.source import Source, fixed_runs, struct_of
from kraftops.varint import uvarint_bytes

Writer = Callable[[Mapping[str, object]], bytes]


def writer(message: Message, version: int) -> Writer:
    """Return a function of plain data to bytes.

    It raises `struct.error` for a number out of range and `TypeError` for null where the version
    has none.
    """
    is_flexible = message.is_flexible(version)
    source = Source(
        {
            "array_length": _compact_length if is_flexible else struct.Struct(">i").pack,
            "string": _compact_string if is_flexible else _string,
            "bytes_": _compact_bytes if is_flexible else _bytes,
            "fixed_array": _fixed_array,
            "tag_section": _tag_section,
        }
    )
    source.add(0, "def write(d):", "    out = []")
    _add_struct(source, 1, "d", "out", message.fields, version, is_flexible)
    source.add(1, "return b''.join(out)")
    return source.function("write")


def _add_struct(
    source: Source,
    depth: int,
    data: str,
    out: str,
    fields: tuple[Field, ...],
    version: int,
    is_flexible: bool,
) -> None:
    """Add code that appends the struct in the dict *data* to the list *out*."""
    fields_here = present(fields, version)
    for run in fixed_runs([field for field in fields_here if field.tag is None]):
        if run[0].is_fixed:
            pack = source.name("pack", struct_of(run).pack)
            values = ", ".join(f"{data}.get({f.name!r}, {f.default!r})" for f in run)
            source.add(depth, f"{out}.append({pack}({values}))")
        else:
            value = source.name("v")
            source.add(depth, f"{value} = {data}.get({run[0].name!r}, {run[0].default!r})")
            _add_value(source, depth, run[0], value, out, version, is_flexible)
    if not is_flexible:
        return
    tags = source.name("tags")
    source.add(depth, f"{tags} = dict({data}.get({UNKNOWN_TAGS!r}, ()))")
    for field in fields_here:
        if field.tag is None:
            continue
        value, inner = source.name("v"), source.name("out")
        default = default_data(field, version)
        source.add(depth, f"{value} = {data}.get({field.name!r}, {default!r})")
        source.add(depth, f"if {value} != {default!r}:", f"    {inner} = []")
        if field.is_fixed:
            pack = source.name("pack", struct_of([field]).pack)
            source.add(depth + 1, f"{inner}.append({pack}({value}))")
        else:
            _add_value(source, depth + 1, field, value, inner, version, is_flexible)
        source.add(depth + 1, f"{tags}[{field.tag}] = b''.join({inner})")
    source.add(depth, f"{out}.append(tag_section({tags}))")


def _add_value(
    source: Source, depth: int, field: Field, value: str, out: str, version: int, is_flexible: bool
) -> None:
    """Add code that appends a value that is an array, a struct, string or bytes."""
    if field.array:
        if field.nullable:
            source.add(depth, f"if {value} is None: {out}.append(array_length(-1))", "else:")
            depth += 1
        source.add(depth, f"{out}.append(array_length(len({value})))")
        if field.type in SCALARS:
            source.add(depth, f"{out}.append(fixed_array({value}, {SCALARS[field.type]!r}))")
            return
        element = source.name("v")
        source.add(depth, f"for {element} in {value}:")
        _add_element(source, depth + 1, field, element, out, version, is_flexible)
    elif field.is_struct and field.nullable:
        null = b"\xff" if field.tag is None else b"\0"  # KIP-893
        source.add(depth, f"{out}.append({null!r} if {value} is None else b'\\x01')")
        source.add(depth, f"if {value} is not None:")
        _add_element(source, depth + 1, field, value, out, version, is_flexible)
    else:
        _add_element(source, depth, field, value, out, version, is_flexible)


def _add_element(
    source: Source, depth: int, field: Field, value: str, out: str, version: int, is_flexible: bool
) -> None:
    if field.is_struct:
        _add_struct(source, depth, value, out, field.fields, version, is_flexible)
        return
    write = "string" if field.type == "string" else "bytes_"
    nullable = field.nullable and not field.array
    source.add(depth, f"{out}.append({write}({value}, {nullable}))")


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
