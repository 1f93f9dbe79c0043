"""A session of the shell: where it is, what it writes to, and the lines it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from kraftops.tree.node import Directory, Leaf
from kraftops_shell.paths import Match, matches
from kraftops_shell.reading import BadLineError, Call, read_call
from kraftops_shell.table import Command, commands
from kraftops_shell.words import words

OK, FAILED = 0, 1


@dataclass
class Session:
    """What commands work on; *out* and *err* write text as it is."""

    root: Directory
    out: Callable[[str], object]
    err: Callable[[str], object]
    is_kafka: bool
    """Whether Kafka's shell is spoken: its commands, messages and exit codes."""
    is_one_shot: bool = False
    width: int = 0
    """Columns of the terminal; 0 where there is none."""
    leaf_text: Callable[[Leaf], str] = field(default=lambda leaf: leaf.text)
    working: tuple[str, ...] = ()
    lines: list[str] = field(default_factory=list)
    is_over: bool = False
    has_failed: bool = False

    @property
    def commands(self) -> dict[str, Command]:
        """The commands that there are."""
        return commands(kafka=self.is_kafka, one_shot=self.is_one_shot)

    def run_line(self, line: str) -> int:
        """Run a line that was typed; return the exit code of its command."""
        if not line.strip():
            return OK
        self.lines.append(line)
        return self.run(words(line))

    def run(self, line: Sequence[str]) -> int:
        """Run the words of a line; return the exit code of its command.

        Raises:
            KraftopsError: the source cannot be read any more.
        """
        self.has_failed = False
        try:
            call = read_call(line, self.commands, kafka=self.is_kafka)
            if call is None:
                return OK
            module, _, name = call.command.place.partition(":")
            code: int = getattr(import_module(module), name)(self, call) or OK
        except BadLineError as error:
            self.complain(str(error))
            code = OK
        if self.is_kafka:
            return OK
        return code or (FAILED if self.has_failed else OK)

    def complain(self, message: str) -> None:
        """Say that something could not be done."""
        self.has_failed = True
        if self.is_kafka:
            self.out(f"{message}\n")
        else:
            self.err(message)

    def matches(self, path: str) -> list[Match]:
        """Return what a path names, none where nothing is there."""
        return list(matches(self.root, path, self.working, with_escapes=not self.is_kafka))


def leave(session: Session, _call: Call) -> None:
    """End the session."""
    session.is_over = True


def history(session: Session, call: Call) -> None:
    """Print the lines that were given, the last of them or all."""
    count = len(session.lines)
    if call.words:
        try:
            count = int(call.words[0])
        except ValueError:
            text = call.words[0]
            raise BadLineError(
                f"argument numEntriesToShow: could not convert '{text}' to Integer "
                f'(For input string: "{text}")'
            ) from None
    first = max(0, len(session.lines) - max(count, 0))
    for number, line in enumerate(session.lines[first:], first):
        session.out(f"{number:5}  {line}\n")
