"""The command log."""

from collections.abc import Iterator
from dataclasses import replace

from kraftops.answers.fields import Field
from kraftops.display.sizes import number_text
from kraftops.errors import UsageError
from kraftops.query.filters import Filter
from kraftops.query.row import COLUMNS, Row
from kraftops.query.row_lines import chosen_csv, chosen_json, headers_json
from kraftops.tree.history_subjects import record_subject
from kraftops.uuids import to_text
from kraftops.views.columns import chosen_columns
from kraftops.views.log import (
    LogQuestion,
    all_rows,
    log_columns,
    log_query,
    newest_rows,
    offsets_about,
    split_by_column,
)
from kraftops.views.mentions import (
    ABOUT,
    TopicNames,
    decoded_value,
    mention,
    offsets_mentioning,
    topic_names,
)
from kraftops_shell.commands.views.printing import asks_for_csv, check_forms, print_rows
from kraftops_shell.grammar.arguments import Call, number_of
from kraftops_shell.grammar.paths import absolute
from kraftops_shell.session.moving import span_of
from kraftops_shell.session.session import FAILED, OK, Session

_MOST = 100
"""Records in a table, unless --limit has another number."""


def log(session: Session, call: Call) -> int:
    """Print the newest records of the log, the last one last."""
    check_forms(call)
    source = session.source
    every_column = log_columns(source.image.dialect)
    text = call.flags.get("--columns")
    chosen = None if text is None else chosen_columns([*every_column, ABOUT], str(text))
    limit = number_of(call, "--limit")
    question = _question(session, call)
    if call.words and question.offsets is not None and not question.offsets:
        session.print_error(f"log: {call.words[0]}: nothing of it is in the log.", code="not-found")
        return FAILED
    if call.is_json or asks_for_csv(call):
        if ABOUT in (chosen or ()):
            raise UsageError("about is a column of tables: JSON and CSV have the rows of a dump")
        names = [column.name for column in chosen or every_column]
        rows = all_rows(question) if limit is None else newest_rows(question, limit).rows
        if call.is_json:
            for row in rows:
                session.out(chosen_json(row, names))
            return OK
        session.out(",".join(names) + "\n")
        for row in rows:
            session.line(chosen_csv(row, names, is_safe="--csv-safe" in call.flags)[:-1])
        return OK
    newest = newest_rows(question, _MOST if limit is None else limit)
    if newest.earlier:
        more = f"{number_text(newest.earlier)} earlier records are not shown"
        session.err(f"log: {more}; --limit and --since choose others")
    _print_table(session, chosen, newest.rows, question)
    if not newest.rows and session.table_console.is_terminal:
        session.line("no records")
    return OK


def _question(session: Session, call: Call) -> LogQuestion:
    """Return the question of a call: records up to where the session stands.

    Raises:
        UsageError: a condition, time or path is wrong.
    """
    source, image = session.source, session.source.image
    where, about = "", None
    if "--where" in call.flags:
        text = str(call.flags["--where"])
        where, about = split_by_column(text, ABOUT, image.dialect, source.now())
    query = log_query(
        image.dialect,
        [where] if where else [],
        now=source.now(),
        limits=_limits(session, call),
        has_no_ops="--all" in call.flags,
    )
    query = replace(query, show_secrets=source.show_secrets, budget=image.store.budget)
    question = _of_nodes(session, call, LogQuestion(source.log, query, image.offset))
    if about is None:
        return question
    return question._replace(offsets=offsets_mentioning(question, about, _topics_of(session)))


def _of_nodes(session: Session, call: Call, question: LogQuestion) -> LogQuestion:
    """Return a question for the records that changed the nodes of a call, if it names some."""
    if not call.words:
        return question
    source, image = session.source, session.source.image
    subjects = [record_subject(*match) for match in session.matches(call.words[0])]
    # A deleted node has its old name.
    gone = tuple(absolute(call.words[0], session.working, with_escapes=True))
    subjects = subjects or [record_subject(gone, None)]
    if None in subjects:
        return question
    record_subjects = [subject for subject in subjects if subject]
    offsets = offsets_about(
        source.log, record_subjects, last_offset=image.offset, new_image=image.empty
    )
    return question._replace(offsets=offsets)


def _limits(session: Session, call: Call) -> Filter:
    """Return the limits of --since and --until: offsets, or times."""
    since, until = span_of(session, call)
    everything = Filter()
    return Filter(
        first_offset=everything.first_offset if since.offset is None else since.offset,
        last_offset=everything.last_offset if until.offset is None else until.offset,
        since=everything.since if since.time is None else since.time,
        until=everything.until if until.time is None else until.time,
    )


def _print_table(
    session: Session, chosen: list[Field] | None, rows: list[Row], question: LogQuestion
) -> None:
    image = session.source.image
    names = topic_names(rows, _topics_of(session), question)
    if chosen is None:
        chosen = [column for column in log_columns(image.dialect) if column.is_usual]
        chosen.insert(-1, ABOUT)

    def values(row: Row) -> Iterator[object]:
        for column in chosen:
            yield mention(row, names) if column is ABOUT else _value(row, column.name)

    print_rows(session, chosen, (tuple(values(row)) for row in rows))


def _topics_of(session: Session) -> TopicNames:
    ids = session.source.image.topic_ids
    return {to_text(topic_id): name for name, topic_id in ids.items()}


def _value(row: Row, name: str) -> object:
    if name == "value":
        return decoded_value(row)
    return headers_json(row) if name == "headers" else row[COLUMNS.index(name)]
