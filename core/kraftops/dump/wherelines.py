"""The records that `--where` asks for, told by the JSON of their rows, which is quickly made.

Most rows do not hold the text that is asked for, as JSON has it, and are not looked at further.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kraftops.dump.filters import Filter, is_shown_as_it_is, text_at
from kraftops.dump.jsonrows import json_head, json_middle
from kraftops.dump.query import Query
from kraftops.dump.runs import FastLines, FastRows, Run

_NOT_IN_A_LINE = ("file", "position")  # of Kafka's text
_OF_USERS = (None, "user")


class WhereRows:
    """Prints the rows that are asked for, of those that another one prints."""

    def __init__(self, rows: FastRows, asked: Filter) -> None:
        """Choose among *rows* by what *asked* wants to be where."""
        self._rows = rows
        self._fits = _row_test(asked)

    def add(
        self, run: Run, append: Callable[[Any], None], head: Any, middle: str
    ) -> tuple[int, int]:
        """Do what `FastRows.add` says."""
        lines: list[str] = []
        found = self._rows.add(run, lines.append, head, middle)
        for line in filter(self._fits, lines):
            append(line)
        return found


class WhereLines:
    """Prints lines of Kafka's text, of the records whose rows are asked for."""

    def __init__(self, rows: FastRows, lines: FastLines, asked: Filter) -> None:
        """Choose among *lines*, by *rows*; both have one for each record."""
        self._rows = rows
        self._lines = lines
        self._fits = _row_test(asked)

    def add(self, run: Run, append: Callable[[str], None]) -> tuple[int, int]:
        """Do what `FastLines.add` says."""
        rows: list[str] = []
        head, middle = json_head("", 0, run.header), json_middle(run.header)
        after, ahead = self._rows.add(run, rows.append, head, middle)
        is_asked = list(map(self._fits, rows))
        if not any(is_asked):
            return after, ahead
        lines: list[str] = []
        found = self._lines.add(run._replace(stop=ahead), lines.append)
        for line, asked in zip(lines, is_asked, strict=False):  # it may print fewer
            if asked:
                append(line)
        return found


def is_told_by_json(query: Query, *, in_text: bool = False) -> bool:
    """Tell whether the JSON of a row, *in_text* without its place, says if it is asked for."""
    asked = query.filter
    if asked.topics or asked.keys or not asked.where or (in_text and asked.types):
        return False
    for path, _ in asked.where:
        column, _, rest = path.partition(".")
        # JSON as a whole is compared as it is written, and the values of headers are in base64.
        is_whole_json = column in ("key", "value") and not rest and query.decoder not in _OF_USERS
        if is_whole_json or column == "headers" or path.endswith("."):
            return False
        if in_text and column in _NOT_IN_A_LINE:
            return False
    return True


def _row_test(asked: Filter) -> Callable[[str], bool]:
    """Return a function that tells of a row as a line of JSON whether it is asked for."""
    needles = [needles for path, text in asked.where if (needles := _needles(path, text))]

    def fits(line: str) -> bool:
        for found in needles:
            if not any(needle in line for needle in found):
                return False
        if not line:  # of a type that is not asked for
            return False
        row = json.loads(line)
        return all(text_at(row, path) == text for path, text in asked.where)

    return fits


def _needles(path: str, text: str) -> tuple[str, ...]:
    """Return what a row holds one of if *text* is at *path*; nothing where that is not known."""
    if not is_shown_as_it_is(text):
        return ()
    name = path.rpartition(".")[2]
    if not name.isidentifier():  # an index, say
        return (text,)
    return f'"{name}":{text}', f'"{name}":"{text}"'
