"""The fields of records as classes: a stub of `TypedDict`s from a table of messages."""

from collections import Counter
from collections.abc import Iterator

from kraftops.records.control import definitions
from kraftops.schema.message import Field, Message
from kraftops.schema.tables import messages

METADATA = "core/kraftops/records/metadata_types.pyi"
CONTROL = "core/kraftops/records/control_types.pyi"

_HEAD = """\
# The fields of {what} as they are decoded; made by scripts/generate.py.
#
# A field that is not in all versions may be absent; `kraftops.schema.codegen.read` has the values.
# Types alone: no code runs this file.

from typing import NotRequired, TypedDict

# Tagged fields that no table knows, by tag, where there are any.
class _Tagged(TypedDict):
    _unknownTags: NotRequired[dict[int, bytes]]
"""
_SCALARS = {"bool": "bool", "float64": "float", "uuid": "bytes", "string": "str", "bytes": "bytes"}


def modules() -> dict[str, str]:
    """Return the texts of the stubs, by path from the top of the repository."""
    keys = {name: [str(message.key)] for name, message in messages("metadata").items()}
    numbers: dict[str, list[str]] = {}
    for number, _, _, message in definitions():
        numbers.setdefault(message.name, []).append(str(number))
    return {
        METADATA: _module("metadata records", messages("metadata"), keys),
        CONTROL: _module("control records", messages("control"), numbers),
    }


def _module(what: str, messages: dict[str, Message], numbers: dict[str, list[str]]) -> str:
    """Return the stub of some messages, *numbers* by name."""
    parts = [_HEAD.format(what=what)]
    structs_of = {
        message: {field.type: field.fields for field in _structs(message.fields)}
        for message in messages.values()
    }
    users = Counter(name for structs in structs_of.values() for name in structs)
    for message, structs in structs_of.items():
        # What several messages have need not be the same in all of them.
        names = {name: name if users[name] == 1 else message.name + name for name in structs}
        for name, fields in structs.items():
            about = f"A struct of `{message.name}`."
            parts.append(_class(names[name], about, message, fields, names))
        about = f"Type {' and '.join(numbers[message.name])}, {_versions(message)}."
        parts.append(_class(message.name, about, message, message.fields, names))
    return "\n".join(parts)


def _structs(fields: tuple[Field, ...]) -> Iterator[Field]:
    """Yield the fields that are structs, those inside a struct before it."""
    for field in fields:
        if field.is_struct:
            yield from _structs(field.fields)
            yield field


def _class(
    name: str, about: str, message: Message, fields: tuple[Field, ...], names: dict[str, str]
) -> str:
    base = "TypedDict" if message.flexible is None else "_Tagged"
    lines = [f"# {about}", f"class {name}({base}):" if fields else f"class {name}({base}): ..."]
    lines += [f"    {field.name}: {_annotation(field, message, names)}" for field in fields]
    return "\n".join(lines) + "\n"


def _annotation(field: Field, message: Message, names: dict[str, str]) -> str:
    text = _SCALARS.get(field.type) or names.get(field.type, "int")
    if field.array:
        text = f"list[{text}]"
    if field.nullable:
        text = f"{text} | None"
    return text if _is_always(field, message) else f"NotRequired[{text}]"


def _is_always(field: Field, message: Message) -> bool:
    last = message.versions.last
    assert last is not None
    return all(field.versions.has(version) for version in range(message.versions.first, last + 1))


def _versions(message: Message) -> str:
    first, last = message.versions
    return f"version {first}" if first == last else f"versions {first} to {last}"
