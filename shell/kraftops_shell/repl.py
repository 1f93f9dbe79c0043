"""The interactive shell: lines are read, run and answered, in Kafka's form or in ours."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Protocol

from kraftops.errors import KraftopsError
from kraftops_shell import syntax, words
from kraftops_shell.console import Console
from kraftops_shell.expansion import expanded
from kraftops_shell.history import KAFKAS_LIMIT, History, HistoryFile
from kraftops_shell.outlets import Outlet, Straight, ToFile, direct, measure
from kraftops_shell.paths import escaped
from kraftops_shell.reading import BadLineError
from kraftops_shell.session import FAILED, OK, Session

_KAFKAS_PROMPT = ">> "
_WELCOME = "Type help for the commands, exit or Ctrl-D to leave.\n"


class _Lines(Protocol):
    """Where lines come from."""

    def read(self, prompt: str) -> str:
        """Return the next line.

        Raises:
            EOFError: there are no more.
            KeyboardInterrupt: it is abandoned.
        """

    def keep(self, line: str) -> None:
        """Let a line be there to go back to."""


class _PlainLines:
    """Lines as they come, from a pipe or a terminal without a cursor."""

    def __init__(self, console: Console, *, is_prompting: bool, is_strict: bool) -> None:
        """Read the input of *console*; where that *is strict*, a line without its end is none."""
        self._console = console
        self._is_prompting = is_prompting
        self._is_strict = is_strict

    def read(self, prompt: str) -> str:
        """Return the next line."""
        if self._is_prompting:
            self._console.write(prompt)
        self._console.flush()
        line = self._console.read()
        if not line or (self._is_strict and not line.endswith("\n")):
            raise EOFError
        return line.rstrip("\r\n")

    def keep(self, line: str) -> None:
        """Forget the line: nobody can go back here."""


class _OnInterrupt(Protocol):
    def __call__(self, *, is_reading: bool) -> object:
        """Do what an interrupt calls for, while a line is read or a command runs."""


def talk_kafkas(session: Session, console: Console) -> int:
    """Be Kafka's shell until there are no more lines; return the exit code."""
    console.write("[ Kafka Metadata Shell ]\n")
    session.history = History(KAFKAS_LIMIT)
    lines: _Lines = _PlainLines(console, is_prompting=True, is_strict=True)
    if console.is_for_editing:
        from kraftops_shell.editor import Editor

        lines = Editor(session, console.write, toolbar=None, has_color=False)

    def answer(typed: str) -> None:
        line = expanded(typed, session.history)
        if line != typed and console.is_for_editing:
            console.write(f"{line}\n")
        if session.history.add(line):
            lines.keep(line)
        measure(session, console, has_columns=console.is_for_editing)
        session.run(words.words(line))

    def on_interrupt(*, is_reading: bool) -> None:
        if not console.is_for_editing:
            raise KeyboardInterrupt
        console.write("^C\n" if is_reading else "\n")

    _converse(session, console, lambda: lines.read(_KAFKAS_PROMPT), answer, on_interrupt)
    return OK


class OurShell:
    """Our shell; more than Kafka's, it can send the output of a command elsewhere."""

    def __init__(
        self, session: Session, console: Console, about: Callable[[], str], file: HistoryFile | None
    ) -> None:
        """Make a shell.

        Args:
            session: what it works on.
            console: where lines come from and output goes to.
            about: says what is browsed, for the toolbar.
            file: where lines are kept for the next session, if anywhere.
        """
        self._session = session
        self._console = console
        self._about = about
        self._file = file
        self._code = OK
        self._pager: str | None = None

    def talk(self) -> int:
        """Read and answer lines until there are no more; return the exit code.

        On a terminal it is 0, else that of the worst command.
        """
        console = self._console
        self._lines = self._begin()
        is_terminal = console.is_input_terminal and console.is_output_terminal

        def read() -> str:
            try:
                return self._lines.read(f"{self._place()}> ")
            except EOFError:
                if is_terminal and not console.is_for_editing:
                    console.write("\n")
                raise

        def on_interrupt(*, is_reading: bool) -> None:
            if not is_terminal:
                raise KeyboardInterrupt
            if not (is_reading and console.is_for_editing):
                console.write("\n")

        _converse(self._session, console, read, self.answer, on_interrupt)
        return OK if is_terminal else self._code

    def _begin(self) -> _Lines:
        console, session = self._console, self._session
        is_terminal = console.is_input_terminal and console.is_output_terminal
        if is_terminal:
            console.write(_WELCOME)
        if not console.is_for_editing:
            return _PlainLines(console, is_prompting=is_terminal, is_strict=False)
        from kraftops_shell.editor import Editor
        from kraftops_shell.programs import pager_command

        self._pager = pager_command(console.environment)
        if self._file:
            session.history = History(lines=self._file.load())
        has_color = console.has_color(for_terminal=True)
        return Editor(session, console.write, toolbar=self._about, has_color=has_color)

    def answer(self, text: str) -> None:
        """Run a line."""
        if self._session.history.add(text) and self._console.is_for_editing:
            self._lines.keep(text.strip())
            if self._file:
                self._file.add(text.strip())
        try:
            line = syntax.read_line(text)
            if line.words:
                self._run(line)
        except BadLineError as error:
            self._console.error(str(error))
            self._code = max(self._code, FAILED)
        except (KraftopsError, OSError):
            self._code = max(self._code, FAILED)
            raise

    def _run(self, line: syntax.Line) -> None:
        session, console = self._session, self._console
        outlet = self._outlet(line)
        direct(session, console, outlet)
        code = OK
        with outlet:
            code = session.run(line.words)
        self._code = max(self._code, code, outlet.code)

    def _outlet(self, line: syntax.Line) -> Outlet:
        if line.file:
            return ToFile(self._console, line.file, is_append=line.operator == ">>")
        if line.filter:
            from kraftops_shell.programs import ToProgram

            return ToProgram(self._console, line.filter)
        if self._pager:
            from kraftops_shell.programs import Pager

            return Pager(self._console, self._pager)
        return Straight(self._console)

    def _place(self) -> str:
        return "/" + "/".join(map(escaped, self._session.working))


def _converse(
    session: Session,
    console: Console,
    read: Callable[[], str],
    answer: Callable[[str], object],
    on_interrupt: _OnInterrupt,
) -> None:
    """Answer lines until the session is over or there are no more."""
    gc.freeze()  # the image has no cycles, and is too big to be looked through again and again
    gc.enable()
    while not session.is_over:
        is_reading = True
        try:
            console.flush()
            line = read()
            is_reading = False
            answer(line)
        except EOFError:
            return
        except KeyboardInterrupt:
            on_interrupt(is_reading=is_reading)
        except KraftopsError as error:
            _tell(console, error, error.message, error.hint)
        except OSError as error:
            if not error.filename:
                raise  # of standard output: nobody would see what comes
            _tell(console, error, f"{error.filename}: {error.strerror}", None)


def _tell(console: Console, error: Exception, message: str, hint: str | None) -> None:
    if console.is_debugging:
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            console.error(line)
        return
    console.error(message)
    if hint:
        console.error(f"hint: {hint}")
