"""Colours of a line that is typed: its command, flags, strings, operators, and whether paths exist.

A look at a path costs a look into each directory on its way, and lists none.
"""

from typing import NamedTuple

from kraftops.tree.node import Directory, Node
from kraftops_shell.grammar import syntax
from kraftops_shell.grammar.command import Values
from kraftops_shell.grammar.globs import component_pattern
from kraftops_shell.grammar.paths import absolute
from kraftops_shell.grammar.words import Token
from kraftops_shell.repl.completion import due
from kraftops_shell.session.session import Session

COMMAND, UNKNOWN, FLAG, PATH, MISSING, STRING, OPERATOR, SYSTEM, PLAIN = (
    "command",
    "unknown",
    "flag",
    "path",
    "missing",
    "string",
    "operator",
    "system",
    "",
)


class Part(NamedTuple):
    """A part of a line and its style."""

    style: str
    text: str


def parts_of(session: Session, text: str) -> list[Part]:
    """Return a line of our form in parts, each with its style."""
    line_parts: list[Part] = []
    start, is_ours = 0, not text.lstrip().startswith("#")
    line = syntax.scan(text)
    while True:
        end = start + (line.rest_start or len(line.rest) or len(text) - start)
        body_end = end - len(line.operator)
        if is_ours:
            line_parts += _command(session, text, start, body_end, line.tokens)
        else:
            line_parts.append(Part(SYSTEM, text[start:body_end]))
        if not line.operator:
            return [part for part in line_parts if part.text]
        line_parts.append(Part(OPERATOR, line.operator))
        start = end
        if line.operator == "|":
            line_parts.append(Part(SYSTEM, text[start:]))
            return [part for part in line_parts if part.text]
        is_ours = line.operator == ";"
        line = syntax.scan(line.rest)


def _command(session: Session, text: str, start: int, end: int, tokens: list[Token]) -> list[Part]:
    command_parts: list[Part] = []
    position = start
    for index, token in enumerate(tokens):
        first, last = start + token.start, start + token.end
        is_last = last == len(text)
        command_parts.append(Part(PLAIN, text[position:first]))
        style = _style(session, text[first:last], tokens, index, is_last=is_last)
        command_parts.append(Part(style, text[first:last]))
        position = last
    command_parts.append(Part(PLAIN, text[position:end]))
    return command_parts


def _style(session: Session, raw: str, tokens: list[Token], index: int, *, is_last: bool) -> str:
    word = tokens[index].text
    if not index:
        words = {**session.commands, **session.settings.aliases}
        is_begun = is_last and any(name.startswith(word) for name in words)
        return COMMAND if word in words else PLAIN if is_begun else UNKNOWN
    earlier = [token.text for token in tokens[:index]]
    kind = due(session, earlier)
    if kind is Values.LINE:
        return STRING if raw[0] in "'\"" else PLAIN
    if raw.startswith("-") and len(raw) > 1:
        return FLAG
    if kind is Values.NODES:
        return _path_style(session, word, is_last=is_last)
    return STRING if raw[0] in "'\"" else PLAIN


def _path_style(session: Session, word: str, *, is_last: bool) -> str:
    """Return whether a path exists; one with a pattern, or that is still typed, may."""
    node: Node | None = session.root
    for part in absolute(word, session.working, with_escapes=True):
        if component_pattern(part):
            return PATH
        node = node.get(part) if isinstance(node, Directory) else None
        if node is None:
            return PLAIN if is_last else MISSING
    return PATH
