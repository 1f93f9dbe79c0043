"""Completion of a line: commands, flags, paths of the tree, files of the system.

It depends on the text before the cursor alone, and lists only one directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kraftops.tree.node import Directory
from kraftops_shell.grammar import syntax, words
from kraftops_shell.grammar.command import Argument, Command, Flag, Values
from kraftops_shell.grammar.paths import escaped, matches, split_last
from kraftops_shell.grammar.words import Token
from kraftops_shell.session.session import Session

_MANY = 256
"""Above this number of children, all count as directories or leaves like the first."""
_OUR_SPECIAL = re.compile(r"([\s'\"\\|>;])")
_KAFKA_SPECIAL = re.compile(r"([\s'\"\\!])")
_SOURCE = "source:"


class Candidate(NamedTuple):
    """A replacement for the last *length* characters before the cursor."""

    text: str
    length: int
    shown: str


class _Word(NamedTuple):
    """A possible word; *is_prefix* means that it is the beginning of longer words."""

    text: str
    shown: str
    is_prefix: bool = False


def candidates(session: Session, before: str) -> list[Candidate]:
    """Return the completions of the text before the cursor, sorted."""
    tokens, start = _tokens(before, kafka=session.is_kafka)
    word, length = Token("", 0, 0), 0
    if tokens and start + tokens[-1].end == len(before):
        word = tokens.pop()
        length = word.end - word.start
    earlier = [token.text for token in tokens]
    found = _files(word.text) if start else _possible_words(session, earlier, word.text)
    return [
        Candidate(_quoted(one, word.quote, kafka=session.is_kafka), length, one.shown)
        for one in found
    ]


def _tokens(before: str, *, kafka: bool) -> tuple[list[Token], int]:
    """Return the words of the last command of a line, and its position.

    The position is 0 for a command of the shell; later ones are programs or files of the system.
    """
    if kafka:
        return words.tokens(before), 0
    start = 0
    line = syntax.scan(before)
    while line.operator:
        start += line.rest_start
        line = syntax.scan(line.rest)
    return line.tokens, start


def _possible_words(session: Session, earlier: list[str], word: str) -> Iterable[_Word]:
    if not earlier:
        return _of(session.commands, word)
    command = session.commands.get(earlier[0])
    if command is None:
        return ()
    flags = {} if session.is_kafka else {flag.name: flag for flag in command.flags}
    flag, argument = _due(command, earlier[1:], flags)
    if word.startswith("-") and (flag is None or flag.is_list):
        return _of(flags, word)
    if flag and flag.choices:
        return _of(flag.choices, word)
    expected = flag or argument
    return _values(session, expected.values, word) if expected else ()


def _values(session: Session, values: Values, word: str) -> Iterable[_Word]:
    """Return the values of a kind that begin as a word does."""
    match values:
        case Values.NODES:
            return _paths(session, word)
        case Values.STATES if word.startswith(_SOURCE):
            files = _files(word.removeprefix(_SOURCE))
            return [one._replace(text=_SOURCE + one.text) for one in files]
        case Values.STATES:
            return _paths(session, word)
        case Values.COMMANDS:
            return _of(session.commands, word)
        case Values.FILES | Values.DIRECTORIES:
            return _files(word)
        case _:
            return ()


def _of(names: Iterable[str], word: str) -> list[_Word]:
    return [_Word(name, name) for name in names if name.startswith(word)]


def _due(
    command: Command, earlier: list[str], flags: dict[str, Flag]
) -> tuple[Flag | None, Argument | None]:
    """Return the flag that needs a value after *earlier* words, or the next argument."""
    count = 0
    waiting: Flag | None = None
    for word in earlier:
        if word in flags:
            waiting = flags[word] if flags[word].value else None
        elif waiting:
            waiting = waiting if waiting.is_list else None
        elif not word.startswith("-"):
            count += 1
    if waiting or count < len(command.arguments):
        return waiting, None if waiting else command.arguments[count]
    last = command.arguments[-1] if command.arguments else None
    return None, last if last and last.nargs in ("*", "+") else None


def _paths(session: Session, word: str) -> Iterator[_Word]:
    """Yield the paths that begin with *word*, up to the next slash."""
    with_escapes = not session.is_kafka
    before, partial = split_last(word, with_escapes=with_escapes)
    if partial == "..":
        yield _Word(f"{before}../", "../", is_prefix=True)
        return
    found = matches(session.root, before, session.working, with_escapes=with_escapes)
    directory = next((match.node for match in islice(found, 1)), None)
    if not isinstance(directory, Directory):
        return
    typed = escaped if with_escapes else str
    names = {
        name: typed(name)
        for name in directory.names()
        if name.startswith(partial) or typed(name).startswith(partial)
    }
    is_alike = len(names) > _MANY
    has_children = False
    for index, name in enumerate(sorted(names)):
        if not directory.is_known_flat and not (is_alike and index):
            has_children = isinstance(directory.get(name), Directory)
        slash = "/" if has_children else ""
        yield _Word(before + names[name] + slash, name + slash, is_prefix=has_children)


def _files(word: str) -> Iterator[_Word]:
    """Yield the files of the system that begin with *word*."""
    folder, slash, partial = word.rpartition("/")
    try:
        with os.scandir(folder + slash or ".") as entries:
            found = sorted(
                (entry.name, entry.is_dir()) for entry in entries if entry.name.startswith(partial)
            )
    except OSError:
        return
    for name, is_folder in found:
        if partial or not name.startswith("."):
            end = "/" if is_folder else ""
            yield _Word(folder + slash + name + end, name + end, is_prefix=is_folder)


def _quoted(found: _Word, quote: str, *, kafka: bool) -> str:
    """Return a word as it is typed, in the open quote; a blank ends a complete word."""
    text = found.text
    if not quote:
        text = (_KAFKA_SPECIAL if kafka else _OUR_SPECIAL).sub(r"\\\1", text)
    elif kafka or quote == '"':
        text = quote + re.sub(rf"([{quote}\\])", r"\\\1", text)
    else:
        text = quote + text.replace("'", "'\\''")
    return text if found.is_prefix else f"{text}{quote} "
