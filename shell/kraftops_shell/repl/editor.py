"""A line editor for a terminal: history, completion and a toolbar (prompt_toolkit)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kraftops_shell.repl.completion import candidates
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import InMemoryHistory

_REFRESH_SECONDS = 1.0  # between updates of the toolbar


class Editor:
    """Reads lines from a terminal with a movable cursor."""

    def __init__(
        self,
        session: Session,
        console: Console,
        *,
        toolbar: Callable[[], str] | None,
        has_color: bool,
    ) -> None:
        """Edit lines of *session*, with its history.

        Args:
            session: for completions and history.
            console: the terminal.
            toolbar: returns the text below the line.
            has_color: whether colours may be used.
        """
        from prompt_toolkit import PromptSession  # heavy: 90 ms
        from prompt_toolkit.output import ColorDepth
        from prompt_toolkit.shortcuts import CompleteStyle

        self._console = console
        self._pasted: deque[str] = deque()
        self._history = _history(session.history)
        self._prompt: PromptSession[str] = PromptSession(
            history=self._history,
            completer=_completer(session, console),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            bottom_toolbar=toolbar,
            refresh_interval=_REFRESH_SECONDS,
            color_depth=None if has_color else ColorDepth.DEPTH_1_BIT,
            enable_suspend=True,
            reserve_space_for_menu=0,
        )

    def read(self, prompt: str) -> str:
        """Return the next line; several pasted lines come one by one.

        Raises:
            EOFError: the input has ended.
            KeyboardInterrupt: the user has abandoned the line.
        """
        if self._pasted:
            line = self._pasted.popleft()
            self._console.write(f"{prompt}{line}\n")
            return line
        self._console.flush()
        first, *others = self._prompt.prompt(prompt).splitlines() or [""]
        self._pasted.extend(others)
        return first

    def keep(self, line: str) -> None:
        """Add a line to the editor's history."""
        from prompt_toolkit.history import InMemoryHistory

        InMemoryHistory.append_string(self._history, line)


def _history(lines: Iterable[str]) -> InMemoryHistory:
    """Return a history with some lines."""
    from prompt_toolkit.history import InMemoryHistory

    class KeptLines(InMemoryHistory):
        """A history that only `Editor.keep` extends."""

        def append_string(self, string: str) -> None:
            """Ignore a line that was entered."""

    return KeptLines(list(lines))


def _completer(session: Session, console: Console) -> Completer:
    """Return the completions of a session as prompt_toolkit needs them."""
    from prompt_toolkit.completion import Completer, Completion

    class SessionCompleter(Completer):
        """Completes lines of the session."""

        def get_completions(
            self,
            document: Document,
            complete_event: CompleteEvent,  # noqa: ARG002 - prompt_toolkit's
        ) -> Iterable[Completion]:
            """Yield the completions of a line."""
            for one in candidates(session, document.text_before_cursor):
                yield Completion(one.text, -one.length, display=console.shown(one.shown))

    return SessionCompleter()
