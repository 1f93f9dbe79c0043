"""The interactive shell in Kafka's form."""

from kraftops_shell.grammar import words
from kraftops_shell.grammar.aliases import with_alias
from kraftops_shell.output.outlets import set_widths
from kraftops_shell.repl.beginning import begin
from kraftops_shell.repl.repl import LineReader, PlainLineReader
from kraftops_shell.run import run_line
from kraftops_shell.session.console import Console
from kraftops_shell.session.history import KAFKAS_LIMIT, History, expanded
from kraftops_shell.session.session import Session

_PROMPT = ">> "


class KafkaShell:
    """Reads lines and runs them as Kafka's shell does."""

    code = 0
    """The exit code, also after commands that failed."""

    def __init__(self, session: Session, console: Console) -> None:
        self._session = session
        self._console = console
        console.write("[ Kafka Metadata Shell ]\n")
        session.history = History(KAFKAS_LIMIT)
        session.run = self._run
        begin(session, console)
        self._lines: LineReader = PlainLineReader(console, is_prompting=True, is_strict=True)
        if console.is_for_editing:
            from kraftops_shell.repl.editor import Editor

            self._lines = Editor(session, console, toolbar=None, has_color=False)

    def read(self) -> str:
        """Return the next line; errors as `LineReader.read`."""
        return self._lines.read(_PROMPT)

    def run_line(self, line: str) -> None:
        """Run a line after expanding its history events.

        Raises:
            KraftopsError: the source can no longer be read.
        """
        session, console = self._session, self._console
        expanded_line = expanded(line, session.history)
        if expanded_line != line and console.is_for_editing:
            console.write(f"{expanded_line}\n")
        if session.history.add(expanded_line):
            self._lines.keep(expanded_line)
        set_widths(session, console, has_columns=console.is_for_editing)
        self._run(expanded_line)

    def _run(self, line: str) -> int:
        """Run a line, on a terminal with aliases of ours at its beginning."""
        if self._session.is_on_terminal:
            line = with_alias(line, self._session.settings.aliases)
        return run_line(self._session, words.words(line))

    def interrupted(self, *, is_reading: bool) -> None:
        """Go on if lines are edited; end the session otherwise."""
        if not self._console.is_for_editing:
            raise KeyboardInterrupt
        self._console.write("^C\n" if is_reading else "\n")
