"""The commands changes and incidents."""

from collections.abc import Sequence

from kraftops.answers.fields import Field, json_of
from kraftops.errors import UsageError
from kraftops.image.load.loading import limits_of
from kraftops.image.replay.limits import Limits
from kraftops.timeline.answer import INCIDENT
from kraftops.timeline.authorizer import allowed_requests, with_principals
from kraftops.timeline.changes import KINDS, ChangeLog, read_changes
from kraftops.timeline.incidents import incidents_of
from kraftops.timeline.selection import CHANGE, GROUP, ChangeFilter, by_cause, changes_where
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.moments import Moment
from kraftops_shell.session.moving import span_of, travel_of
from kraftops_shell.session.session import Session
from kraftops_terminal.tables import print_table, table_of


def changes(session: Session, call: Call) -> None:
    """Print the changes of the log that flags choose, up to where the session stands.

    Raises:
        UsageError: a flag has a wrong value.
    """
    change_filter = ChangeFilter(
        frozenset(_names(call, "--kind", KINDS)),
        frozenset(int(name) for name in _names(call, "--broker", None)),
        tuple(_names(call, "--topic", ())),
        changes_where(_words(call, "--where"), session.source.now()),
    )
    requests = allowed_requests(_words(call, "--authorizer-log"))
    rows = change_filter.chosen(with_principals(changes_between(session, call).changes, requests))
    if "--group-by" in call.flags:
        _print(session, call, "groups", GROUP, by_cause(rows))
    else:
        _print(session, call, "changes", CHANGE, rows)


def incidents(session: Session, call: Call) -> None:
    """Print the incidents of the log, up to where the session stands."""
    rows = incidents_of(changes_between(session, call, is_for_incidents=True))
    _print(session, call, "incidents", INCIDENT, rows)
    if not rows:
        session.err("incidents: the log has none")


def _print(
    session: Session, call: Call, name: str, fields: Sequence[Field], rows: Sequence[object]
) -> None:
    if not call.is_json:
        print_table(session.table_console, table_of(fields, rows))
        return
    answer = session.begin_json(call, name)
    for row in rows:
        answer.put(json_of(fields, row))


def changes_between(session: Session, call: Call, *, is_for_incidents: bool = False) -> ChangeLog:
    """Return the changes between --since and --until, and not after where the session stands."""
    since, until = span_of(session, call)
    last = session.source.image.offset
    before = _before(since)
    return read_changes(
        travel_of(session),
        since=before,
        until=Limits(
            until=last if until.offset is None else min(until.offset, last),
            time=_end(until),
        ),
        is_for_incidents=is_for_incidents,
    )


def _before(since: Moment) -> Limits | None:
    if since.offset is not None:
        return limits_of(since.offset - 1, None)
    return None if since.time is None else limits_of(None, since.time - 1)


def _end(until: Moment) -> int:
    return Limits().time if until.time is None else until.time - 1


def _words(call: Call, flag: str) -> list[str]:
    return [str(call.flags[flag])] if flag in call.flags else []


def _names(call: Call, flag: str, allowed: tuple[str, ...] | None) -> list[str]:
    """Return the names in a flag, separated by commas: of *allowed* ones, or numbers for None."""
    names = [name for text in _words(call, flag) for name in text.split(",")]
    for name in names:
        if allowed is None and not (name.isascii() and name.isdecimal()):
            raise UsageError(f"{flag}: {name!r} is not the id of a broker")
        if allowed and name not in allowed:
            raise UsageError(
                f"{flag}: {name!r} is not a kind", f"the kinds are {', '.join(allowed)}"
            )
    return names
