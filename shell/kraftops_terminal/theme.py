"""Theme: names of styles, in attributes and the eight colours that every terminal has.

Text has the terminal's own colour, so that it reads on light and dark backgrounds. Colours mark
states and kinds, and nothing is said by colour alone.
"""

from collections.abc import Mapping

STYLES: Mapping[str, str] = {
    "header": "bold",
    "title": "bold underline",
    "name": "bold",
    "value": "",
    "muted": "dim",
    "selected": "reverse",
    "good": "green",
    "warning": "bold yellow",
    "note": "cyan",
    "bad": "bold red",
    "json.key": "bold blue",
    "json.string": "green",
    "json.number": "cyan",
    "json.constant": "yellow",
}
"""Names of styles, in the notation of rich."""
_SGR = {
    "bold": "1",
    "dim": "2",
    "underline": "4",
    "reverse": "7",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
}
"""Parameters of the control sequence SGR (ECMA-48)."""


def painted(text: str, style: str) -> str:
    words = STYLES[style].split()
    return f"\x1b[{';'.join(_SGR[word] for word in words)}m{text}\x1b[0m" if words else text
