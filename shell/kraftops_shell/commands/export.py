"""The command export."""

import os
from collections.abc import Iterator

from kraftops.errors import UsageError
from kraftops.fileio.output import OutputFlags, open_output
from kraftops.tree.node import Directory, Leaf, Node, json_text
from kraftops_shell.commands.walk import walk
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.paths import Match
from kraftops_shell.session.session import Session


def export(session: Session, call: Call) -> None:
    """Write a node and all nodes below it as one JSON value, or a line for each leaf."""
    matches = [match for _, match in session.targets(call, call.words or (".",))]
    if not matches:
        return
    texts = _lines if call.flags.get("--format") == "ndjson" else _value
    output = call.flags.get("--output")
    if output is None and call.flags.get("--overwrite"):
        raise UsageError("export: --overwrite needs --output")
    if output is None:
        for match in matches:
            for text in texts(match):
                session.out(text)
        return
    flags = OutputFlags(bool(call.flags.get("--overwrite")), session.shows_secrets)
    with open_output(str(output), flags=flags) as fd, os.fdopen(os.dup(fd), "wb") as file:
        for match in matches:
            for text in texts(match):
                file.write(text.encode("utf-8", "replace"))


def _value(match: Match) -> Iterator[str]:
    """Yield a line of JSON for a node in pieces; directories are objects."""
    yield from _json_pieces(match.node)
    yield "\n"


def _json_pieces(node: Node) -> Iterator[str]:
    """Yield the JSON of a node in pieces, between the braces of its directories."""
    if isinstance(node, Leaf):
        yield node.json
        return
    separator = "{"
    for name, child in node.children():
        yield f"{separator}{json_text(name)}:"
        yield from _json_pieces(child)
        separator = ","
    yield "{}" if separator == "{" else "}"


def _lines(match: Match) -> Iterator[str]:
    """Yield a line of JSON for each leaf: its path and its value."""
    for node in walk(match.node, match.path, match.name):
        if not isinstance(node.node, Directory):
            yield f'{{"path":{json_text(node.path)},"value":{node.node.json}}}\n'
