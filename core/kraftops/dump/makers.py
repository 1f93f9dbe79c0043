"""Which code makes the text of parts of files, by what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftops.dump.query import Query
from kraftops.dump.splitting import Found, Part

Maker = Callable[[Part, Callable[[Found], None]], Iterator[str]]
"""Yields the text of a part, and gives its second argument what is found besides."""


def part_maker(query: Query) -> Maker:
    """Return what makes text, JSON or CSV of parts, which should come to it in order."""
    if query.form != "text":
        from kraftops.dump.rowchunks import RowParts

        return RowParts(query)
    if query.salvage or not query.filter.is_empty:
        from kraftops.dump.chosentext import ChosenText

        return ChosenText(query)
    from kraftops.dump.text import TextParts

    return TextParts(query)
