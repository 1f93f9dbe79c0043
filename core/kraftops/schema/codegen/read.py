"""Generate readers: bytes of a message version to plain data, checked as Kafka checks.

Plain data is a dict by field name in the order of the schema, of int, float, bool, str, bytes (also
for UUIDs), list, dict and None. Absent tagged fields have their default; unknown tagged fields are
kept under `UNKNOWN_TAGS` as a dict of tag to bytes.

Error texts are the same as in Kafka's readers (`Readable`, `ByteBufferAccessor` and the generated
message classes), since its tools print them.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

from kraftops.errors import DecodeError, Underflow
from kraftops.java.text import decode_utf8
from kraftops.schema.codegen.source import Source, fixed_runs, struct_of
from kraftops.schema.message import (
    SCALARS,
    UNKNOWN_TAGS,
    Data,
    Field,
    Message,
    absent_tags,
    present,
)
from kraftops.varint import read_uvarint

Reader = Callable[[bytes, int], tuple[Data, int]]


def reader(message: Message, version: int, *, keeps_structs: bool = True) -> Reader:
    """Return a function of (bytes, position) to (plain data, position after it).

    The function raises `DecodeError` if the bytes from the position on do not begin with the
    message. Unless it *keeps_structs*, lists of structs are empty.
    """
    is_flexible = message.is_flexible(version)
    source = Source(
        {
            "DecodeError": DecodeError,
            "array_length": _compact_array_length if is_flexible else _array_length,
            "string": _compact_string if is_flexible else _string,
            "bytes_": _compact_bytes if is_flexible else _bytes,
            "fixed_array": _fixed_array,
            "read_uvarint": read_uvarint,
            "struct_error": struct.error,
            "struct_follows": _struct_follows,
            "take": take,
            "Underflow": Underflow,
        }
    )
    source.add(0, "def read(b, p):")
    source.add(1, "try:")
    form = _Form(version, is_flexible, keeps_structs)
    data = _add_struct(source, 2, message.fields, form)
    source.add(2, f"return {data}, p")
    source.add(1, "except struct_error:")
    source.add(2, f"raise Underflow('the bytes of {message.name} are cut short') from None")
    return source.function("read")


class _Form(NamedTuple):
    """Version that is read, and how."""

    version: int
    is_flexible: bool
    keeps_structs: bool


def _add_struct(source: Source, depth: int, fields: tuple[Field, ...], form: _Form) -> str:
    """Add code that reads a struct; return the name of its dict."""
    version, is_flexible, _ = form
    fields_here = present(fields, version)
    names = {field.name: source.name("v") for field in fields_here}
    for run in fixed_runs([field for field in fields_here if field.tag is None]):
        _add_run(source, depth, run, names, form)
    tagged = [field for field in fields_here if field.tag is not None]
    unknown = source.name("unknown")
    if is_flexible:
        for field in tagged:
            source.add(depth, f"{names[field.name]} = {default_data(field, version)!r}")
        tag, size = source.name("tag"), source.name("size")
        source.add(depth, f"{unknown} = None", f"{size}, p = read_uvarint(b, p)")
        source.add(depth, f"for _ in range({size}):")
        source.add(depth + 1, f"{tag}, p = read_uvarint(b, p)", f"{size}, p = read_uvarint(b, p)")
        word = "if"
        for field in tagged:
            source.add(depth + 1, f"{word} {tag} == {field.tag}:")
            _add_run(source, depth + 2, [field], names, form)
            word = "elif"
        for field in absent_tags(fields, version):
            source.add(depth + 1, f"{word} {tag} == {field.tag}:")
            reason = f"Tag {field.tag} is not valid for version {version}"
            source.add(depth + 2, f"raise DecodeError({reason!r})")
            word = "elif"
        source.add(depth + 1, f"{'else' if word == 'elif' else 'if True'}:")
        source.add(depth + 2, f"{unknown} = {unknown} or {{}}")
        source.add(depth + 2, f"{unknown}[{tag}], p = take(b, p, {size})")
    data = source.name("data")
    items = ", ".join(f"{field.name!r}: {names[field.name]}" for field in fields_here)
    source.add(depth, f"{data} = {{{items}}}")
    if is_flexible:
        source.add(depth, f"if {unknown}: {data}[{UNKNOWN_TAGS!r}] = {unknown}")
    return data


def _add_run(
    source: Source, depth: int, run: list[Field], names: dict[str, str], form: _Form
) -> None:
    """Add code that reads fixed-width neighbours, or one field of another type, into *names*."""
    first = run[0]
    name = names[first.name]
    if first.is_fixed:
        layout = struct_of(run)
        unpack = source.name("unpack", layout.unpack_from)
        targets = ", ".join(names[field.name] for field in run)
        source.add(depth, f"{targets}, = {unpack}(b, p)", f"p += {layout.size}")
    elif first.array:
        length = source.name("n")
        source.add(depth, f"{length}, p = array_length(b, p, {first.name!r}, {first.nullable})")
        source.add(depth, f"if {length} is None: {name} = None", "else:")
        if first.type in SCALARS:
            code = SCALARS[first.type]
            source.add(depth + 1, f"{name}, p = fixed_array(b, p, {length}, {code!r})")
            return
        source.add(depth + 1, f"{name} = []", f"for _ in range({length}):")
        element = _add_element(source, depth + 2, first, form)
        if form.keeps_structs or not first.is_struct:
            source.add(depth + 2, f"{name}.append({element})")
    elif first.is_struct and first.nullable:
        # KIP-893: a signed byte, but before a tagged struct a varint.
        test = "read_uvarint(b, p)" if first.tag is not None else "struct_follows(b, p)"
        source.add(depth, f"follows, p = {test}", f"if follows <= 0: {name} = None", "else:")
        element = _add_element(source, depth + 1, first, form)
        source.add(depth + 1, f"{name} = {element}")
    else:
        element = _add_element(source, depth, first, form)
        source.add(depth, f"{name} = {element}")


def _add_element(source: Source, depth: int, field: Field, form: _Form) -> str:
    """Add code that reads one value that is a struct, string or bytes; return its name."""
    if field.is_struct:
        return _add_struct(source, depth, field.fields, form)
    name = source.name("v")
    read = "string" if field.type == "string" else "bytes_"
    nullable = field.nullable and not field.array
    label = f"{field.name} element" if field.array else field.name
    source.add(depth, f"{name}, p = {read}(b, p, {label!r}, {nullable})")
    return name


def default_data(field: Field, version: int) -> object:
    """Return the default of a field as plain data; a list or dict is new."""
    if field.array and field.default is not None:
        return []
    if field.is_struct and field.default is not None:
        return {
            inner.name: default_data(inner, version) for inner in present(field.fields, version)
        }
    return field.default


def take(buffer: bytes, pos: int, size: int) -> tuple[bytes, int]:
    """Return *size* bytes at *pos* and the position after them.

    Raises:
        DecodeError: fewer are left.
    """
    end = pos + size
    if size < 0:
        raise DecodeError(str(size))  # Java's whole message
    if end > len(buffer):
        raise DecodeError(
            f"Error reading byte array of {size} byte(s): "
            f"only {len(buffer) - pos} byte(s) available"
        )
    return buffer[pos:end], end


def _int16(buffer: bytes, pos: int) -> tuple[int, int]:
    return struct.unpack_from(">h", buffer, pos)[0], pos + 2


def _int32(buffer: bytes, pos: int) -> tuple[int, int]:
    return struct.unpack_from(">i", buffer, pos)[0], pos + 4


def _compact(buffer: bytes, pos: int) -> tuple[int, int]:
    length, pos = read_uvarint(buffer, pos)
    # Java's int wraps: 0x80000000 becomes the largest length, not null.
    return length - 1 if length > -0x80000000 else 0x7FFFFFFF, pos


def _struct_follows(buffer: bytes, pos: int) -> tuple[int, int]:
    """Read the byte before a nullable struct; return 0 for null."""
    if pos >= len(buffer):
        raise Underflow("the bytes end before a struct")
    return int(buffer[pos] < 128), pos + 1


def _checked(length: int, name: str, nullable: bool) -> int | None:
    if length >= 0:
        return length
    if nullable:
        return None
    raise DecodeError(f"non-nullable field {name} was serialized as null")


def _length_reader(
    read_length: Callable[[bytes, int], tuple[int, int]],
) -> Callable[[bytes, int, str, bool], tuple[int | None, int]]:
    def array_length(buffer: bytes, pos: int, name: str, nullable: bool) -> tuple[int | None, int]:
        number, pos = read_length(buffer, pos)
        length = _checked(number, name, nullable)
        if length is not None and length > len(buffer) - pos:
            raise DecodeError(
                f"Tried to allocate a collection of size {length}, "
                f"but there are only {len(buffer) - pos} bytes remaining."
            )
        return length, pos

    return array_length


def _string_reader(
    read_length: Callable[[bytes, int], tuple[int, int]],
) -> Callable[[bytes, int, str, bool], tuple[str | None, int]]:
    def string(buffer: bytes, pos: int, name: str, nullable: bool) -> tuple[str | None, int]:
        number, pos = read_length(buffer, pos)
        length = _checked(number, name, nullable)
        if length is None:
            return None, pos
        if length > 0x7FFF:
            raise DecodeError(f"string field {name} had invalid length {length}")
        raw, pos = take(buffer, pos, length)
        return decode_utf8(raw), pos

    return string


def _bytes_reader(
    read_length: Callable[[bytes, int], tuple[int, int]],
) -> Callable[[bytes, int, str, bool], tuple[bytes | None, int]]:
    def bytes_(buffer: bytes, pos: int, name: str, nullable: bool) -> tuple[bytes | None, int]:
        number, pos = read_length(buffer, pos)
        length = _checked(number, name, nullable)
        return (None, pos) if length is None else take(buffer, pos, length)

    return bytes_


def _fixed_array(buffer: bytes, pos: int, length: int, code: str) -> tuple[list[object], int]:
    layout = f">{length}{code}" if code != "16s" else ">" + code * length
    return list(struct.unpack_from(layout, buffer, pos)), pos + struct.calcsize(layout)


_array_length, _compact_array_length = _length_reader(_int32), _length_reader(_compact)
_string, _compact_string = _string_reader(_int16), _string_reader(_compact)
_bytes, _compact_bytes = _bytes_reader(_int32), _bytes_reader(_compact)
