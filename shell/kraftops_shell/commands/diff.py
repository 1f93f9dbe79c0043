"""The command diff."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.image.state.fields import ChangeKind
from kraftops.tree.diff import Difference, diff
from kraftops.tree.node import Directory, Node, descend, json_text
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.moments import moment
from kraftops_shell.grammar.paths import Match, escaped
from kraftops_shell.output.change_format import fields_data, fields_text, json_line
from kraftops_shell.session.session import OK, Session

IS_DIFFERENT = 2
_SOURCE = "source:"
_SIGNS = {
    ChangeKind.ADDED: "+",
    ChangeKind.REMOVED: "-",
    ChangeKind.CHANGED: "~",
}


class _Side(NamedTuple):
    """What one side of a comparison names: a whole state, or a node of the present one."""

    root: Directory
    match: Match | None


def diff_command(session: Session, call: Call) -> int:
    """Print what is different between two states, or two nodes; return 2 if anything is."""
    old, new = (_side(session, word) for word in call.words[:2])
    if len(call.words) > 2:
        if old.match or new.match:
            raise UsageError("a path belongs behind two states, and not behind nodes")
        names = _names(session, call.words[2])
        first, second = descend(old.root, names), descend(new.root, names)
    else:
        names = old.match.names if old.match else new.match.names if new.match else ()
        first, second = _node(old, names), _node(new, names)
    if first is None and second is None:
        session.complain(f"diff: {call.words[-1]}: no such file or directory.")
    # What only the newer of two nodes has is there, and not where the older one is.
    new_names = new.match.names if new.match else names
    code = OK
    for found in diff(first, second, names):
        code = IS_DIFFERENT
        below = found.names[len(names) :]
        start = new_names if found.kind is ChangeKind.ADDED else names
        path = "/" + "/".join(map(escaped, (*start, *below)))
        if call.flags.get("--format") == "json":
            session.out(json_line(_data(found, path)))
        else:
            session.out(_line(found, path))
    return code


def _side(session: Session, word: str) -> _Side:
    """Return what a word names: `@OFFSET`, `@TIME`, `source:PATH` or a path of the tree."""
    origin = session.source
    if word.startswith("@"):
        offset, time = moment(word[1:], origin.now())
        return _Side(origin.tree(origin.load(at_offset=offset, at_time=time)), None)
    if word.startswith(_SOURCE):
        return _Side(origin.tree(origin.load([word.removeprefix(_SOURCE)])), None)
    found = session.matches(word)
    if len(found) != 1:
        problem = "several nodes" if found else "no such file or directory."
        raise UsageError(f"diff: {word}: {problem}", "as @OFFSET, @TIME, source:PATH or /image/…")
    return _Side(session.root, found[0])


def _node(side: _Side, names: tuple[str, ...]) -> Node | None:
    return side.match.node if side.match else descend(side.root, names)


def _names(session: Session, path: str) -> tuple[str, ...]:
    from kraftops_shell.grammar.paths import absolute

    return tuple(absolute(path, session.working, with_escapes=True))


def _line(found: Difference, path: str) -> str:
    if found.kind is ChangeKind.CHANGED:
        what = fields_text(found.fields)
    else:
        what = json_text(found.old if found.kind is ChangeKind.REMOVED else found.new)
    return f"{_SIGNS[found.kind]} {path}  {what}\n"


def _data(found: Difference, path: str) -> dict[str, object]:
    return {
        "path": path,
        "change": found.kind.value,
        "fields": fields_data(found.fields) if found.kind is ChangeKind.CHANGED else None,
        "old": found.old,
        "new": found.new,
    }
