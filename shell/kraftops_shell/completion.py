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
from kraftops_shell import syntax, words
from kraftops_shell.paths import escaped, matches, split_last
from kraftops_shell.session import Session
from kraftops_shell.table import Argument, Command, Flag
from kraftops_shell.words import Token

_MANY = 256
"""Children of a directory from which on they are all taken for what the first is."""
_OURS = re.compile(r"([\s'\"\\|>])")
_KAFKAS = re.compile(r"([\s'\"\\!])")
_FILE_VALUES = ("FILE", "DIR")
_COMMAND_NAMES = "cmd"
"""The argument of `man`."""


class Candidate(NamedTuple):
    """What may stand for the last characters before the cursor, as many as *length* says."""

    text: str
    length: int
    shown: str


class _Word(NamedTuple):
    """The word before the cursor; *quote* is the one that is open in it."""

    text: str
    quote: str
    length: int


class _Found(NamedTuple):
    """A word that would be right; one that *goes on* is the beginning of others."""

    text: str
    shown: str
    goes_on: bool = False


def candidates(session: Session, before: str) -> list[Candidate]:
    """Return what the text before the cursor may go on with, sorted."""
    tokens, is_file = _tokens(session, before)
    word = _last_word(tokens, before)
    earlier = [token.text for token in tokens]
    found = _files(word.text) if is_file else _right_words(session, earlier, word.text)
    return [
        Candidate(_quoted(one, word.quote, kafka=session.is_kafka), word.length, one.shown)
        for one in found
    ]


def _tokens(session: Session, before: str) -> tuple[list[Token], bool]:
    """Return the words of a line, and whether they are those of a file for the output."""
    if session.is_kafka:
        return words.tokens(before), False
    line = syntax.scan(before)
    if line.operator == "|":
        return [], True  # programs are not looked for, their files may be
    if line.operator:
        return [
            token._replace(start=token.start + line.rest_start)
            for token in syntax.scan(line.rest).tokens
        ], True
    return line.tokens, False


def _last_word(tokens: list[Token], before: str) -> _Word:
    """Take the word that the cursor is in from the words; it is empty where a new one begins."""
    if tokens and (tokens[-1].quote or not _ends_in_blank(before)):
        last = tokens.pop()
        return _Word(last.text, last.quote, len(before) - last.start)
    return _Word("", "", 0)


def _ends_in_blank(text: str) -> bool:
    if not text or not words.is_blank(text[-1]):
        return bool(text) and text[-1] in "|>"
    backslashes = len(text) - 1 - len(text[:-1].rstrip("\\"))
    return backslashes % 2 == 0


def _right_words(session: Session, earlier: list[str], word: str) -> Iterable[_Found]:
    known = session.commands
    if not earlier:
        return _of(known, word)
    command = known.get(earlier[0])
    if command is None:
        return []
    flags = {} if session.is_kafka else {flag.name: flag for flag in command.flags}
    before = flags.get(earlier[-1])
    if before is not None and before.value is not None:
        return _values(before, word)
    if flags and word.startswith("-"):
        return [
            _Found(f"{name}=" if flag.value else name, name, bool(flag.value))
            for name, flag in flags.items()
            if name.startswith(word)
        ]
    argument = _argument(command, earlier[1:], flags)
    if argument is None:
        return []
    if argument.is_path:
        return _paths(session, word)
    return _of(known, word) if argument.name == _COMMAND_NAMES else []


def _of(names: Iterable[str], word: str) -> list[_Found]:
    return [_Found(name, name) for name in names if name.startswith(word)]


def _values(flag: Flag, word: str) -> Iterable[_Found]:
    return _files(word) if flag.value in _FILE_VALUES else _of(flag.choices, word)


def _argument(command: Command, earlier: list[str], flags: dict[str, Flag]) -> Argument | None:
    """Return which argument of a command comes after *earlier* words."""
    count = 0
    is_value = False
    for word in earlier:
        if is_value or word in flags:
            is_value = not is_value and flags[word].value is not None
        elif not word.startswith("-"):
            count += 1
    if count < len(command.arguments):
        return command.arguments[count]
    last = command.arguments[-1] if command.arguments else None
    return last if last and last.number in ("*", "+") else None


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
