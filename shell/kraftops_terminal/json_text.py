"""JSON for a terminal: long values indented, with colours on request."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from kraftops.java.numbers import double_text
from kraftops.tree.node import Leaf
from kraftops_terminal.escaping import escaped_json
from kraftops_terminal.theme import painted

_ROOM = 76  # characters of a line on a terminal of 80, with a comma and room beside
_KEY, _STRING, _NUMBER, _CONSTANT = "json.key", "json.string", "json.number", "json.constant"

LeafText = Callable[[Leaf], str]
Paint = Callable[[str, str], str]
"""Returns a text in a style of the theme."""


def leaf_text(*, is_pretty: bool, has_color: bool) -> LeafText:
    """Return the function from a leaf to its JSON; if *is_pretty*, long values are indented."""
    paint = painted if has_color else _plain
    if is_pretty:
        return lambda leaf: pretty(leaf.data, paint)
    if has_color:
        return lambda leaf: _on_one_line(leaf.data, paint, ",", ":")
    return plain_json


def plain_json(leaf: Leaf) -> str:
    return leaf.json


def pretty(value: object, paint: Paint, indent: str = "") -> str:
    """Return a value as JSON; a long one has several lines, indented by *indent*."""
    line = _on_one_line(value, _plain, ", ", ": ")
    if len(line) + len(indent) <= _ROOM or not isinstance(value, Mapping | list | tuple):
        return _on_one_line(value, paint, ", ", ": ")
    below = indent + "  "
    if isinstance(value, Mapping):
        parts = [
            f"{paint(_dumped(key), _KEY)}: {pretty(item, paint, below)}"
            for key, item in value.items()
        ]
        first, last = "{}"
    else:
        parts = [pretty(item, paint, below) for item in value]
        first, last = "[]"
    separator = f",\n{below}"
    return f"{first}\n{below}{separator.join(parts)}\n{indent}{last}"


def _on_one_line(value: object, paint: Paint, comma: str, colon: str) -> str:
    if isinstance(value, Mapping):
        parts = (
            f"{paint(_dumped(key), _KEY)}{colon}{_on_one_line(item, paint, comma, colon)}"
            for key, item in value.items()
        )
        return "{" + comma.join(parts) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + comma.join(_on_one_line(item, paint, comma, colon) for item in value) + "]"
    return paint(_dumped(value), _style_of(value))


def _style_of(value: object) -> str:
    if isinstance(value, str):
        return _STRING
    return _CONSTANT if value is None or isinstance(value, bool) else _NUMBER


def _dumped(value: object) -> str:
    import json

    if isinstance(value, float) and not isfinite(value):
        return double_text(value)
    return escaped_json(json.dumps(value, ensure_ascii=False))


def _plain(text: str, _style: str) -> str:
    return text
