"""The records of a metadata log as rows: all, or the newest, or those that changed a node."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from sys import byteorder
from typing import Any, NamedTuple

from kraftops.answers.fields import Field, field
from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import column_outcomes
from kraftops.engine.columns import rows_of
from kraftops.engine.scan_contract import Outcome
from kraftops.errors import UsageError
from kraftops.image.history import HistorySubject
from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import limits_of
from kraftops.image.load.sources import base_offset_of, files_of, segments_from, whole_log_plans
from kraftops.image.replay.events import ControlRecordRead, EntriesChanged, Event
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage, NewImage
from kraftops.log.ranges import ByteRange
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.row_types import row_types
from kraftops.query.conditions.syntax import Condition, all_of, conjuncts, paths_of, text_of
from kraftops.query.conditions.types import checked
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS, Row
from kraftops.query.where import with_conditions
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.internal_topics import METADATA

_NO_OP = "NO_OP_RECORD"
_GIVE_WAY = {"timestamp": 5, "type": 1}
_USUAL = frozenset({"offset", "timestamp", "type", "value"})


class LogQuestion(NamedTuple):
    """The question for records of a log: its files, and conditions that must all hold.

    *last_offset* ends the log. *offsets* are those of the records that count; None for all.
    """

    names: Sequence[str]
    query: Query
    last_offset: int
    offsets: frozenset[int] | None = None


class NewestRows(NamedTuple):
    """The newest records, oldest first, and the number of earlier ones that are left out."""

    rows: list[Row]
    earlier: int


def log_columns(dialect: str = KAFKA_DIALECT) -> tuple[Field, ...]:
    decoder = Query(decoder=METADATA, dialect=dialect).record_decoder
    types = row_types(frozenset({decoder}))
    return tuple(
        field(name, types[name], "", is_usual=name in _USUAL, gives_way=_GIVE_WAY.get(name, 0))
        for name in COLUMNS
    )


def log_query(
    dialect: str,
    conditions: Iterable[str],
    *,
    now: int,
    limits: Filter = Filter(),  # noqa: B008 - immutable
    has_no_ops: bool = False,
) -> Query:
    """Return the query of a metadata log's records, as a dump makes it.

    Args:
        dialect: of the records.
        conditions: in the language of `kraftops.query.conditions`; all must hold.
        now: in ms since the epoch, for durations in conditions.
        limits: offsets and times of the records.
        has_no_ops: whether records that change nothing are among them; an idle controller writes
            two a second.

    Raises:
        UsageError: one is not a condition, or has an unknown name.
    """
    query = Query(decoder=METADATA, dialect=dialect, deep_iteration=True, form="parquet")
    decoder = query.record_decoder
    texts = list(conditions)
    if not has_no_ops and _NO_OP in decoder.type_names():
        texts.append(f"type is null or type != '{_NO_OP}'")
    return replace(query, filter=with_conditions(limits, texts, [decoder], now))


def split_by_column(
    text: str, column: Field, dialect: str, now: int
) -> tuple[str, Condition | None]:
    """Return the parts of a condition that a dump can decide, as text, and those about *column*.

    Raises:
        UsageError: as `log_query`.
    """
    types = {field.name: field.type for field in (*log_columns(dialect), column)}
    condition = checked(parse_condition(text), text, types, now)
    rows: list[Condition] = []
    others: list[Condition] = []
    for part in conjuncts(condition):
        is_other = any(path.names[0] == column.name for path in paths_of(part))
        (others if is_other else rows).append(part)
    of_rows = all_of(rows)
    return text_of(of_rows) if of_rows else "", all_of(others)


def all_rows(question: LogQuestion) -> Iterator[Row]:
    """Yield the records that are asked for, oldest first.

    Raises:
        SourceError: a file cannot be read.
        UsageError: there is only a snapshot, which has no records of a log.
    """
    for chunk in _chunks(question):
        yield from chunk.rows()


def newest_rows(question: LogQuestion, limit: int) -> NewestRows:
    """Return the last *limit* records that are asked for; errors as `all_rows`.

    The log is read twice: for the offsets of all, and for the columns of the last.
    """
    kept: deque[int] = deque(maxlen=limit)
    total = 0
    query = question.query
    for chunk in _chunks(_with(question, columns=frozenset({"offset"}))):
        kept.extend(chunk.offsets())
        total += chunk.total
    rows: list[Row] = []
    if kept:
        first = max(query.filter.first_offset, min(kept))
        rows = list(all_rows(_with(question, filter=replace(query.filter, first_offset=first))))
        rows = rows[-limit:]
    return NewestRows(rows, total - len(rows))


def _with(question: LogQuestion, **changes: Any) -> LogQuestion:
    return question._replace(query=replace(question.query, **changes))


def offsets_about(
    names: Sequence[str],
    subjects: Iterable[HistorySubject],
    *,
    last_offset: int,
    new_image: NewImage = MetadataImage,
) -> frozenset[int]:
    """Return the offsets of the records that changed one of some nodes, up to *last_offset*.

    Raises:
        SourceError: the log cannot be read.
    """
    files = files_of(names)
    subject_list = list(subjects)
    for plan in whole_log_plans(files):
        image = new_image()
        listener = _Listener(image, subject_list)
        replay = Replay(image, limits_of(last_offset, None))
        if Loader(replay, may_grow=files.is_directory, listen=listener).read(plan):
            return frozenset(listener.offsets)
    return frozenset()


class _Chunk(NamedTuple):
    """The rows of a call of the engine; *places* are those that count, None for all."""

    outcome: Outcome
    places: list[bool] | None

    @property
    def total(self) -> int:
        return self.outcome.rows if self.places is None else sum(self.places)

    def offsets(self) -> Iterator[int]:
        offsets = _offsets(self.outcome)
        return iter(offsets) if self.places is None else compress(offsets, self.places)

    def rows(self) -> Iterator[Row]:
        rows = rows_of(self.outcome.columns or {}, self.outcome.rows)
        return rows if self.places is None else compress(rows, self.places)


def _chunks(question: LogQuestion) -> Iterator[_Chunk]:
    segments = files_of(question.names).segments
    if not segments:
        raise UsageError(
            "this state comes from a snapshot alone, which has no records of the log",
            "--snapshot with the directory of the log, or one of its segments, has them",
        )
    filter_, offsets = question.query.filter, question.offsets
    last = min(filter_.last_offset, question.last_offset)
    query = replace(question.query, filter=replace(filter_, last_offset=last))
    for segment in segments_from(segments, filter_.first_offset):
        if base_offset_of(segment) > last:
            break
        for outcome in column_outcomes(ByteRange(segment.path), query, Report()):
            if not outcome.rows:
                continue
            places = None
            if offsets is not None:
                places = [offset in offsets for offset in _offsets(outcome)]
                if not any(places):
                    continue
            yield _Chunk(outcome, places)


def _offsets(outcome: Outcome) -> array[int]:
    """Return the offsets of rows; all have one, since the log is read up to an offset."""
    offsets = array("q", (outcome.columns or {})["offset"].data)
    if byteorder == "big":
        offsets.byteswap()
    return offsets


class _Listener:
    """Notes the offsets of the records that change some nodes; called with events of a replay."""

    def __init__(self, image: MetadataImage, subjects: Sequence[HistorySubject]) -> None:
        self.offsets: set[int] = set()
        self._image = image
        self._subjects = subjects
        self._has_control = any(subject.is_control for subject in subjects)
        self._watch()

    def __call__(self, event: Event) -> None:
        if isinstance(event, EntriesChanged):
            self._note(event.address)
            self._watch()
        elif self._has_control and isinstance(event, ControlRecordRead):
            self._note(event.address)

    def _note(self, address: int) -> None:
        store = self._image.store
        if store.place(address)[2] is None:  # the records of a snapshot have no offsets of the log
            self.offsets.add(store.head(address)[0])

    def _watch(self) -> None:
        keys = [key for subject in self._subjects for key in subject.entries(self._image)]
        self._image.fold.watch(keys)
