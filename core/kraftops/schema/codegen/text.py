"""Generate renderers: bytes of a message version straight to Kafka's JSON text.

The text is the same as from Kafka's generated `…JsonConverter` classes: no blanks, fields in the
order of the schema, a tagged field only if it differs from its default. No dict is built on the
way: neighbours of fixed width are read by one `Struct`. The fields at the end of a message often
repeat from record to record; a `Memo` has their text by their bytes, made by generated code, too.

A renderer only notices malformed input, with one of the errors `schema.compile.MALFORMED`; then
`kraftops.schema.codegen.read` finds the reason.
"""

import struct
from collections.abc import Callable, Mapping
from itertools import groupby

from kraftops.errors import DecodeError
from kraftops.memo import Memo
from kraftops.schema.codegen import values
from kraftops.schema.codegen.source import Source, fixed_runs
from kraftops.schema.message import Field, Message, absent_tags, present
from kraftops.uuids import to_text
from kraftops.varint import read_uvarint

Render = Callable[[bytes, int, int], str]
"""Renderer: takes a buffer, and the positions there where the message begins and ends."""


def renderer(
    message: Message, version: int, overrides: Mapping[str, Callable[[bytes], str]] | None = None
) -> Render:
    """Return a renderer of a version of *message*.

    *overrides* are other renderers for fields of type bytes and string, by name; null stays null.
    """
    return _Generator(message, version, overrides or {}).render()


class _Generator:
    """Generator of the source of one renderer; `_offset` is the place in the message, minus `p`."""

    def __init__(
        self, message: Message, version: int, overrides: Mapping[str, Callable[[bytes], str]]
    ) -> None:
        self._overrides = overrides
        self._message = message
        self._fields = present(message.fields, version)
        self._version = version
        self._is_flexible = message.is_flexible(version)
        self._offset = 0
        self._source = Source(
            {
                "BOOL": ("false", "true"),
                "DOUBLE": values.DOUBLE_TEXTS,
                "STRING": values.STRING_TEXTS,
                "UUID": values.UUID_TEXTS,
                "DecodeError": DecodeError,
                "Memo": Memo,
                "read_uvarint": read_uvarint,
                **values.value_renderers(is_flexible=self._is_flexible),
            }
        )

    def render(self) -> Render:
        wire = [field for field in self._fields if field.tag is None]
        cut = self._first_of_tail(wire)
        slots = self._add_tail(wire[cut:])
        add = self._source.add
        add(0, "def render(b, p, e):")
        texts = self._add_values(1, wire[:cut], inline=True)
        if slots:
            names = [self._source.name("t") for _ in slots]
            add(1, f"{', '.join(names)}{',' * (len(names) > 1)} = tail[b[{self._here()}:e]]")
            texts |= {slot: f"{{{name}}}" for slot, name in zip(slots, names, strict=True)}
        else:
            self._add_end_check(1)
        data = self._joined(1, texts)
        add(1, f"return f'{{{{{data}}}}}'".replace("\n", "\\n"))
        return self._source.function("render")

    def _first_of_tail(self, wire: list[Field]) -> int:
        """Return the index of the first field of the tail, which is looked up as a whole."""
        for index, field in enumerate(wire):
            is_simple = field.is_fixed or (field.type == "string" and not field.array)
            is_run = field.array and field.type in values.CODES and self._is_flexible
            if not (is_simple or is_run):
                return index
        index = len(wire)
        while index and wire[index - 1].array:
            index -= 1
        return index

    def _add_tail(self, wire: list[Field]) -> list[str]:
        """Add the function that renders *wire* and the tagged fields from their bytes.

        It returns a text for each group of neighbours in the schema; return the names of the first
        field of each group.
        """
        if not wire and not self._is_flexible:
            return []
        self._source.add(0, "def make_tail(b):", "    p, e = 0, len(b)")
        texts = self._add_values(1, wire)
        if self._is_flexible:
            texts |= self._add_tags(1, self._message.fields)
        self._add_end_check(1)
        groups = [
            list(run)
            for is_shown, run in groupby(self._fields, lambda field: field.name in texts)
            if is_shown
        ]
        tail_texts = [f"f'{''.join(texts[field.name] for field in run)}'" for run in groups]
        self._source.add(1, f"return {', '.join(tail_texts) or repr('')}")
        self._source.add(0, "tail = Memo(make_tail)")
        return [run[0].name for run in groups] or [""]

    def _add_values(
        self, depth: int, fields: list[Field], *, inline: bool = False
    ) -> dict[str, str]:
        """Add code that reads untagged *fields*; return the text of each, with its comma.

        With *inline*, short strings are looked up in place, without a call.
        """
        texts: dict[str, str] = {}
        for run in fixed_runs(fields):
            if run[0].is_fixed:
                expressions = self._add_fixed(depth, run)
            else:
                expressions = [self._add_variable(depth, run[0], inline=inline)]
            for field, expression in zip(run, expressions, strict=True):
                texts[field.name] = f',"{field.name}":{expression}'
        return texts

    def _add_fixed(self, depth: int, run: list[Field]) -> list[str]:
        layout = struct.Struct(">" + "".join(values.CODES[field.type] for field in run))
        names = [self._source.name("v") for _ in run]
        unpack = self._source.name("unpack", layout.unpack_from)
        self._source.add(depth, f"{', '.join(names)}, = {unpack}(b, {self._here()})")
        self._offset += layout.size
        forms = {"uuid": '"{{UUID[{}]}}"', "bool": "{{BOOL[{}]}}", "float64": "{{DOUBLE[{}]}}"}
        return [
            forms.get(field.type, "{{{}}}").format(name)
            for field, name in zip(run, names, strict=True)
        ]

    def _add_variable(self, depth: int, field: Field, *, inline: bool = False) -> str:
        """Add code that reads a field of variable width; return its text."""
        add = self._source.add
        text = self._source.name("v")
        if field.array and field.type not in values.CODES:
            self._add_array(depth, field, text)
        elif field.array:
            self._add_fixed_array(depth, field, text)
        elif field.is_struct:
            if field.nullable:
                # KIP-893: a signed byte, but before a tagged struct a varint.
                null = "n > 127" if field.tag is None else "n == 0"
                add(depth, f"n = b[{self._here()}]")
                self._offset += 1
                self._flush(depth)
                add(depth, "has_unknown = False", f"if {null}: {text} = 'null'", "else:")
                depth += 1
            self._add_struct(depth, field, text)
        elif field.type == "string":
            self._add_string(depth, field, text, inline=inline)
        else:
            show = self._source.name("show", self._overrides.get(field.name, values.base64_text))
            add(depth, f"{text}, p = bytes_text(b, {self._here()}, {field.nullable}, {show})")
        self._offset = 0
        return f"{{{text}}}"

    def _add_string(self, depth: int, field: Field, text: str, *, inline: bool) -> None:
        """Add code that sets *text* to a string."""
        add = self._source.add
        call = f"{text}, p = string_text(b, {self._here()}, {field.nullable}"
        if field.name in self._overrides:
            add(depth, f"{call}, {self._source.name('show', self._overrides[field.name])})")
        elif inline and self._is_flexible:
            add(depth, f"n = b[{self._here()}]", "if 0 < n < 128:")
            add(depth + 1, f"s = {self._here()} + n", f"{text} = STRING[b[{self._here(1)}:s]]")
            add(depth + 1, "p = s")
            add(depth, f"else: {call})")
        else:
            add(depth, f"{call})")

    def _add_fixed_array(self, depth: int, field: Field, text: str) -> None:
        """Add code that sets *text* to an array of numbers or UUIDs; short ones are looked up."""
        add = self._source.add
        width = values.WIDTHS[field.type]
        call = f"{text}, p = fixed_array(b, {self._here()}, {field.nullable}, {field.type!r})"
        if not self._is_flexible:
            add(depth, call)
            return
        memo = self._source.name("array", values.array_texts(field.type))
        add(depth, f"n = b[{self._here()}]", "if 0 < n < 128:")
        add(depth + 1, f"s = {self._here(1)}", f"p = s + {width} * n - {width}")
        add(depth + 1, f"{text} = {memo}[b[s:p]]")
        add(depth, f"else: {call}")

    def _add_array(self, depth: int, field: Field, text: str) -> None:
        """Add code that sets *text* to an array of structs, strings or bytes."""
        add = self._source.add
        length = self._source.name("n")
        add(depth, f"{length}, p = read_length(b, {self._here()}, {field.nullable})")
        add(depth, f"if {length} < 0: {text} = 'null'", "else:")
        self._offset = 0
        items, element = self._source.name("items"), self._source.name("v")
        add(depth + 1, f"{items} = []", f"for _ in range({length}):")
        if field.is_struct:
            self._add_struct(depth + 2, field, element)
        else:
            assert field.type == "string", "no message has an array of bytes"
            add(depth + 2, f"{element}, p = string_text(b, p, False)")
        add(depth + 2, f"{items}.append({element})")
        add(depth + 1, f"{text} = '[' + ','.join({items}) + ']'")

    def _add_struct(self, depth: int, field: Field, text: str) -> None:
        """Add code that sets *text* to the struct at the current position.

        In a tagged field, `has_unknown` then tells whether the struct has unknown tags.
        """
        fields = present(field.fields, self._version)
        texts = self._add_values(depth, [field for field in fields if field.tag is None])
        if self._is_flexible:
            texts |= self._add_tags(depth, field.fields, note_unknown=field.tag is not None)
        self._flush(depth)
        self._source.add(depth, f"{text} = f'{{{{{self._joined(depth, texts, fields)}}}}}'")

    def _add_tags(
        self, depth: int, fields: tuple[Field, ...], *, note_unknown: bool = False
    ) -> dict[str, str]:
        """Add code that reads the tagged fields of a struct; return the text of each."""
        add = self._source.add
        tagged = [field for field in present(fields, self._version) if field.tag is not None]
        names = {field.name: self._source.name("t") for field in tagged}
        for name in names.values():
            add(depth, f"{name} = ''")
        tags, tag, size = self._source.name("k"), self._source.name("tag"), self._source.name("z")
        if note_unknown:
            add(depth, "has_unknown = False")
        self._add_uvarint(depth, tags)
        add(depth, f"while {tags} > 0:")
        add(depth + 1, f"{tags} -= 1")
        self._add_uvarint(depth + 1, tag)
        self._add_uvarint(depth + 1, size)
        for field in tagged:
            add(depth + 1, f"if {tag} == {field.tag}:")
            self._add_tagged(depth + 2, field, names[field.name])
            add(depth + 2, "continue")
        for field in absent_tags(fields, self._version):
            add(depth + 1, f"if {tag} == {field.tag}: raise DecodeError('tag')")
        add(depth + 1, f"if {size} < 0 or {size} > e - p: raise DecodeError('tag')", f"p += {size}")
        if note_unknown:
            add(depth + 1, "has_unknown = True")
        return {field: f"{{{name}}}" for field, name in names.items()}

    def _add_tagged(self, depth: int, field: Field, name: str) -> None:
        """Add code that sets *name* to a tagged field with its comma, or to '' if it is default."""
        if field.is_fixed:
            expression = self._add_fixed(depth, [field])[0]
            self._flush(depth)
        else:
            expression = self._add_variable(depth, field)
        default = repr(_default_text(field, self._version))
        if expression.startswith("{v"):  # a name alone: no need to format it twice
            text = expression[1:-1]
            if field.type in values.INTS and not field.array:
                default = repr(field.default)
        else:
            text = "x"
            self._source.add(depth, f"x = f'{expression}'")
        is_default = f"{text} == {default}"
        if field.is_struct and not field.array:
            is_default += " and not has_unknown"
        member = f"f',\"{field.name}\":{{{text}}}'"
        self._source.add(depth, f"{name} = '' if {is_default} else {member}")

    def _add_uvarint(self, depth: int, name: str) -> None:
        """Add code that sets *name* to an unsigned varint; most take one byte."""
        self._source.add(depth, f"{name} = b[{self._here()}]")
        self._source.add(
            depth,
            f"if {name} > 127: {name}, p = read_uvarint(b, {self._here()})",
            f"else: p = {self._here(1)}",
        )
        self._offset = 0

    def _add_end_check(self, depth: int) -> None:
        self._flush(depth)
        self._source.add(depth, "if p != e: raise DecodeError('end')")

    def _joined(self, depth: int, texts: dict[str, str], fields: list[Field] | None = None) -> str:
        """Return the members in the order of the schema, without the first comma."""
        text = "".join(texts.get(field.name, "") for field in fields or self._fields)
        if text and text[0] != ",":
            members = self._source.name("v")
            self._source.add(depth, f"{members} = f'{text}'")
            return f"{{{members}[1:]}}"
        return text[1:]

    def _here(self, extra: int = 0) -> str:
        offset = self._offset + extra
        return f"p + {offset}" if offset else "p"

    def _flush(self, depth: int) -> None:
        if self._offset:
            self._source.add(depth, f"p += {self._offset}")
            self._offset = 0


def _default_text(field: Field, version: int) -> str:
    if field.default is None:
        return "null"
    if field.array:
        return "[]"
    if field.is_struct:
        members = (
            f'"{inner.name}":{_default_text(inner, version)}'
            for inner in present(field.fields, version)
            if inner.tag is None
        )
        return f"{{{','.join(members)}}}"
    if field.type == "uuid":
        return f'"{to_text(bytes(16))}"'
    if field.type == "bool":
        return "true" if field.default else "false"
    return {"string": '""', "bytes": '""', "float64": "0.0"}.get(field.type, str(field.default))
