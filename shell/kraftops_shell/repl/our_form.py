"""The interactive shell in our form: output can go elsewhere, and long output is paged."""

from __future__ import annotations

from collections.abc import Callable

from kraftops_shell.grammar import syntax
from kraftops_shell.grammar.arguments import BadLineError
from kraftops_shell.grammar.paths import escaped
from kraftops_shell.output.outlets import Outlet, Straight, ToFile, direct
from kraftops_shell.repl.lines import Lines, PlainLines
from kraftops_shell.session.console import Console
from kraftops_shell.session.history import History, HistoryFile
from kraftops_shell.session.session import FAILED, OK, Session

_WELCOME = "Type help for the commands, exit or Ctrl-D to leave.\n"


class OurShell:
    """Reads lines and runs them, and remembers how they went."""

    def __init__(
        self, session: Session, console: Console, about: Callable[[], str], file: HistoryFile | None
    ) -> None:
        """Begin, on a terminal with a word of welcome.

        Args:
            session: what it works on.
            console: where lines come from and output goes to.
            about: says what is browsed, for the toolbar.
            file: where lines are kept for the next session, if anywhere.
        """
        self._session = session
        self._console = console
        self._file = file
        self._worst = OK
        self._pager: str | None = None
        self._is_on_terminal = console.is_input_terminal and console.is_output_terminal
        if self._is_on_terminal:
            console.write(_WELCOME)
        self._lines: Lines = PlainLines(console, is_prompting=self._is_on_terminal)
        if console.is_for_editing:
            from kraftops_shell.output.programs import pager_command
            from kraftops_shell.repl.editor import Editor

            self._pager = pager_command(console.environment)
            if file:
                session.history = History(lines=file.load())
            has_color = console.has_color(for_terminal=True)
            self._lines = Editor(session, console, toolbar=about, has_color=has_color)

    @property
    def code(self) -> int:
        """That of the worst command; 0 on a terminal, where whoever typed them has seen them."""
        return OK if self._is_on_terminal else self._worst

    def read(self) -> str:
        """Return the next line; errors as those of `Lines.read`."""
        place = "/" + "/".join(map(escaped, self._session.working))
        try:
            return self._lines.read(f"{self._session.mark}{place}> ")
        except EOFError:
            if self._is_on_terminal and not self._console.is_for_editing:
                self._console.write("\n")
            raise

    def answer(self, line: str) -> None:
        """Run a line.

        Raises:
            KraftopsError: the source cannot be read any more, or a file cannot be written.
            OSError: some other file cannot be, which it names; or standard output.
        """
        if self._session.history.add(line) and self._console.is_for_editing:
            self._lines.keep(line.strip())
            if self._file:
                self._file.add(line.strip())
        code = FAILED
        try:
            code = self._run(syntax.read_line(line))
        except BadLineError as error:
            self._console.error(str(error))
        finally:
            self._worst = max(self._worst, code)

    def interrupted(self, *, is_reading: bool) -> None:
        """Go on with a new line, if somebody types them."""
        if not self._is_on_terminal:
            raise KeyboardInterrupt
        if not (is_reading and self._console.is_for_editing):
            self._console.write("\n")

    def _run(self, line: syntax.Line) -> int:
        if not line.words:
            return OK
        outlet = self._outlet(line)
        direct(self._session, self._console, outlet)
        code = OK
        with outlet:
            code = self._session.run(line.words)
        return max(code, outlet.code)

    def _outlet(self, line: syntax.Line) -> Outlet:
        if line.file:
            return ToFile(self._console, line.file, is_append=line.operator == ">>")
        if line.filter:
            from kraftops_shell.output.programs import ToProgram

            return ToProgram(self._console, line.filter)
        if self._pager:
            from kraftops_shell.output.programs import Pager

            return Pager(self._console, self._pager)
        return Straight(self._console)
