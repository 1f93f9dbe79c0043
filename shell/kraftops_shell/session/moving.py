"""Movement of a session through the states of its log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from kraftops.display.times import iso_time
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.travel import Travel
from kraftops.query.times import needs_end, span_end, time_note
from kraftops.tree.node import Directory, descend
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.moments import Moment, read_moment
from kraftops_shell.grammar.paths import escaped
from kraftops_shell.session.session import Session

BEGINNING = "the state before the first change"


def moment_of(session: Session, text: str) -> Moment:
    """Return the moment of a text, and tell which day a time of day got.

    Raises:
        UsageError: it is not a moment.
    """
    return _moment(session, text, session.source.newest_time)


def span_of(session: Session, call: Call) -> tuple[Moment, Moment]:
    """Return the moments of --since and --until, both None where they are not given; as above."""
    since = until = Moment(None, None)
    if "--since" in call.flags:
        since = moment_of(session, str(call.flags["--since"]))
    if "--until" in call.flags:
        text = str(call.flags["--until"])

        def end() -> int | None:
            return span_end(text, since.time, session.source.newest_time())

        until = _moment(session, text, end)
    return since, until


def _moment(session: Session, text: str, end: Callable[[], int | None]) -> Moment:
    time = text.removeprefix("@")
    last = end() if needs_end(time) else None
    moment = read_moment(text, session.source.now(), lambda: last)
    if moment.time is not None and (note := time_note(time, moment.time, last)):
        session.err(f"note: {note}")
    return moment


def travel_of(session: Session) -> Travel:
    """Return the states of the session's log; they are kept as long as it is the same log.

    Raises:
        UsageError: it cannot be read again.
    """
    source = session.source
    source.refuse_if_limited()
    names = source.log
    travel = session.travel
    if travel is None or travel.names != names:
        finish = source.quorum.complete if source.quorum else None
        travel = session.travel = Travel(names, new_image=source.image.empty, finish=finish)
    return travel


def move(session: Session, moment: Moment) -> list[str]:
    """Show the state at a moment; return lines about where that is.

    The working directory stays, or becomes the nearest one above it that exists there.

    Raises:
        KraftopsError: there is no such state.
    """
    if moment == Moment(None, None) and session.go_home is not None:
        session.standing, session.prompt_prefix = None, ""
        session.go_home()
    else:
        show(session, travel_of(session).at(offset=moment.offset, time=moment.time))
        if moment == Moment(None, None):
            session.standing, session.prompt_prefix = None, ""
    image = session.source.image
    lines = [place_line(image), *_stay(session)]
    if moment.offset is not None and moment.offset > max(image.offset, 0):
        lines.insert(1, f"the log has no change between that and @{moment.offset}")
    if session.is_on_terminal and session.standing is not None:
        end = "end of the log" if session.go_home is None else "newest state and follows it"
        lines.append(f"at now returns to the {end}")
    return lines


def show(session: Session, image: MetadataImage) -> None:
    """Show a state of the session's log."""
    source = session.source
    session.root = source.tree(image)
    session.image_source = replace(source, image=image, at_offset=image.offset, at_time=None)
    session.standing = image.offset
    time = iso_time(image.provenance.timestamp) if image.provenance.timestamp >= 0 else None
    clock = f"{time[:10]} {time[11:19]} " if time else ""
    session.prompt_prefix = f"@{max(image.offset, 0)} {clock}"


@contextmanager
def moved(session: Session, moment: Moment) -> Iterator[None]:
    """Show the state at a moment for a while; errors as `move`."""
    before = (
        session.root,
        session.image_source,
        session.standing,
        session.prompt_prefix,
        session.working,
    )
    show(session, travel_of(session).at(offset=moment.offset, time=moment.time))
    try:
        yield
    finally:
        (
            session.root,
            session.image_source,
            session.standing,
            session.prompt_prefix,
            session.working,
        ) = before


def place_line(image: MetadataImage) -> str:
    if image.offset < 0:
        return f"@0  {BEGINNING}"
    provenance = image.provenance
    time = iso_time(provenance.timestamp) if provenance.timestamp >= 0 else None
    return f"@{image.offset}  {time or 'no time'}  epoch {provenance.epoch}"


def _stay(session: Session) -> list[str]:
    """Go up from a working directory that does not exist here; return a line that says so."""
    former = session.working
    while not isinstance(descend(session.root, session.working), Directory):
        session.working = session.working[:-1]
    if session.working == former:
        return []
    missing, here = ("/" + "/".join(map(escaped, names)) for names in (former, session.working))
    return [f"{missing} does not exist here: now in {here}"]
