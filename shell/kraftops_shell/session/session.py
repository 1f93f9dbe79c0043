"""A session of the shell: where it is, what it writes to, and the lines that it was given."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from kraftops.errors import UsageError
from kraftops.tree.node import Directory, Leaf
from kraftops_shell.grammar.arguments import BadLineError, Call, read_call
from kraftops_shell.grammar.paths import Match, matches
from kraftops_shell.grammar.registry import Command, commands
from kraftops_shell.session.history import History
from kraftops_shell.session.origin import Origin

OK, FAILED = 0, 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


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
    """Columns for names side by side; 0 where there is no terminal for them."""
    text_width: int = 80
    """Columns for text that is wrapped."""
    leaf_text: Callable[[Leaf], str] = field(default=lambda leaf: leaf.text)
    origin: Origin | None = None
    """Where the image comes from; commands that read it again need this."""
    refresh: Callable[[], object] = field(default=lambda: None)
    """Brings the image up to date, where it follows a log; commands begin with it."""
    mark: str = ""
    """What the prompt says of the image before the working directory."""
    working: tuple[str, ...] = ()
    history: History = field(default_factory=History)
    is_over: bool = False
    has_failed: bool = False

    @property
    def commands(self) -> dict[str, Command]:
        """The commands that there are."""
        return commands(kafka=self.is_kafka, one_shot=self.is_one_shot)

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
            self.refresh()
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

    @property
    def source(self) -> Origin:
        """Where the image comes from.

        Raises:
            UsageError: nobody knows.
        """
        if self.origin is None:
            raise UsageError("nobody knows where this state comes from: it cannot be read again")
        return self.origin

    def indented_text(self, leaf: Leaf, indent: str) -> str:
        """Return the text of a leaf for a line that begins with *indent*, and so do its others.

        Kafka's shell indents only the first.
        """
        text = self.leaf_text(leaf)
        return indent + (text if self.is_kafka else text.replace("\n", f"\n{indent}"))

    def matches(self, path: str) -> list[Match]:
        """Return what a path names, none where nothing is there."""
        return list(matches(self.root, path, self.working, with_escapes=not self.is_kafka))


def leave(session: Session, _call: Call) -> None:
    """End the session."""
    session.is_over = True


def history(session: Session, call: Call) -> None:
    """Print the lines that were given, the last of them or all."""
    count = None
    if call.words:
        text = call.words[0]
        if not _INTEGER.fullmatch(text):
            raise BadLineError(
                f"argument numEntriesToShow: could not convert '{text}' to Integer "
                f'(For input string: "{text}")'
            )
        count = int(text)
    for number, line in session.history.last(count):
        session.out(f"{number:5}  {line}\n")
