"""The commands cat, cd, pwd and tree."""

from collections.abc import Iterator
from itertools import chain

from kraftops.java.text import sorted_strings
from kraftops.tree.node import Directory, Leaf, Node, is_view
from kraftops_shell.commands.node_rows import put_nodes
from kraftops_shell.commands.walk import walk
from kraftops_shell.grammar.arguments import Call, number_of
from kraftops_shell.grammar.paths import Match, escaped
from kraftops_shell.session.session import Session
from kraftops_terminal.json_text import plain_json

_MISSING = "No such file or directory."


def cat(session: Session, call: Call) -> None:
    """Print the values of leaves."""
    leaves = _leaves(session, call)
    if call.is_json:
        put_nodes(session, call, (match for match, _ in leaves))
        return
    for _, leaf in leaves:
        session.out(f"{session.shown_leaf(leaf)}\n")


def _leaves(session: Session, call: Call) -> Iterator[tuple[Match, Leaf]]:
    """Yield the leaves that are named; print an error for a directory."""
    for target, match in session.targets(call, call.words, _MISSING):
        if isinstance(match.node, Directory):
            session.print_error(f"cat: {target}: Is a directory", code="usage")
        else:
            yield match, match.node


def cd(session: Session, call: Call) -> None:
    """Change the working directory; of several matches, the last counts."""
    for target, match in session.targets(call, call.words or ("/",), "no such directory."):
        if isinstance(match.node, Directory):
            session.working = match.names
        else:
            session.print_error(f"cd: {target}: not a directory.", code="usage")


def pwd(session: Session, _call: Call) -> None:
    name = str if session.is_kafka else escaped
    session.line("/" + "/".join(map(name, session.working)))


def tree(session: Session, call: Call) -> None:
    """Print nodes and all nodes below them, or some levels."""
    deepest = number_of(call, "-L")
    targets = session.targets(call, call.words, _MISSING)
    if call.is_json:
        below = (walk(match.node, match.path, match.name, deepest) for _, match in targets)
        put_nodes(session, call, chain.from_iterable(below))
        return
    for _, match in targets:
        session.stream(_tree_texts(session, match.node, "", deepest))


def _tree_texts(session: Session, node: Node, indent: str, deepest: int | None) -> Iterator[str]:
    if not isinstance(node, Directory):
        yield f"{session.indented_text(node, indent)}\n"
        return
    below = indent + "  "
    if deepest is not None and len(below) > 2 * deepest:
        return
    if node.kafka_texts and session.is_kafka:
        texts = node.kafka_texts()
        names = sorted_strings(texts)
        escape = session.shown
        yield "".join(
            [f"{indent}{escape(name)}:\n{below}{escape(texts[name])}\n" for name in names]
        )
        return
    if node.json_texts and session.shown_leaf is plain_json and session.shown is str:
        pairs = node.json_texts()
        yield "".join([f"{indent}{name}:\n{below}{text}\n" for name, text in pairs])
        return
    ordered = node.sorted_names() if session.is_kafka else node.natural_names()
    if node.is_known_flat:
        text, get = session.indented_text, node.get
        lines = [
            f"{indent}{session.shown(name)}:\n{text(leaf, below)}\n"
            for name in ordered
            if isinstance(leaf := get(name), Leaf)
        ]
        yield "".join(lines)
        return
    for name in ordered:
        child = node.get(name)
        if is_view(child):
            continue
        yield f"{indent}{session.shown(name)}:\n"
        if child is not None:
            yield from _tree_texts(session, child, below, deepest)
