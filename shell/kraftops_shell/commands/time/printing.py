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
        found = self.difference
        if found.kind is ChangeKind.CHANGED:
            text = fields_text(found.fields)
        elif found.kind is ChangeKind.ADDED:
            text = json_text(found.new)
        else:
            text = "removed"
        return f"{change_text(self.change)}  {self.type}  {self.path}  {text}"

    def data(self) -> dict[str, object]:
        """Return it as plain data."""
        found = self.difference
        is_changed = found.kind is ChangeKind.CHANGED
        return {
            **change_data(self.change),
            "type": self.type,
            "path": self.path,
            "change": found.kind.value,
            "fields": fields_data(found.fields) if is_changed else None,
            "old": found.old,
            "new": found.new,
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
    told = set()
    for entry, record in zip(change.entries, change.records, strict=True):
        made = Change(record.offset, record.timestamp, record.epoch, is_upper_bound=False)
        for found in changed_leaves(entry, (before, trees[0]), (after, trees[1])):
            if found.names not in told:
                told.add(found.names)
                yield LeafChange(made, record_type(record, after.dialect), found)


def print_changes(session: Session, change: LogChange, after: MetadataImage) -> None:
    """Print the changes of leaves by a change of the log, and one line where there are none.

    They are rows of the session's JSON answer, if there is one.
    """
    is_told = False
    for found in leaf_changes(session, change, after):
        is_told = True
        if session.answer:
            session.answer.put(found.data())
        else:
            session.line(found.line())
    if is_told or session.answer:
        return
    if not change.records:
        session.line(f"{change.offset}  the end of a snapshot: earlier states are not in this log")
    for record in change.records:
        made = Change(record.offset, record.timestamp, record.epoch, is_upper_bound=False)
        session.line(f"{change_text(made)}  {record_type(record, after.dialect)}  nothing changed")
