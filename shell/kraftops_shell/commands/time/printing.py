"""The text and JSON of changes of the log, as history-of has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.image.history import record_type
from kraftops.image.state.changes import Change
from kraftops.image.state.fields import ChangeKind
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.search import LogChange
from kraftops.tree.changed_leaves import changed_leaves
from kraftops.tree.diff import Difference
from kraftops.tree.node import json_text
from kraftops_shell.grammar.paths import escaped
from kraftops_shell.output.change_format import (
    change_data,
    change_text,
    fields_data,
    fields_text,
)
from kraftops_shell.session.moving import travel_of
from kraftops_shell.session.session import Session


class LeafChange(NamedTuple):
    """A change of a leaf, and the type of the record that made it."""

    change: Change
    type: str
    difference: Difference

    @property
    def path(self) -> str:
        """The path of the leaf."""
        return "/" + "/".join(map(escaped, self.difference.names))

    def line(self) -> str:
        """Return it as a line."""
        difference = self.difference
        if difference.kind is ChangeKind.CHANGED:
            text = fields_text(difference.fields)
        elif difference.kind is ChangeKind.ADDED:
            text = json_text(difference.new)
        else:
            text = "removed"
        return f"{change_text(self.change)}  {self.type}  {self.path}  {text}"

    def data(self) -> dict[str, object]:
        """Return it as plain data."""
        difference = self.difference
        is_changed = difference.kind is ChangeKind.CHANGED
        return {
            **change_data(self.change),
            "type": self.type,
            "path": self.path,
            "change": difference.kind.value,
            "fields": fields_data(difference.fields) if is_changed else None,
            "old": difference.old,
            "new": difference.new,
        }


def leaf_changes(session: Session, change: LogChange, after: MetadataImage) -> Iterator[LeafChange]:
    """Yield the changes of leaves by a change of the log, to the state *after* it.

    Raises:
        KraftopsError: the log cannot be read any more.
    """
    source = session.source
    try:
        before = travel_of(session).at(offset=change.offset - 1)
    except UsageError:
        before = MetadataImage(after.dialect)  # it is the first
    trees = source.tree(before), source.tree(after)
    yielded = set()
    for entry, record in zip(change.entries, change.records, strict=True):
        origin = Change(record.offset, record.timestamp, record.epoch, is_upper_bound=False)
        for difference in changed_leaves(entry, (before, trees[0]), (after, trees[1])):
            if difference.names not in yielded:
                yielded.add(difference.names)
                yield LeafChange(origin, record_type(record, after.dialect), difference)


def print_changes(session: Session, change: LogChange, after: MetadataImage) -> None:
    """Print the changes of leaves by a change of the log, and one line where there are none.

    They are rows of the session's JSON answer, if there is one.
    """
    is_told = False
    for leaf_change in leaf_changes(session, change, after):
        is_told = True
        if session.answer:
            session.answer.put(leaf_change.data())
        else:
            session.line(leaf_change.line())
    if is_told or session.answer:
        return
    if not change.records:
        session.line(f"{change.offset}  the end of a snapshot: earlier states are not in this log")
    for record in change.records:
        origin = Change(record.offset, record.timestamp, record.epoch, is_upper_bound=False)
        session.line(
            f"{change_text(origin)}  {record_type(record, after.dialect)}  nothing changed"
        )
