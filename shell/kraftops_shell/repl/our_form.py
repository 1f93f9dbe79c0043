"""The interactive shell in our form: output to files, programs or a pager."""

from kraftops.errors import KraftopsError
from kraftops_shell.grammar import syntax
from kraftops_shell.grammar.aliases import with_aliases
from kraftops_shell.grammar.arguments import BadLineError
from kraftops_shell.grammar.paths import escaped
from kraftops_shell.output.outlets import (
    FileOutlet,
    Outlet,
    ProgramOutlet,
    StandardOutput,
    connected,
)
from kraftops_shell.repl.beginning import About, begin
from kraftops_shell.repl.repl import LineReader, PlainLineReader, print_error
from kraftops_shell.run import run_line
from kraftops_shell.session.console import Console
from kraftops_shell.session.history import History, HistoryFile
from kraftops_shell.session.session import FAILED, OK, Session
from kraftops_terminal.pager.pager import Pager, pager_command


class OurShell:
    """Reads lines and runs them, and keeps the highest exit code."""

    def __init__(
        self, session: Session, console: Console, about: About, file: HistoryFile | None
    ) -> None:
        """Print the welcome on a terminal.

        Args:
            session: the session.
            console: for lines and output.
            about: what is said of the image.
            file: the history file, if there is one.
        """
        self._session = session
        self._console = console
        self._file = file
        self._worst = OK
        self._pager: str | None = None
        self._count = 0
        self._is_on_terminal = console.is_input_terminal and console.is_output_terminal
        session.run = self._run
        begin(session, console)
        if self._is_on_terminal:
            for line in about.welcome(console.size().columns):
                console.write(f"{console.shown(line)}\n")
        self._lines: LineReader = PlainLineReader(console, is_prompting=self._is_on_terminal)
        if console.is_for_editing:
            from kraftops_shell.repl.editor import Editor

            self._pager = pager_command(console.environment)
            if file:
                session.history = History(lines=file.load())
            has_color = console.has_color(for_terminal=True)
            self._lines = Editor(
                session,
                console,
                toolbar=lambda: console.shown(about.toolbar(console.size().columns)),
                has_color=has_color,
            )

    @property
    def code(self) -> int:
        """The highest exit code of the commands; 0 on a terminal."""
        return OK if self._is_on_terminal else self._worst

    def read(self) -> str:
        """Return the next line; errors as `LineReader.read`."""
        if not self._is_on_terminal:
            self._count += 1
            self._session.place = f"standard input:{self._count}: "
        path = "/" + "/".join(map(escaped, self._session.working))
        try:
            return self._lines.read(f"{self._session.prompt_prefix}{self._console.shown(path)}> ")
        except EOFError:
            if self._is_on_terminal and not self._console.is_for_editing:
                self._console.write("\n")
            raise

    def run_line(self, line: str) -> None:
        """Run a line, and print its errors.

        Raises:
            OSError: standard output cannot be written.
        """
        if self._session.history.add(line) and self._console.is_for_editing:
            self._lines.keep(line.strip())
            if self._file:
                self._file.add(line.strip())
        code = FAILED
        try:
            code = self._run(line)
        finally:
            self._worst = max(self._worst, code)

    def interrupted(self, *, is_reading: bool) -> None:
        """Go on with a new line on a terminal; end the session otherwise."""
        if not self._is_on_terminal:
            raise KeyboardInterrupt
        if not (is_reading and self._console.is_for_editing):
            self._console.write("\n")

    def _run(self, text: str) -> int:
        """Run the commands of a text; return the highest exit code."""
        try:
            lines = syntax.read_line(with_aliases(text, self._session.settings.aliases))
        except BadLineError as error:
            self._session.print_error(str(error), code="usage")
            return FAILED
        code = OK
        for line in lines:
            if not self._session.is_over:
                code = max(code, self._run_or_print_error(line))
        return code

    def _run_or_print_error(self, line: syntax.Line) -> int:
        try:
            return self._run_command(line)
        except (KraftopsError, OSError) as error:
            print_error(self._session, self._console, error)
            return FAILED

    def _run_command(self, line: syntax.Line) -> int:
        if self._session.scripts and not (line.file or line.filter):
            return run_line(self._session, line.words)  # where the output of the script goes
        code = OK
        outlet = self._outlet(line)
        with connected(self._session, self._console, outlet):
            code = run_line(self._session, line.words)
        return max(code, outlet.code)

    def _outlet(self, line: syntax.Line) -> Outlet:
        if line.file:
            return FileOutlet(
                self._console,
                line.file,
                is_append=line.operator == ">>",
                is_private=self._session.shows_secrets,
            )
        if line.filter:
            return ProgramOutlet(self._console, line.filter)
        if self._pager is not None:
            return Pager(self._console, self._pager)
        return StandardOutput(self._console)
