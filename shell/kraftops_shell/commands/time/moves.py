"""The commands at, next and prev."""

from kraftops.display.charts import sparkline
from kraftops.display.sizes import number_text
from kraftops.display.times import iso_time, time_fields
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.events import LogEvents, log_events
from kraftops.image.travel.search import LogChange, Wanted
from kraftops_shell.commands.time.printing import print_changes
from kraftops_shell.commands.time.wanted import wanted_below_any
from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.grammar.moments import Moment, first_moment
from kraftops_shell.grammar.paths import absolute
from kraftops_shell.session.moving import BEGINNING, moment_of, move, moved, travel_of
from kraftops_shell.session.session import FAILED, OK, Session

_BUCKETS = 60  # a column each, on a terminal of 80
_MOST_DIGITS = 9  # more changes than any log has
_MOST_SHOWN = 100
"""Changes on the way that are printed, those next to where it leads; `changes` prints all."""
_LABEL = 8  # letters before a value


def at(session: Session, call: Call) -> int:
    """Move to a moment, run a command at a moment, or tell where the session stands."""
    if not call.words:
        _print_place(session, call)
        return OK
    text, command = first_moment(call.words)
    moment = moment_of(session, text)
    if not command:
        for line in move(session, moment):
            session.wrapped_line(line)
        return OK
    with moved(session, moment):
        return session.call(command)


def next_change(session: Session, call: Call) -> int:
    """Move to a later change."""
    travel, number = travel_of(session), _number(call)
    log_changes = travel.after(session.source.image.offset, _wanted_by(session, call), number)
    return _arrive(session, call, log_changes, log_changes[-1:], number)


def previous_change(session: Session, call: Call) -> int:
    """Move to an earlier change."""
    travel, number = travel_of(session), _number(call)
    log_changes = travel.before(session.source.image.offset, _wanted_by(session, call), number)
    return _arrive(session, call, log_changes, log_changes[:1], number)


def _arrive(
    session: Session, call: Call, log_changes: list[LogChange], end: list[LogChange], number: int
) -> int:
    """Move to the change at one end of some changes, and print those on the way to it.

    Args:
        session: the session.
        call: the command.
        log_changes: those that were found, oldest first.
        end: the one to arrive at; none where no change was found.
        number: of changes that were asked for.
    """
    if not end:
        session.print_error(f"{call.command.name}: the log has no such change", code="not-found")
        return FAILED
    (arrival,) = end
    answer = session.begin_json(call, "changes") if call.is_json else None
    for line in move(session, Moment(arrival.offset, None)):
        if not answer:
            session.wrapped_line(line)
    travel = travel_of(session)
    printed = log_changes[:_MOST_SHOWN] if arrival is log_changes[0] else log_changes[-_MOST_SHOWN:]
    for change in printed:
        print_changes(session, change, travel.at(offset=change.offset))
    if len(printed) < len(log_changes):
        left_out = number_text(len(log_changes) - len(printed))
        session.err(f"{call.command.name}: {left_out} changes on the way are not shown")
    if len(log_changes) < number and not answer:
        session.line(f"no more than {len(log_changes)} of {number}: the log has no others")
    return OK


def _number(call: Call) -> int:
    text = call.words[0] if call.words else "1"
    if not (text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS and int(text)):
        raise BadLineError(f"{text!r} is not a number of changes", call.command.usage)
    return int(text)


def _wanted_by(session: Session, call: Call) -> Wanted:
    path, type_ = call.flags.get("--path"), call.flags.get("--type")
    places: list[tuple[str, ...]] = [()]
    if path:
        # A node that is not there now has its name.
        gone = tuple(absolute(str(path), session.working, with_escapes=True))
        places = [match.names for match in session.matches(str(path))] or [gone]
    return wanted_below_any(tuple(places), str(type_ or ""), session.source.image.dialect)


def _print_place(session: Session, call: Call) -> None:
    """Print where the session stands between the beginning and the end of the log."""
    image = session.source.image
    events = log_events(session.source.log, buckets=_BUCKETS, new_image=image.empty)
    provenance = image.provenance
    if call.is_json:
        session.begin_json(call).put_fields(_place_data(image, events))
        return
    time = iso_time(provenance.timestamp) if provenance.timestamp >= 0 else None
    if image.offset < 0:
        session.line(f"offset  none: {BEGINNING}")
    else:
        session.line(f"offset  {image.offset}")
        session.line(f"time    {time or 'no time'}")
        session.line(f"epoch   {provenance.epoch}")
    if events is None:
        return
    session.line(f"log     {events.first_offset} to {events.last_offset}")
    if events.start is None or events.step is None:
        return
    width = min(len(events.counts), max(session.text_width - _LABEL, 1))
    step, counts = events.step, events.counts
    while len(counts) > width:
        counts = [sum(counts[start : start + 2]) for start in range(0, len(counts), 2)]
        step *= 2
    mark = min(max((provenance.timestamp - events.start) // step, 0), len(counts) - 1)
    end = events.start + events.step * len(events.counts)
    session.line(f"        {iso_time(events.start)} to {iso_time(end)}")
    session.line(f"events  {sparkline(counts, width)}")
    session.line(f"        {' ' * mark}^")


def _place_data(image: MetadataImage, events: LogEvents | None) -> dict[str, object]:
    provenance = image.provenance
    place: dict[str, object] = {
        "offset": image.offset,
        **time_fields("timestamp", provenance.timestamp if provenance.timestamp >= 0 else None),
        "leaderEpoch": provenance.epoch,
    }
    if events is not None:
        place |= {"firstOffset": events.first_offset, "lastOffset": events.last_offset}
        place |= time_fields("eventsStart", events.start)
        place |= {"eventsStepMs": events.step, "events": events.counts}
    return place
