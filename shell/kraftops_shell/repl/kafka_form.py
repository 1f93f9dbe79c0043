"""The interactive shell in Kafka's form."""

from __future__ import annotations

from kraftops_shell.grammar import words
from kraftops_shell.output.outlets import measure
from kraftops_shell.repl.lines import Lines, PlainLines
from kraftops_shell.session.console import Console
from kraftops_shell.session.expansion import expanded
from kraftops_shell.session.history import KAFKAS_LIMIT, History
from kraftops_shell.session.session import Session

_PROMPT = ">> "


class KafkaShell:
    """Reads lines and runs them as Kafka's shell does."""

    code = 0
    """Whatever commands say."""

    def __init__(self, session: Session, console: Console) -> None:
        """Begin with a word of welcome."""
        self._session = session
        self._console = console
        console.write("[ Kafka Metadata Shell ]\n")
        session.history = History(KAFKAS_LIMIT)
        self._lines: Lines = PlainLines(console, is_prompting=True, is_strict=True)
        if console.is_for_editing:
            from kraftops_shell.repl.editor import Editor

            self._lines = Editor(session, console, toolbar=None, has_color=False)

    def read(self) -> str:
        """Return the next line; errors as those of `Lines.read`."""
        return self._lines.read(_PROMPT)

    def answer(self, line: str) -> None:
        """Run a line, in which others may be named.

        Raises:
            KraftopsError: the source cannot be read any more.
        """
        session, console = self._session, self._console
        meant = expanded(line, session.history)
        if meant != line and console.is_for_editing:
            console.write(f"{meant}\n")
        if session.history.add(meant):
            self._lines.keep(meant)
        measure(session, console, has_columns=console.is_for_editing)
        session.run(words.words(meant))

    def interrupted(self, *, is_reading: bool) -> None:
        """Go on, unless the terminal is a dumb one, or none."""
        if not self._console.is_for_editing:
            raise KeyboardInterrupt
        self._console.write("^C\n" if is_reading else "\n")
