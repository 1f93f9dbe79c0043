"""The commands help and man: texts in the shape of argparse4j's."""

from __future__ import annotations

from kraftops_shell.reading import Call
from kraftops_shell.session import Session
from kraftops_shell.table import Argument, Command

_WELCOME = "Welcome to the Apache Kafka metadata shell."
_HELP_COLUMN = 25
_USUAL_WIDTH = 80
_MARGIN = 5
_COUNTS = {"": "{0}", "?": "[{0}]", "*": "[{0} [{0} ...]]", "+": "{0} [{0} ...]"}


def show_help(session: Session, _call: Call) -> None:
    """Print what commands there are."""
    names = "{" + ",".join(session.commands) + "}"
    width = session.width or _USUAL_WIDTH
    session.out(f"{_WELCOME}\n\nusage:  {names} ...\n\npositional arguments:\n  {names}\n")
    for command in session.commands.values():
        session.out(_entry(f"    {command.name}", command.help, width))


def man(session: Session, call: Call) -> None:
    """Print the manual of a command."""
    name = call.words[0]
    command = session.commands.get(name)
    if command is None:
        session.complain(f"man: unknown command {name}. Type help to get a list of commands.")
        return
    width = session.width or _USUAL_WIDTH
    session.out(manual_text(command, width, with_flags=not session.is_kafka))


def manual_text(command: Command, width: int = _USUAL_WIDTH, *, with_flags: bool) -> str:
    """Return the manual of a command, for a terminal of *width* columns."""
    parts = [f"{command.name}: {command.help}\n\n{usage_text(command, with_flags=with_flags)}\n"]
    if command.arguments:
        parts.append("\npositional arguments:\n")
        parts += [_entry(f"  {one.name}", one.help, width) for one in command.arguments]
    if with_flags and command.flags:
        parts.append("\noptions:\n")
        for flag in command.flags:
            label = flag.name if flag.value is None else f"{flag.name} {flag.value}"
            parts.append(_entry(f"  {label}", flag.help, width))
    if with_flags and command.details:
        parts.append(f"\n{command.details}\n")
    if with_flags and command.examples:
        parts.append("\nexamples:\n")
        parts += [f"  {line}\n      {meaning}\n" for line, meaning in command.examples]
    return "".join(parts)


def usage_text(command: Command, *, with_flags: bool) -> str:
    """Return how a command is used, on one line."""
    words = [f"usage: {command.name}"]
    if with_flags:
        words += [
            f"[{flag.name}]" if flag.value is None else f"[{flag.name} {flag.value}]"
            for flag in command.flags
        ]
    words += map(_usage_of, command.arguments)
    return " ".join(words)


def _usage_of(argument: Argument) -> str:
    return _COUNTS[argument.number].format(argument.name)


def _entry(label: str, text: str, width: int) -> str:
    """Return a name and what it is, wrapped and justified as argparse4j does."""
    room = max(width - _MARGIN - _HELP_COLUMN, 20)
    lines: list[list[str]] = [[]]
    for word in text.split():
        if lines[-1] and len(" ".join([*lines[-1], word])) > room:
            lines.append([])
        lines[-1].append(word)
    shown = [_justified(line, room) for line in lines[:-1]] + [" ".join(lines[-1])]
    blank = "\n" + " " * _HELP_COLUMN
    head = label.ljust(_HELP_COLUMN) if len(label) < _HELP_COLUMN - 1 else label + blank
    return head + blank.join(shown) + "\n"


def _justified(words: list[str], width: int) -> str:
    """Return words as a line of this width; what is missing goes into the gaps in the middle."""
    gaps = len(words) - 1
    extra = width - len(" ".join(words))
    if gaps < 1:
        return words[0]
    every, some = divmod(extra, gaps)
    first = (gaps - some + 1) // 2
    parts = [words[0]]
    for at, word in enumerate(words[1:]):
        parts.append(" " * (1 + every + (first <= at < first + some)) + word)
    return "".join(parts)
