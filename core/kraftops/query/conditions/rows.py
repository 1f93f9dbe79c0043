"""Conditions on the rows of a dump: before a batch is read, by its header, and on a row."""

from functools import cache
from typing import Any

from kraftops.log import batch as v2
from kraftops.log.batch import Header
from kraftops.log.codecs import CODECS
from kraftops.query.conditions.outcomes import TRUE, Candidates, Find, outcomes_of, value_at
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.row import COLUMNS, Row, parsed_json
from kraftops.records.internal_topics import USER

_JSON = ("key", "value")


class RowCondition:
    """A condition on rows."""

    def __init__(self, text: str) -> None:
        """Parse a condition; it is checked already."""
        self._outcomes = outcomes_of(parse_condition(text))

    def is_ruled_out(self, header: Header) -> bool:
        """Tell whether no row of a batch can match."""
        return not self.may_hold(_HeaderValues(header).find)

    def may_hold(self, find: Find) -> bool:
        """Tell whether a row can match, given what *find* knows of its values."""
        return bool(self._outcomes(find) & TRUE)

    def holds(self, row: Row) -> bool:
        return self._outcomes(row_values(row)) == TRUE


def row_values(row: Row) -> Find:
    """Make a function from the names of a path to the value in a row."""
    return _RowValues(row).find


@cache
def row_condition(text: str) -> RowCondition:
    """Return a condition on rows.

    Raises:
        UsageError: the text is not a condition.
    """
    return RowCondition(text)


class _HeaderValues:
    """The columns that a batch header tells; if the batch is damaged, its row has nulls there."""

    def __init__(self, header: Header) -> None:
        attributes = header.attributes
        codec = attributes & v2.CODEC_MASK
        self._values: dict[str, Any] = {
            "timestampType": "LogAppendTime" if attributes & v2.LOG_APPEND_TIME else "CreateTime",
            "leaderEpoch": _present(header.leader_epoch),
            "producerId": _present(header.producer_id),
            "producerEpoch": _present(header.producer_epoch),
            "transactional": bool(attributes & v2.TRANSACTIONAL),
            "control": bool(attributes & v2.CONTROL),
            "codec": CODECS[codec] if codec < len(CODECS) else None,
        }

    def find(self, names: tuple[str, ...]) -> Candidates:
        if len(names) == 1 and names[0] in self._values:
            return self._values[names[0]], None
        return None


class _RowValues:
    """The values of a row; keys and values are parsed when a path leads into them."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._parsed: dict[str, Any] = {}

    def find(self, names: tuple[str, ...]) -> Candidates:
        """Return the only candidate for a path."""
        column, *others = names
        if not others:
            return (self._row[COLUMNS.index(column)],)
        if column == "headers":
            return (self._header(*others),)
        return (value_at(self._json(column), others) if column in _JSON else None,)

    def _header(self, key: str, *others: str) -> str | None:
        """Return the text of the last header with a key, as `Headers.lastHeader` of Kafka."""
        values = [value for name, value in self._row.headers if name == key]
        raw = values[-1] if values and not others else None
        return None if raw is None else raw.decode("utf-8", "replace")

    def _json(self, column: str) -> Any:
        if column not in self._parsed:
            row = self._row
            text = row.key if column == "key" else row.value
            self._parsed[column] = None if row.kind == USER else parsed_json(text)
        return self._parsed[column]


def _present(number: int) -> int | None:
    return None if number < 0 else number
