"""The command man, and the help of Kafka's form: texts in the shape of argparse4j's."""

from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.command import Command
from kraftops_shell.session.session import Session

_WELCOME = "Welcome to the Apache Kafka metadata shell."
_HELP_COLUMN = 25  # as argparse4j has it, and the next two
_USUAL_WIDTH = 80
_MARGIN = 5
_NARROWEST = 20  # of a help beside its label: a long word and some short ones


def print_commands(session: Session) -> None:
    """Print the list of commands, as Kafka's shell does."""
    names = "{" + ",".join(session.commands) + "}"
    page = _Page(session.text_width, is_kafka=session.is_kafka)
    session.out(f"{_WELCOME}\n\n{page.usage('', [names, '...'])}\n\n")
    session.out(f"positional arguments:\n  {names}\n")
    for command in session.commands.values():
        session.out(page.entry(f"    {command.name}", command.help))


def man(session: Session, call: Call) -> None:
    name = call.words[0]
    command = session.commands.get(name) or session.words.get(name)
    if command is None:
        session.print_error(
            f"man: unknown command {name}. Type help to get a list of commands.", code="usage"
        )
        return
    print_manual(session, command)


def print_manual(session: Session, command: Command) -> None:
    """Print the manual of a command; with flags, unless it is one of Kafka's in Kafka's form."""
    with_flags = not (session.is_kafka and command.is_kafkas)
    session.out(manual_text(command, session.text_width, with_flags=with_flags))


def manual_text(command: Command, width: int = _USUAL_WIDTH, *, with_flags: bool) -> str:
    """Return the manual of a command for a terminal of *width* columns.

    Without flags it is the manual of Kafka's form.
    """
    page = _Page(width, is_kafka=not with_flags)
    flags = command.flags if with_flags else ()
    words = command.usage_words(with_flags=with_flags)
    parts = [f"{command.name}: {command.help}\n\n{page.usage(command.name, words)}\n"]
    if command.arguments:
        parts.append("\npositional arguments:\n")
        parts += [page.entry(f"  {argument.name}", argument.help) for argument in command.arguments]
    if flags:
        parts.append("\noptions:\n")
        parts += [page.entry(f"  {flag.label}", flag.help) for flag in flags]
    if with_flags and command.details:
        parts.append(f"\n{page.text(command.details)}\n")
    if with_flags and command.examples:
        parts.append("\nexamples:\n")
        parts += [f"  {line}\n      {meaning}\n" for line, meaning in command.examples]
    return "".join(parts)


class _Page:
    """A page for a terminal; in Kafka's form justified, and without a least width."""

    def __init__(self, columns: int, *, is_kafka: bool) -> None:
        self._width = columns - _MARGIN
        self._is_kafka = is_kafka
        if not is_kafka:
            self._width = max(self._width, _HELP_COLUMN + _NARROWEST)

    def usage(self, name: str, words: list[str]) -> str:
        lines = [f"usage: {name}"]
        blank = " " * (len(lines[0]) + 1)
        for index, word in enumerate(words):
            if index and len(lines[-1]) + 1 + len(word) > self._width:
                lines.append(f"{blank}{word}")
            else:
                lines[-1] += f" {word}"
        return "\n".join(lines)

    def entry(self, label: str, text: str) -> str:
        room = self._width - _HELP_COLUMN
        lines = _wrapped(text, room)
        printed = [" ".join(line) for line in lines]
        if self._is_kafka:
            printed[:-1] = [_justified(line, room) for line in lines[:-1]]
        blank = "\n" + " " * _HELP_COLUMN
        head = label.ljust(_HELP_COLUMN) if len(label) < _HELP_COLUMN - 1 else label + blank
        return head + blank.join(printed) + "\n"

    def text(self, text: str) -> str:
        paragraphs = [_wrapped(paragraph, self._width) for paragraph in text.split("\n\n")]
        return "\n\n".join("\n".join(map(" ".join, lines)) for lines in paragraphs)


def _wrapped(text: str, room: int) -> list[list[str]]:
    """Return the words of a text in lines; the blank after a word counts, too.

    Before a first word that is too long comes an empty line, as in argparse4j.
    """
    lines: list[list[str]] = [[]]
    used = 0
    words = text.split()
    for count, word in enumerate(words, 1):
        size = len(word) + (count < len(words))
        if used + size > room:
            lines.append([])
            used = 0
        lines[-1].append(word)
        used += size
    return lines


def _justified(words: list[str], width: int) -> str:
    """Return words as a line of this width; the middle gaps are one blank wider."""
    gaps = len(words) - 1
    extra = width - len(" ".join(words))
    if gaps < 1:
        return "".join(words)
    every, some = divmod(extra, gaps)
    first = (gaps - some + 1) // 2
    parts = [words[0]]
    for gap, word in enumerate(words[1:]):
        parts.append(" " * (1 + every + (first <= gap < first + some)) + word)
    return "".join(parts)
