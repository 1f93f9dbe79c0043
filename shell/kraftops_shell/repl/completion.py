"""Completion of a line: commands, flags, paths of the tree, values, files of the system.

It depends on the text before the cursor alone, and lists only one directory.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kraftops.display.order import in_natural_order
from kraftops.tree.node import Directory, some_of
from kraftops_shell.grammar import syntax, words
from kraftops_shell.grammar.command import Argument, Command, Flag, Values
from kraftops_shell.grammar.paths import escaped, matches, split_last
from kraftops_shell.grammar.words import Token
from kraftops_shell.repl.values import Value, commands_of, of, values_of
from kraftops_shell.session.session import Session

_MOST = 200
"""Names of a directory that are offered at once: some screens; another letter finds the others."""
_MANY = 128
"""Above this number of children, all count as directories or leaves like the first."""
_OUR_SPECIAL = re.compile(r"([\s'\"\\|>;])")
_KAFKA_SPECIAL = re.compile(r"([\s'\"\\!])")
_SOURCE = "source:"


class Candidate(NamedTuple):
    """A replacement for the last *length* characters before the cursor, and a phrase about it."""

    text: str
    length: int
    label: str
    phrase: str = ""


class Place(NamedTuple):
    """The place of the cursor: the words of its command before it, and the word that it ends.

    *is_of_system* says that the command is a file or a program of the system.
    """

    earlier: list[str]
    word: Token
    is_of_system: bool


def place_of(session: Session, before: str) -> Place:
    """Return the place after a text, with the words of an alias for its name."""
    tokens, start, is_of_system = _tokens(before, kafka=session.is_kafka)
    word = Token("", len(before) - start, len(before) - start)
    if tokens and start + tokens[-1].end == len(before):
        word = tokens.pop()
    earlier = [token.text for token in tokens]
    alias = session.settings.aliases.get(earlier[0]) if earlier else None
    if alias and not session.is_kafka:
        line = syntax.scan(alias)
        earlier = line.words + earlier[1:] if not line.operator else []
    return Place(earlier, word, is_of_system)


def candidates(session: Session, before: str, limit: int | None = None) -> list[Candidate]:
    """Return the completions of the text before the cursor, sorted, no more than *limit*."""
    place = place_of(session, before)
    word = place.word
    if place.is_of_system:
        values = _files(word.text)
    else:
        values = iter(_possible_words(session, place.earlier, word.text))
    return [
        Candidate(
            quoted(candidate, word.quote, kafka=session.is_kafka),
            word.end - word.start,
            candidate.label,
            candidate.phrase,
        )
        for candidate in islice(values, limit)
    ]


def due(session: Session, earlier: list[str]) -> Values | None:
    """Return the kind of values that belongs after the words of a command, if one does."""
    command = session.commands.get(earlier[0]) if earlier else None
    if command is None:
        return None
    flag, argument = _due(command, earlier[1:], _flags(session, command))
    expected = flag or argument
    return None if expected is None or (flag and flag.choices) else expected.values


def _tokens(before: str, *, kafka: bool) -> tuple[list[Token], int, bool]:
    """Return the words of the last command of a line, its start, and whether it is the system's.

    Behind `|` and `>` are programs and files of the system.
    """
    if kafka:
        return words.tokens(before), 0, False
    start, is_of_system = 0, False
    line = syntax.scan(before)
    while line.operator:
        start += line.rest_start
        is_of_system = line.operator != ";" or (is_of_system and not _is_file(before, start))
        line = syntax.scan(line.rest)
    return line.tokens, start, is_of_system


def _is_file(before: str, start: int) -> bool:
    """Tell whether there is no program before a `;`, so that it belongs to our form."""
    return "|" not in before[:start]


def _flags(session: Session, command: Command) -> dict[str, Flag]:
    return {} if session.is_kafka else {flag.name: flag for flag in command.flags}


def _possible_words(session: Session, earlier: list[str], word: str) -> Iterable[Value]:
    if not earlier:
        return commands_of(session, word)
    command = session.commands.get(earlier[0])
    if command is None:
        return ()
    flags = _flags(session, command)
    flag, argument = _due(command, earlier[1:], flags)
    if argument and argument.values is Values.LINE and not word.startswith("-"):
        return _possible_words(session, _inner(command, earlier[1:], flags), word)
    if word.startswith("-") and (flag is None or flag.is_list):
        return [
            Value(name, name, phrase=option.help)
            for name, option in flags.items()
            if name.startswith(word)
        ]
    if flag and flag.choices:
        return of(flag.choices, word)
    expected = flag or argument
    return _values(session, expected.values, command, earlier, word) if expected else ()


def _inner(command: Command, earlier: list[str], flags: dict[str, Flag]) -> list[str]:
    """Return the words of the line that is an argument, without the flags and words before it."""
    before = [argument.values for argument in command.arguments].index(Values.LINE)
    inner = list(earlier)
    while inner and (inner[0] in flags or before):
        if inner[0] in flags:
            del inner[: 1 if flags[inner[0]].value is None else 2]
        else:
            del inner[0]
            before -= 1
    return inner


def _values(
    session: Session, values: Values, command: Command, earlier: list[str], word: str
) -> Iterable[Value]:
    """Return the values of a kind that begin as a word does."""
    match values:
        case Values.NODES:
            return _paths(session, word)
        case Values.STATES if word.startswith(_SOURCE):
            files = _files(word.removeprefix(_SOURCE))
            return [file._replace(text=_SOURCE + file.text) for file in files]
        case Values.STATES:
            return _paths(session, word)
        case Values.COMMANDS:
            return commands_of(session, word)
        case Values.FILES | Values.DIRECTORIES:
            return _files(word)
    return values_of(session, values, command, earlier, word)


def _due(
    command: Command, earlier: list[str], flags: dict[str, Flag]
) -> tuple[Flag | None, Argument | None]:
    """Return what the next word is: the value of a flag, or an argument."""
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


def _paths(session: Session, word: str) -> Iterator[Value]:
    """Yield the paths that begin with *word*, up to the next slash."""
    with_escapes = not session.is_kafka
    before, partial = split_last(word, with_escapes=with_escapes)
    if partial == "..":
        yield Value(f"{before}../", "../", is_prefix=True)
        return
    matching = matches(session.root, before, session.working, with_escapes=with_escapes)
    directory = next((match.node for match in islice(matching, 1)), None)
    if not isinstance(directory, Directory):
        return
    typed = escaped if with_escapes else str
    names = _names_in(directory, partial, typed)
    is_alike = len(names) > _MANY
    has_children = False
    for index, name in enumerate(in_natural_order(names) if with_escapes else sorted(names)):
        if not directory.is_known_flat and not (is_alike and index):
            has_children = isinstance(directory.get(name), Directory)
        slash = "/" if has_children else ""
        yield Value(before + typed(name) + slash, name + slash, is_prefix=has_children)


def _names_in(directory: Directory, partial: str, typed: Callable[[str], str]) -> list[str]:
    """Return the names that begin as a word does; of many the first ones and the last.

    What all of them begin with is what these begin with.
    """
    if "\\" in partial:
        names = directory.names()
        matching = (
            name for name in names if name.startswith(partial) or typed(name).startswith(partial)
        )
        return some_of(sorted(set(matching)), _MOST)
    if directory.beginning:
        return directory.beginning(partial, _MOST)
    return some_of(sorted({name for name in directory.names() if name.startswith(partial)}), _MOST)


def _files(word: str) -> Iterator[Value]:
    """Yield the files of the system that begin with *word*."""
    folder, slash, partial = word.rpartition("/")
    try:
        with os.scandir(folder + slash or ".") as entries:
            names = sorted(
                (entry.name, entry.is_dir()) for entry in entries if entry.name.startswith(partial)
            )
    except OSError:
        return
    for name, is_folder in names:
        if partial or not name.startswith("."):
            end = "/" if is_folder else ""
            yield Value(folder + slash + name + end, name + end, is_prefix=is_folder)


def quoted(completion: Value, quote: str, *, kafka: bool) -> str:
    """Return a word as it is typed, in the open quote; a blank ends a complete word."""
    text = completion.text
    if not quote:
        text = (_KAFKA_SPECIAL if kafka else _OUR_SPECIAL).sub(r"\\\1", text)
    elif kafka or quote == '"':
        text = quote + re.sub(rf"([{quote}\\])", r"\\\1", text)
    else:
        text = quote + text.replace("'", "'\\''")
    return text if completion.is_prefix else f"{text}{quote} "
