"""A session of the shell: working directory, output, history and the image that is browsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from textwrap import wrap
from typing import TYPE_CHECKING

from kraftops.answers.version import JSON_VERSION
from kraftops.errors import KraftopsError, UsageError, with_code
from kraftops.tree.node import Directory, Leaf, descend, json_text
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.command import Command
from kraftops_shell.grammar.paths import Match, absolute, below, escaped, matches, meant_instead
from kraftops_shell.grammar.registry import commands, words_of_a_terminal
from kraftops_shell.session.console import Console
from kraftops_shell.session.history import History
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.settings import Settings
from kraftops_terminal.console import Console as TableConsole
from kraftops_terminal.json_text import plain_json

if TYPE_CHECKING:
    from kraftops.image.travel.travel import Travel
    from kraftops_shell.session.settings_file import SettingsFile

OK, FAILED = 0, 1
_TEXTS_AT_ONCE = 256  # a write costs as much as the text of a few leaves


@dataclass
class Session:
    """The state of a session; *out* and *err* write text as it is."""

    root: Directory
    out: Callable[[str], object]
    err: Callable[[str], object]
    is_kafka: bool
    """Whether commands, messages and exit codes are those of Kafka's shell."""
    is_one_shot: bool = False
    shown: Callable[[str], str] = str
    """Returns text from data for the present outlet: escaped on a terminal."""
    width: int = 0
    """Width for names in columns; 0 without a terminal."""
    text_width: int = 80
    """Width for wrapped text."""
    shown_leaf: Callable[[Leaf], str] = field(init=False)
    """Returns the text of a leaf for the present outlet.

    It is Kafka's text in Kafka's form, and JSON in ours, which is indented and coloured on a
    terminal (see `output.outlets.connect`). For sizes and searches use `Leaf.size` and `Leaf.json`.
    """
    table_console: TableConsole = field(init=False)
    """The present outlet, for tables (see `output.outlets.connect`)."""
    image_source: ImageSource | None = None
    """The image and its source, for commands that read it again."""
    refresh: Callable[[], object] = field(default=lambda: None)
    """Updates an image that follows a log; called before each command."""
    standing: int | None = None
    """The offset to which the session has moved; None where it shows what it was begun with."""
    travel: Travel | None = None
    """The states of the log, once the session has moved (see `session.moving`)."""
    go_home: Callable[[], object] | None = None
    """Returns to the image that follows a log, or a running quorum's; None without one."""
    prompt_prefix: str = ""
    """Text about the image, before the working directory in the prompt."""
    working: tuple[str, ...] = ()
    history: History = field(default_factory=History)
    is_over: bool = False
    console: Console | None = None
    """The console of an interactive session."""
    is_on_terminal: bool = False
    """Whether a person types the lines and reads the output of the present command."""
    settings: Settings = field(default_factory=Settings)
    settings_file: SettingsFile | None = None
    """The file that keeps them for later sessions."""
    run: Callable[[str], int] = field(default=lambda _: OK)
    """Runs a line as if it were typed, without the history; returns its exit code."""
    call: Callable[[Sequence[str]], int] = field(default=lambda _: OK)
    """Runs the words of a command, as `kraftops_shell.run.run_line`."""
    scripts: list[str] = field(default_factory=list)
    """Files whose lines are run."""
    place: str = ""
    """Name and line of a script, before errors."""
    first_error: KraftopsError | None = None
    """Why the present line failed, if it did."""
    answer: JsonAnswer | None = None
    """The JSON of the present line, which tells a failure, too; None where it has none."""

    def __post_init__(self) -> None:
        """Begin with an outlet that is not a terminal."""
        self.shown_leaf = self._kafka_text if self.is_kafka else plain_json
        self.table_console = TableConsole(self.out, -1, is_terminal=False, color="never")

    @property
    def commands(self) -> dict[str, Command]:
        """The commands of this session by name."""
        return commands(kafka=self.is_kafka, one_shot=self.is_one_shot)

    @property
    def words(self) -> dict[str, Command]:
        """The commands of ours that Kafka's form takes in this session, by name."""
        return words_of_a_terminal() if self.is_kafka and self.is_on_terminal else {}

    def print_error(self, message: str, usage: str = "", *, code: str = "failed") -> None:
        """Print that a part of a command failed, and perhaps the usage of the command."""
        self.first_error = self.first_error or KraftopsError(message, code=code)
        show = self.line if self.is_kafka else self.err
        show(f"{self.place}{message if self.is_kafka else with_code(message, code)}")
        if usage:
            show(usage)

    def begin_json(self, call: Call, rows: str = "") -> JsonAnswer:
        """Begin the JSON answer of a command; *rows* is the name of the list of its rows."""
        is_lines = call.flags.get("--format") == "ndjson"
        self.answer = JsonAnswer(self.out, call.command.name, rows, is_lines=is_lines)
        return self.answer

    def line(self, text: str) -> None:
        """Print a line, escaped: it may hold names from data."""
        self.out(f"{self.shown(text)}\n")

    def wrapped_line(self, text: str) -> None:
        """Print a line of text from data; on a terminal, long ones end between words."""
        lines = [text]
        if self.width:
            lines = wrap(text, self.width, subsequent_indent="  ", break_on_hyphens=False)
        for line in lines:
            self.line(line)

    def stream(self, texts: Iterable[str]) -> None:
        """Write many texts, some hundreds at a time."""
        rest = iter(texts)
        while block := "".join(islice(rest, _TEXTS_AT_ONCE)):
            self.out(block)

    @property
    def shows_secrets(self) -> bool:
        """Whether values that are secret are shown."""
        return self.image_source is not None and self.image_source.show_secrets

    @property
    def source(self) -> ImageSource:
        """The image and its source.

        Raises:
            UsageError: the source is unknown.
        """
        if self.image_source is None:
            raise UsageError("the source of this state is unknown: it cannot be read again")
        return self.image_source

    def indented_text(self, leaf: Leaf, indent: str) -> str:
        """Return the text of a leaf, indented; Kafka's shell indents only the first line."""
        if self.is_kafka:
            return indent + self.shown(leaf.kafka_text)
        return indent + self.shown_leaf(leaf).replace("\n", f"\n{indent}")

    def matches(self, path: str) -> list[Match]:
        return list(matches(self.root, path, self.working, with_escapes=not self.is_kafka))

    def targets(
        self, call: Call, paths: Iterable[str], missing: str = "no such file or directory."
    ) -> Iterator[tuple[str, Match]]:
        """Yield each path with each node that it matches; print an error for a path without any."""
        for path in paths:
            matches = self.matches(path)
            if not matches:
                text = f"{call.command.name}: {path}: {missing}{self._hint(path)}"
                self.print_error(text, code="not-found")
            for match in matches:
                yield path, match

    def _hint(self, path: str) -> str:
        """Return what may be meant by a path that does not exist; Kafka's form has no hints."""
        if self.is_kafka:
            return ""
        names = [*absolute(path, self.working, with_escapes=True)]
        if names and descend(self.root.get("image"), names) is not None:
            return f" Did you mean {Match(('image', *names), self.root).path}?"
        near = [*map(escaped, meant_instead(self.root, names))]
        parent = descend(self.root, names[:-1])
        if names and not near and parent is not None:
            near = [path for path in [below(parent, names[-1])] if path]
        return f" Did you mean {' or '.join(near)}?" if near else ""

    def _kafka_text(self, leaf: Leaf) -> str:
        return "\n".join(map(self.shown, leaf.kafka_text.split("\n")))


class JsonAnswer:
    """Writes the JSON of a command while its rows come: there can be millions."""

    def __init__(
        self, out: Callable[[str], object], command: str, rows: str = "", *, is_lines: bool = False
    ) -> None:
        """Begin the answer.

        Args:
            out: Writes text.
            command: Name of the command.
            rows: Name of the list of rows, or nothing where there are only fields.
            is_lines: Whether each row is a line of its own, without an object around them.
        """
        self._out = out
        self._rows = rows
        self._is_lines = is_lines
        self._has_row = self._is_over = False
        self._head = {"command": command, "formatVersion": JSON_VERSION}
        if not is_lines:
            out(json_text(self._head)[:-1])
        if rows and not is_lines:
            out(f",{json_text(rows)}:[")

    def put(self, row: Mapping[str, object]) -> None:
        self.put_texts([json_text(row)])

    def put_texts(self, rows: Sequence[str]) -> None:
        if self._is_lines:
            self._out("\n".join([*rows, ""]))
        else:
            self._out("," * self._has_row + ",".join(rows))
            self._has_row = True

    def put_fields(self, fields: Mapping[str, object]) -> None:
        """Write fields after others of the object that is open."""
        self._out(f",{json_text(fields)[1:-1]}")

    def end(self, fields: Mapping[str, object]) -> None:
        """Write further fields of the object, for example of a failure, and its end, once."""
        if self._is_over:
            return
        self._is_over = True
        if not self._is_lines:
            more = json_text(fields)[1:-1]
            self._out(("]" if self._rows else "") + (f",{more}" if more else "") + "}\n")
        elif fields:
            self._out(json_text({**self._head, **fields}) + "\n")
