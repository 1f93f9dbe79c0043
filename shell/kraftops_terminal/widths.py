"""Widths of text in columns of a terminal, for streams on which rich does not draw."""

from collections.abc import Sequence


def width_of_text(text: str) -> int:
    """Return the columns that text takes: two for wide letters, none for combining marks."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(letter) in ("Mn", "Me") else 2 if east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def padded(text: str, width: int, *, is_right: bool = False) -> str:
    if text.isascii():
        return text.rjust(width) if is_right else text.ljust(width)
    blanks = " " * (width - width_of_text(text))
    return blanks + text if is_right else text + blanks


def aligned(texts: Sequence[str], *, is_right: bool) -> list[str]:
    """Return texts below each other, as wide as the widest."""
    if all(map(str.isascii, texts)):
        width = max(map(len, texts))
        return [text.rjust(width) if is_right else text.ljust(width) for text in texts]
    width = max(map(width_of_text, texts))
    return [padded(text, width, is_right=is_right) for text in texts]


def cut(text: str, width: int) -> str:
    """Return text, or as much of it as fits into a width in columns, with a mark at its end."""
    if width_of_text(text) <= width:
        return text
    if width <= 0:
        return ""
    kept = text[: width - 1]
    while width_of_text(kept) > width - 1:
        kept = kept[:-1]
    return f"{kept}…"
