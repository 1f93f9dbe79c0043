"""The commands help and man: texts in the shape of argparse4j's."""

from __future__ import annotations

from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.registry import Argument, Command, Flag
from kraftops_shell.session.session import Session

_WELCOME = "Welcome to the Apache Kafka metadata shell."
_HELP_COLUMN = 25
_USUAL_WIDTH = 80
_MARGIN = 5
_NARROWEST = 20
_COUNTS = {"": "{0}", "?": "[{0}]", "*": "[{0} [{0} ...]]", "+": "{0} [{0} ...]"}


def show_help(session: Session, _call: Call) -> None:
    """Print what commands there are."""
    names = "{" + ",".join(session.commands) + "}"
    page = _Page(session.text_width, is_kafkas=session.is_kafka)
    session.out(f"{_WELCOME}\n\n{page.usage('', [names, '...'])}\n\n")
    session.out(f"positional arguments:\n  {names}\n")
    for command in session.commands.values():
        session.out(page.entry(f"    {command.name}", command.help))


def man(session: Session, call: Call) -> None:
    """Print the manual of a command."""
    name = call.words[0]
    command = session.commands.get(name)
    if command is None:
        session.complain(f"man: unknown command {name}. Type help to get a list of commands.")
        return
    session.out(manual_text(command, session.text_width, with_flags=not session.is_kafka))


def manual_text(command: Command, width: int = _USUAL_WIDTH, *, with_flags: bool) -> str:
    """Return the manual of a command, for a terminal of *width* columns.

    Without its flags it is that of Kafka's form.
    """
    page = _Page(width, is_kafkas=not with_flags)
    flags = command.flags if with_flags else ()
    words = [f"[{_label(flag)}]" for flag in flags] + [*map(_usage_of, command.arguments)]
    parts = [f"{command.name}: {command.help}\n\n{page.usage(command.name, words)}\n"]
    if command.arguments:
        parts.append("\npositional arguments:\n")
        parts += [page.entry(f"  {one.name}", one.help) for one in command.arguments]
    if flags:
        parts.append("\noptions:\n")
        parts += [page.entry(f"  {_label(flag)}", flag.help) for flag in flags]
    if with_flags and command.details:
        parts.append(f"\n{page.text(command.details)}\n")
    if with_flags and command.examples:
        parts.append("\nexamples:\n")
        parts += [f"  {line}\n      {meaning}\n" for line, meaning in command.examples]
    return "".join(parts)


def _label(flag: Flag) -> str:
    return flag.name if flag.value is None else f"{flag.name} {flag.value}"


def _usage_of(argument: Argument) -> str:
    return _COUNTS[argument.number].format(argument.name)


class _Page:
    """Text for a terminal of some width; Kafka's is justified, and as narrow as it gets."""

    def __init__(self, columns: int, *, is_kafkas: bool) -> None:
        self._width = columns - _MARGIN
        self._is_kafkas = is_kafkas
        if not is_kafkas:
            self._width = max(self._width, _HELP_COLUMN + _NARROWEST)

    def usage(self, name: str, words: list[str]) -> str:
        """Return how something is used; the first word stays behind its name."""
        lines = [f"usage: {name}"]
        blank = " " * (len(lines[0]) + 1)
        for at, word in enumerate(words):
            if at and len(lines[-1]) + 1 + len(word) > self._width:
                lines.append(f"{blank}{word}")
            else:
                lines[-1] += f" {word}"
        return "\n".join(lines)

    def entry(self, label: str, text: str) -> str:
        """Return a name and what it is."""
        room = self._width - _HELP_COLUMN
        lines = _wrapped(text, room)
        shown = [" ".join(line) for line in lines]
        if self._is_kafkas:
            shown[:-1] = [_justified(line, room) for line in lines[:-1]]
        blank = "\n" + " " * _HELP_COLUMN
        head = label.ljust(_HELP_COLUMN) if len(label) < _HELP_COLUMN - 1 else label + blank
        return head + blank.join(shown) + "\n"

    def text(self, text: str) -> str:
        """Return paragraphs, each wrapped."""
        paragraphs = [_wrapped(one, self._width) for one in text.split("\n\n")]
        return "\n\n".join("\n".join(map(" ".join, lines)) for lines in paragraphs)


def _wrapped(text: str, room: int) -> list[list[str]]:
    """Return the words of a text in lines; the blank that follows a word needs room, too.

    Where even the first word is too long, the first line is empty (so is argparse4j's).
    """
    lines: list[list[str]] = [[]]
    used = 0
    words = text.split()
    for at, word in enumerate(words, 1):
        size = len(word) + (at < len(words))
        if used + size > room:
            lines.append([])
            used = 0
        lines[-1].append(word)
        used += size
    return lines


def _justified(words: list[str], width: int) -> str:
    """Return words as a line of this width; what is missing goes into the gaps in the middle."""
    gaps = len(words) - 1
    extra = width - len(" ".join(words))
    if gaps < 1:
        return "".join(words)
    every, some = divmod(extra, gaps)
    first = (gaps - some + 1) // 2
    parts = [words[0]]
    for at, word in enumerate(words[1:]):
        parts.append(" " * (1 + every + (first <= at < first + some)) + word)
    return "".join(parts)
