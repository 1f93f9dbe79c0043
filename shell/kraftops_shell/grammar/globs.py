"""Patterns for a component of a path, as in Kafka's shell (`GlobComponent`).

`?` matches one character, `*` any number, `{a,b}` one of several; a backslash escapes a character.
A component without wildcards, or with unmatched or nested braces, is a name, with its backslashes.
"""

from __future__ import annotations

import re


def component_pattern(component: str) -> re.Pattern[str] | None:
    """Return the pattern of a component of a path; None if the component is a name."""
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
    """Return a pattern for whole texts; without wildcards, it matches the text itself.

    Wildcards match slashes, too.
    """
    return component_pattern(text) or re.compile(re.escape(text))
