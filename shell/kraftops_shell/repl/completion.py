"""What a line may go on with: commands, flags, paths of the tree, files of the system.

All of it is a function of the text before the cursor, and only one directory is listed for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kraftops.tree.node import Directory
from kraftops_shell.grammar import syntax, words
from kraftops_shell.grammar.paths import escaped, matches, split_last
from kraftops_shell.grammar.registry import Argument, Command, Flag
from kraftops_shell.grammar.words import Token
from kraftops_shell.session.session import Session

_MANY = 256
"""Children of a directory from which on they are all taken for what the first is."""
_OURS = re.compile(r"([\s'\"\\|>])")
_KAFKAS = re.compile(r"([\s'\"\\!])")
_FILE_VALUES = ("FILE", "DIR")
_COMMAND_NAMES, _SOURCES = "cmd", "sources"
"""The arguments of `man` and `verify`."""
_SOURCE = "source:"
"""Begins an argument of `diff` that is a file of the system."""


class Candidate(NamedTuple):
    """What may stand for the last characters before the cursor, as many as *length* says."""

    text: str
    length: int
    shown: str


class _Found(NamedTuple):
    """A word that would be right; one that *goes on* is the beginning of others."""

    text: str
    shown: str
    goes_on: bool = False


def candidates(session: Session, before: str) -> list[Candidate]:
    """Return what the text before the cursor may go on with, sorted."""
    tokens, start = _tokens(before, kafka=session.is_kafka)
    word, length = Token("", 0, 0), 0
    if tokens and start + tokens[-1].end == len(before):
        word = tokens.pop()
        length = word.end - word.start
    earlier = [token.text for token in tokens]
    found = _files(word.text) if start else _right_words(session, earlier, word.text)
    return [
        Candidate(_quoted(one, word.quote, kafka=session.is_kafka), length, one.shown)
        for one in found
    ]


def _tokens(before: str, *, kafka: bool) -> tuple[list[Token], int]:
    """Return the words of the last command, and where its part of the line begins.

    That is 0 for a command of the shell; others are programs or files of the system.
    """
    if kafka:
        return words.tokens(before), 0
    start = 0
    line = syntax.scan(before)
    while line.operator:
        start += line.rest_start
        line = syntax.scan(line.rest)
    return line.tokens, start


def _right_words(session: Session, earlier: list[str], word: str) -> Iterable[_Found]:
    known = session.commands
    if not earlier:
        return _of(known, word)
    command = known.get(earlier[0])
    if command is None:
        return []
    flags = {} if session.is_kafka else {flag.name: flag for flag in command.flags}
    flag, argument = _due(command, earlier[1:], flags)
    if word.startswith("-") and (flag is None or flag.is_list):
        return _of(flags, word)
    if flag:
        return _files(word) if flag.value in _FILE_VALUES else _of(flag.choices, word)
    if argument is None:
        return []
    if argument.name == _SOURCES:
        return _files(word)
    if word.startswith(_SOURCE) and not session.is_kafka:
        files = _files(word.removeprefix(_SOURCE))
        return [one._replace(text=_SOURCE + one.text) for one in files]
    if argument.is_path:
        return _paths(session, word)
    return _of(known, word) if argument.name == _COMMAND_NAMES else []


def _of(names: Iterable[str], word: str) -> list[_Found]:
    return [_Found(name, name) for name in names if name.startswith(word)]


def _due(
    command: Command, earlier: list[str], flags: dict[str, Flag]
) -> tuple[Flag | None, Argument | None]:
    """Return which flag wants a value after *earlier* words, or which argument comes next."""
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
    return None, last if last and last.number in ("*", "+") else None


def _paths(session: Session, word: str) -> Iterator[_Found]:
    """Yield the paths that begin as *word* does, down to the next slash."""
    with_escapes = not session.is_kafka
    before, partial = split_last(word, with_escapes=with_escapes)
    if partial == "..":
        yield _Found(f"{before}../", "../", goes_on=True)
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
    for at, name in enumerate(sorted(names)):
        if not directory.is_flat and not (is_alike and at):
            has_children = isinstance(directory.get(name), Directory)
        slash = "/" if has_children else ""
        yield _Found(before + names[name] + slash, name + slash, goes_on=has_children)


def _files(word: str) -> Iterator[_Found]:
    """Yield the files of the system that begin as *word* does."""
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
            yield _Found(folder + slash + name + end, name + end, goes_on=is_folder)


def _quoted(found: _Found, quote: str, *, kafka: bool) -> str:
    """Return a word as it is typed, behind the quote that was; a blank ends it if it is whole."""
    text = found.text
    if not quote:
        text = (_KAFKAS if kafka else _OURS).sub(r"\\\1", text)
    elif kafka or quote == '"':
        text = quote + re.sub(rf"([{quote}\\])", r"\\\1", text)
    else:
        text = quote + text.replace("'", "'\\''")
    return text if found.goes_on else f"{text}{quote} "
