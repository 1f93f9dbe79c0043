"""The text and JSON of changes of the log, as history-of has them."""

from collections.abc import Iterator

from kraftops.errors import UsageError
from kraftops.image.history import Step, history, record_type
from kraftops.image.state.changes import Change
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.search import LogChange
from kraftops.tree.changed_leaves import changed_leaves
from kraftops.tree.history_subjects import history_subject
from kraftops_shell.grammar.paths import escaped
from kraftops_shell.output.change_format import change_text, step_data, step_text
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.moving import travel_of
from kraftops_shell.session.session import Session


def _steps(session: Session, change: LogChange, after: MetadataImage) -> Iterator[Step]:
    """Yield the changes of leaves by a change of the log, to the state *after* it.

    Raises:
        KraftopsError: the log can no longer be read.
    """
    source = session.source
    try:
        before = travel_of(session).at(offset=change.offset - 1)
    except UsageError:
        before = after.empty()  # it is the first
    trees = source.tree(before), source.tree(after)
    yielded = set()
    for entry, record in zip(change.entries, change.records, strict=True):
        origin = Change(record.offset, record.timestamp, record.epoch, is_upper_bound=False)
        for difference in changed_leaves(entry, (before, trees[0]), (after, trees[1])):
            if difference.names not in yielded:
                yielded.add(difference.names)
                kind, names, old, new = difference
                path = "/" + "/".join(map(escaped, names))
                yield Step(
                    kind=kind,
                    change=origin,
                    type=record_type(record, after.dialect),
                    path=path,
                    old=old,
                    new=new,
                )


def steps_of(source: ImageSource, names: tuple[str, ...]) -> list[Step]:
    """Return the changes of a node up to the state of a source; errors as `history`."""
    return history(
        source.log,
        history_subject(names, show_secrets=source.show_secrets),
        at_offset=source.at_offset,
        at_time=source.at_time,
        new_image=source.image.empty,
    )


def print_step(session: Session, step: Step) -> None:
    """Print a change of a leaf, whose path is whole, as a row of the session's answer or a line."""
    if session.answer:
        session.answer.put(step_data(step))
    else:
        session.wrapped_line(step_text(step))


def print_changes(session: Session, change: LogChange, after: MetadataImage) -> None:
    """Print the changes of leaves by a change of the log, and one line where there are none.

    They are rows of the session's JSON answer, if there is one.
    """
    is_told = False
    for step in _steps(session, change, after):
        is_told = True
        print_step(session, step)
    if is_told or session.answer:
        return
    if not change.records:
        session.wrapped_line(
            f"{change.offset}  the end of a snapshot: earlier states are not in this log"
        )
    for record in change.records:
        origin = Change(record.offset, record.timestamp, record.epoch, is_upper_bound=False)
        session.wrapped_line(
            f"{change_text(origin)}  {record_type(record, after.dialect)}  nothing changed"
        )
