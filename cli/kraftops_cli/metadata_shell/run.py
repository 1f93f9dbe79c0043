"""A run of the metadata shell: load the image, then run a command or an interactive session."""

import os
import time
from functools import cache, partial
from typing import BinaryIO

from kraftops.errors import KraftopsError, SourceError
from kraftops.tree.node import Directory
from kraftops_cli.metadata_shell.request import ShellRequest
from kraftops_cli.metadata_shell.source import OpenedImage, open_image, print_findings
from kraftops_cli.terminal.failure import Failure, conclude
from kraftops_cli.terminal.streams import Terminal, encoded
from kraftops_cli.version import VERSION
from kraftops_shell.run import run_line
from kraftops_shell.session.console import Console
from kraftops_shell.session.history import HistoryFile, history_path
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.session import FAILED, Session
from kraftops_terminal.descriptors import is_terminal

_POLL_SECONDS = 0.5  # between two looks at the log for new records


def run(request: ShellRequest, terminal: Terminal) -> int:
    """Run the command of a request, or an interactive session; return the exit code."""
    is_readable = request.quorum or os.path.exists(request.source)
    if request.is_kafka and not request.words and is_readable:
        terminal.write("Loading...\n")
        terminal.flush()
    opened = open_image(terminal, request)
    image = opened.current.image
    code = print_findings(terminal, request.source, image)
    if request.at_offset is not None and request.at_offset > image.offset:
        terminal.error(f"note: the log ends at offset {image.offset}: this is the state there")
    browsed = _Browsed(request, terminal, opened)
    return max(browsed.run_command() if request.words else browsed.run_interactive(), code)


class _Browsed:
    """An image that a session browses."""

    def __init__(self, request: ShellRequest, terminal: Terminal, opened: OpenedImage) -> None:
        self._request = request
        self._terminal = terminal
        self._opened = opened
        if request.is_kafka:
            terminal.color = "never"
        self._session = Session(
            Directory(tuple, lambda _: None),
            terminal.write,
            terminal.line,
            request.is_kafka,
            is_one_shot=bool(request.words),
            shown=terminal.shown,
        )
        self._show()
        is_session = request.quorum or not request.words
        self._session.refresh = self._refresh_or_note if is_session else self._refresh
        self._session.travel = opened.travel
        if request.is_kept_current or request.quorum:
            self._session.go_home = self._show
        self._session.call = partial(run_line, self._session)

    def run_command(self) -> int:
        """Run the words of the request; for programs, a failure is in the answer or after it."""
        if self._request.is_kafka:
            return self._run_words()
        from kraftops_shell.output.outlets import StandardOutput, connect

        console = console_of(self._terminal)
        with StandardOutput(console) as outlet:
            connect(self._session, console, outlet)
            try:
                code = self._run_words()
            except KraftopsError as error:
                if not self._session.answer:
                    raise
                self._terminal.failure(error)  # the answer has it for programs
                return error.exit_code
        failure = self._session.first_error
        if code == FAILED and self._terminal.is_json and failure and not self._session.answer:
            return conclude(self._terminal, Failure(failure.code, failure.message))
        return code

    def run_interactive(self) -> int:
        from kraftops_shell.repl.repl import run_shell

        console = console_of(self._terminal)
        if self._request.is_kafka:
            from kraftops_shell.repl.kafka_form import KafkaShell

            self._terminal.write("Starting...\n")
            return run_shell(KafkaShell(self._session, console), self._session, console)

        from kraftops_shell.repl.beginning import About
        from kraftops_shell.repl.our_form import OurShell

        file = _history_file(console) if self._request.keeps_history else None
        shell = OurShell(self._session, console, About(self._toolbar, self._welcome), file)
        return run_shell(shell, self._session, console)

    def _run_words(self) -> int:
        """Run the command, and again after each change of a log that is followed."""
        words = self._request.words
        code = run_line(self._session, words)
        while self._request.follow and not self._request.is_browsed:
            self._terminal.flush()
            time.sleep(_POLL_SECONDS)
            if self._refresh():
                code = run_line(self._session, words)
        return code

    def _show(self) -> None:
        """Show the current image in the session."""
        request, image = self._request, self._opened.current.image
        self._session.root = request.tree(image)
        self._session.image_source = ImageSource(
            image,
            request.files,
            self._opened.quorum,
            at_offset=request.at_offset,
            at_time=request.at_time,
            is_limited=request.is_of_past,
            show_secrets=request.show_secrets,
            version=VERSION,
        )

    def _refresh(self) -> bool:
        """Update the image; tell whether it has changed."""
        has_changed = self._opened.current.update()
        if has_changed and self._session.standing is None:
            self._show()
        return has_changed

    def _refresh_or_note(self) -> None:
        """Update the image of a session; where that fails, go on with what is known."""
        try:
            self._refresh()
        except KraftopsError as error:
            offset = self._opened.current.image.offset
            self._session.err(f"note: {error.message}; this is the state at offset {offset}")

    def _welcome(self, width: int) -> list[str]:
        from kraftops_shell.repl.beginning import welcome_lines

        return welcome_lines(self._request.source, self._opened.current.image, width)

    def _toolbar(self, width: int) -> str:
        from kraftops_shell.repl.beginning import fitting, toolbar_text

        try:
            self._refresh()
        except KraftopsError as error:
            return fitting([f" {error.message}"], width)
        image, newest = self._session.source.image, self._opened.current.image
        return toolbar_text(self._request.source, image, width, newest.offset)


def _history_file(console: Console) -> HistoryFile | None:
    path = history_path(console.environment)
    return HistoryFile(path) if path else None


def console_of(terminal: Terminal) -> Console:
    return Console(
        write=terminal.write,
        flush=terminal.flush,
        error=terminal.line,
        read=_read_line,
        encode=encoded,
        environment=dict(os.environ),
        is_input_terminal=is_terminal(0),
        is_output_terminal=is_terminal(1),
        color=terminal.color,
        is_escaping=not terminal.keeps_escapes,
    )


def _read_line() -> str:
    """Return the next line of standard input; nothing at its end.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        return _input().readline().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SourceError(f"cannot read standard input: {error.strerror}") from None


@cache
def _input() -> BinaryIO:
    return open(0, "rb", closefd=False)
