"""Patterns of one component of a path, as Kafka's shell has them (`GlobComponent`).

`?` is one character, `*` any number, `{a,b}` one of several; a backslash takes a character as it
is. A component without any of these is a name, backslashes included, and so is one whose braces do
not match or are nested.
"""

from __future__ import annotations

import re


def component_pattern(component: str) -> re.Pattern[str] | None:
    """Return the pattern that a component of a path is; None if it is a name."""
    parts: list[str] = []
    is_pattern = in_braces = False
    letters = iter(component)
    for letter in letters:
        if letter == "\\":
            parts.append(re.escape(next(letters, "\\")))
        elif letter == "*":
            parts.append(".*")
            is_pattern = True
        elif letter == "?":
            parts.append(".")
            is_pattern = True
        elif letter == "{":
            if in_braces:
                return None
            parts.append("(?:(?:")
            is_pattern = in_braces = True
        elif letter == "," and in_braces:
            parts.append(")|(?:")
        elif letter == "}" and in_braces:
            parts.append("))")
            in_braces = False
        else:
            parts.append(re.escape(letter))
    if in_braces or not is_pattern:
        return None
    return re.compile("".join(parts))


def text_pattern(text: str) -> re.Pattern[str]:
    """Return what a text matches that may be a pattern; without wildcards, it is what it says.

    The wildcards stand for slashes too.
    """
    return component_pattern(text) or re.compile(re.escape(text))
