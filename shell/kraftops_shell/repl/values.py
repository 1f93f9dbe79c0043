"""Values that an argument or a flag may have: names of topics, columns, conditions and others."""

import re
from collections.abc import Callable, Iterable
from heapq import nsmallest
from typing import NamedTuple

from kraftops.records.decoders.metadata import DECODER
from kraftops_shell.grammar.command import Command, Task, Values
from kraftops_shell.session.session import Session
from kraftops_shell.session.settings import CHOICES

_MOST = 200
"""Values of the data that are offered, as many as of names; another letter finds the others."""
_NAME = re.compile(r"[\w.]*\Z")
_OPERATORS = ("and", "or", "not", "in", "is null")


class Value(NamedTuple):
    """A possible word, and a phrase about it; *is_prefix* if longer words begin with it."""

    text: str
    label: str
    is_prefix: bool = False
    phrase: str = ""


def of(names: Iterable[str], word: str) -> list[Value]:
    return [Value(name, name) for name in names if name.startswith(word)]


def commands_of(session: Session, word: str) -> list[Value]:
    """Return the commands and aliases that begin as a word does, with a phrase each."""
    commands = session.commands
    matching = [
        Value(name, name, phrase=candidate.line)
        for name, candidate in commands.items()
        if name.startswith(word)
    ]
    if session.is_kafka:
        return matching
    aliases = session.settings.aliases
    matching = [candidate for candidate in matching if candidate.text not in aliases]
    matching += [
        Value(candidate, candidate, phrase=aliases[candidate])
        for candidate in aliases
        if candidate.startswith(word)
    ]
    return sorted(matching)


def values_of(
    session: Session, values: Values, command: Command, earlier: list[str], word: str
) -> list[Value]:
    """Return the values of a kind for a word of *command*, whose words before are *earlier*."""
    match values:
        case Values.COLUMNS:
            before, comma, last = word.rpartition(",")
            return _after(before + comma, of(_columns(command), last))
        case Values.CONDITION:
            start = _start_of_name(word)
            if not word[start:] and word.strip() and not word.endswith(("(", " ", ",")):
                return []
            return _after(word[:start], of((*_columns(command), *_OPERATORS), word[start:]))
        case Values.SETTINGS:
            return of(CHOICES.get(earlier[-1], ()) if len(earlier) > 1 else CHOICES, word)
        case Values.HELP:
            tasks = [Value(task.word, task.word, phrase=task.title) for task in Task]
            return commands_of(session, word) + [
                value for value in tasks if value.text.startswith(word)
            ]
    find = _OF_SESSION.get(values)
    names = (name for name in find(session) if name.startswith(word)) if find else ()
    return of(nsmallest(_MOST, names), word)


def _columns(command: Command) -> Iterable[str]:
    from kraftops_shell.commands.views.columns import columns_of  # loads all views

    return (column.name for column in columns_of(command.name))


def _start_of_name(word: str) -> int:
    match = _NAME.search(word)
    return match.start() if match else len(word)


def _after(before: str, values: Iterable[Value]) -> list[Value]:
    """Complete the last part of a comma-separated word; more may follow."""
    return [
        Value(before + completion.text, completion.text, is_prefix=True) for completion in values
    ]


def _topics(session: Session) -> Iterable[str]:
    return session.source.image.topic_ids if session.image_source else ()


def _brokers(session: Session) -> Iterable[str]:
    return map(str, session.source.image.brokers) if session.image_source else ()


def _racks(session: Session) -> Iterable[str]:
    if not session.image_source:
        return ()
    image = session.source.image
    states = (image.broker_state(broker) for broker in image.brokers.values())
    return {rack for state in states if (rack := state["rack"])}


_OF_SESSION: dict[Values, Callable[[Session], Iterable[str]]] = {
    Values.TOPICS: _topics,
    Values.BROKERS: _brokers,
    Values.RACKS: _racks,
    Values.RECORD_TYPES: lambda _: DECODER.type_names(),
    Values.ALIASES: lambda session: session.settings.aliases,
}
