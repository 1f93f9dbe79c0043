"""The command diff."""

from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.image.state.fields import ChangeKind
from kraftops.tree.diff import Difference, diff
from kraftops.tree.node import Directory, Node, descend, json_text
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.moments import NOW
from kraftops_shell.grammar.paths import Match, absolute, escaped
from kraftops_shell.output.change_format import fields_data, fields_text
from kraftops_shell.session.moving import moment_of, travel_of
from kraftops_shell.session.session import OK, Session

IS_DIFFERENT = 2  # as of findings: 1 is a failure
_SOURCE = "source:"
_SIGNS = {
    ChangeKind.ADDED: "+",
    ChangeKind.REMOVED: "-",
    ChangeKind.CHANGED: "~",
}


class _Side(NamedTuple):
    """A side of a comparison: a whole state, or a node of the present state."""

    root: Directory
    match: Match | None


def diff_command(session: Session, call: Call) -> int:
    """Print the differences between two states or two nodes; return 2 if there is one."""
    old, new = (_side(session, word) for word in call.words[:2])
    if len(call.words) > 2:
        if old.match or new.match:
            raise UsageError("a path goes after two states, not after nodes")
        names = tuple(absolute(call.words[2], session.working, with_escapes=True))
        first, second = descend(old.root, names), descend(new.root, names)
    else:
        names = old.match.names if old.match else new.match.names if new.match else ()
        first, second = _node(old, names), _node(new, names)
    if first is None and second is None:
        session.print_error(f"diff: {call.words[-1]}: no such file or directory.", code="not-found")
    # A leaf that only the newer node has gets its path.
    new_names = new.match.names if new.match else names
    code = OK
    answer = session.begin_json(call, "differences") if call.is_json else None
    for difference in diff(first, second, names):
        code = IS_DIFFERENT
        below = difference.names[len(names) :]
        start = new_names if difference.kind is ChangeKind.ADDED else names
        path = "/" + "/".join(map(escaped, (*start, *below)))
        if answer:
            answer.put(_data(difference, path))
        else:
            session.line(_line(difference, path))
    return code


def _side(session: Session, word: str) -> _Side:
    """Return the side of a word: `@OFFSET`, `@TIME`, `now`, `source:PATH` or a path of the tree."""
    source = session.source
    if word.startswith("@") or word == NOW:
        offset, time = moment_of(session, word.removeprefix("@"))
        return _Side(source.tree(travel_of(session).at(offset=offset, time=time)), None)
    if word.startswith(_SOURCE):
        return _Side(source.tree(source.load([word.removeprefix(_SOURCE)])), None)
    matches = session.matches(word)
    if len(matches) != 1:
        problem = "several nodes" if matches else "no such file or directory."
        raise UsageError(
            f"diff: {word}: {problem}", "as @OFFSET, @TIME, now, source:PATH or /image/…"
        )
    return _Side(session.root, matches[0])


def _node(side: _Side, names: tuple[str, ...]) -> Node | None:
    return side.match.node if side.match else descend(side.root, names)


def _line(difference: Difference, path: str) -> str:
    if difference.kind is ChangeKind.CHANGED:
        text = fields_text(difference.fields)
    else:
        text = json_text(
            difference.old if difference.kind is ChangeKind.REMOVED else difference.new
        )
    return f"{_SIGNS[difference.kind]} {path}  {text}"


def _data(difference: Difference, path: str) -> dict[str, object]:
    return {
        "path": path,
        "change": difference.kind.value,
        "fields": fields_data(difference.fields) if difference.kind is ChangeKind.CHANGED else None,
        "old": difference.old,
        "new": difference.new,
    }
