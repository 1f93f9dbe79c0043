"""JSON for a terminal: long values indented, with colours on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kraftops.tree.node import Leaf

_ROOM = 76
_RESET = "\x1b[0m"
_KEY, _STRING, _NUMBER, _CONSTANT = "\x1b[34;1m", "\x1b[32m", "\x1b[36m", "\x1b[33m"

LeafText = Callable[[Leaf], str]
Paint = Callable[[str, str], str]
"""Returns a text (the second argument) in a colour (the first)."""


def leaf_text(*, is_pretty: bool, has_color: bool) -> LeafText:
    """Return the function from a leaf to its JSON; if *is_pretty*, long values are indented."""
    paint = _painted if has_color else _plain
    if is_pretty:
        return lambda leaf: pretty(leaf.data, paint)
    if has_color:
        return lambda leaf: _on_one_line(leaf.data, paint, ",", ":")
    return lambda leaf: leaf.json


def pretty(value: object, paint: Paint, indent: str = "") -> str:
    """Return a value as JSON; a long one has several lines, indented by *indent*."""
    line = _on_one_line(value, _plain, ", ", ": ")
    if len(line) + len(indent) <= _ROOM or not isinstance(value, Mapping | list | tuple):
        return _on_one_line(value, paint, ", ", ": ")
    below = indent + "  "
    if isinstance(value, Mapping):
        parts = [
            f"{paint(_KEY, _dumped(key))}: {pretty(item, paint, below)}"
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
            f"{paint(_KEY, _dumped(key))}{colon}{_on_one_line(item, paint, comma, colon)}"
            for key, item in value.items()
        )
        return "{" + comma.join(parts) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + comma.join(_on_one_line(item, paint, comma, colon) for item in value) + "]"
    return paint(_color_of(value), _dumped(value))


def _color_of(value: object) -> str:
    if isinstance(value, str):
        return _STRING
    return _CONSTANT if value is None or isinstance(value, bool) else _NUMBER


def _dumped(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _painted(color: str, text: str) -> str:
    return f"{color}{text}{_RESET}"


def _plain(_color: str, text: str) -> str:
    return text
