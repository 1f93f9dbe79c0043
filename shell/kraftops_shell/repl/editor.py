"""A line editor for a terminal: history, completion and a toolbar (prompt_toolkit)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.errors import KraftopsError
from kraftops_shell.repl.completion import Candidate, candidates, place_of, quoted
from kraftops_shell.repl.highlight import parts_of
from kraftops_shell.repl.path_search import PathSearch
from kraftops_shell.repl.values import Value
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session
from kraftops_terminal.ending import EndedBySignal, telling_of_signals
from kraftops_terminal.widths import width_of_text

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.lexers import Lexer

_REFRESH_SECONDS = 1.0  # between updates of the toolbar
_SEARCH_SECONDS = 0.1  # that a person who types does not notice
_MENU = 200
"""Candidates of a menu: prompt_toolkit measures each before the first is drawn."""
_MENU_ROWS, _LEAST_ROWS = 6, 16
"""Rows that are kept for the menu, on a terminal with this many rows or more."""
_WITHOUT_COLOR = {"auto-suggestion": "dim", "unknown": "", "missing": ""}
_SEARCHING = " letters of a path; Enter, Esc"
_STYLES = {
    "command": "ansigreen",
    "unknown": "ansired",
    "flag": "ansicyan",
    "path": "underline",
    "missing": "ansired",
    "string": "ansiyellow",
    "operator": "bold",
    "system": "",
    "auto-suggestion": "ansibrightblack",
    "bottom-toolbar": "noreverse ansibrightblack",
    "completion-menu": "bg:default default",
    "completion-menu.completion": "bg:default default",
    "completion-menu.completion.current": "reverse",
    "completion-menu.meta.completion": "bg:default ansibrightblack",
    "completion-menu.meta.completion.current": "bg:default ansibrightblack",
    "scrollbar.background": "bg:default",
    "scrollbar.button": "bg:ansibrightblack",
}


class _Opened(NamedTuple):
    """An editor of prompt_toolkit, and its history."""

    lines: PromptSession[str]
    history: InMemoryHistory


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
        self._console = console
        self._session = session
        self._toolbar = toolbar
        self._has_color = has_color
        self._pasted: deque[str] = deque()
        self._opened: _Opened | None = None

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
        lines = (self._opened or self._open(prompt)).lines
        self._take_settings(lines)
        first, *others = _edited(lines, prompt).splitlines() or [""]
        self._pasted.extend(others)
        return first

    def keep(self, line: str) -> None:
        """Add a line to the editor's history."""
        from prompt_toolkit.history import InMemoryHistory

        if self._opened is not None:
            InMemoryHistory.append_string(self._opened.history, line)

    def _open(self, prompt: str) -> _Opened:
        """Import and begin the editor, behind a prompt; what is typed meanwhile waits for it."""
        if width_of_text(prompt) < self._console.size().columns:
            self._console.write(prompt)
            self._console.flush()
        try:
            opened = self._begun()
        except KeyboardInterrupt:
            self._console.write("\n")
            raise
        opened.lines.output.write_raw("\r")  # the editor draws the prompt again
        opened.lines.output.flush()
        self._opened = opened
        return opened

    def _begun(self) -> _Opened:
        from prompt_toolkit import PromptSession  # heavy: 90 ms
        from prompt_toolkit.output import ColorDepth
        from prompt_toolkit.shortcuts import CompleteStyle

        session, console, has_color = self._session, self._console, self._has_color
        history = _history(session.history)
        ours = (
            {}
            if session.is_kafka
            else _OurKeys(session, console, self._toolbar).options(has_color=has_color)
        )
        lines: PromptSession[str] = PromptSession(
            history=history,
            refresh_interval=_REFRESH_SECONDS,
            color_depth=None if has_color else ColorDepth.DEPTH_1_BIT,
            enable_suspend=True,
            **{
                "completer": _completer(session, console),
                "bottom_toolbar": self._toolbar,
                "complete_while_typing": False,
                "complete_style": CompleteStyle.READLINE_LIKE,
                "reserve_space_for_menu": 0,
                **ours,
            },
        )
        return _Opened(lines, history)

    def _take_settings(self, lines: PromptSession[str]) -> None:
        """Take the settings as they are now."""
        from prompt_toolkit.enums import EditingMode

        mode = self._session.settings.value("editing-mode")
        lines.editing_mode = EditingMode.VI if mode == "vi" else EditingMode.EMACS
        lines.mouse_support = self._session.settings.value("mouse") == "on"


def _edited(lines: PromptSession[str], prompt: str) -> str:
    """Return what is typed after a prompt.

    Raises:
        EOFError, KeyboardInterrupt: as `Editor.read`.
        EndedBySignal: such a signal has come; the terminal is as it was.
    """
    app = lines.app
    ended: list[int] = []

    def leave() -> None:
        if app.future and not app.future.done():
            app.exit(exception=EOFError)

    def tell(number: int) -> bool:
        if not app.is_running or app.loop is None:
            return False
        ended.append(number)
        app.loop.call_soon_threadsafe(leave)
        return True

    try:
        with telling_of_signals(tell):
            return lines.prompt(prompt)
    finally:
        if ended:
            raise EndedBySignal(ended[0])


class _OurKeys:
    """What our form has on the line: colours, suggestions, a menu, a search for paths."""

    def __init__(
        self, session: Session, console: Console, toolbar: Callable[[], str] | None
    ) -> None:
        self._session = session
        self._console = console
        self._toolbar = toolbar
        self._search: PathSearch | None = None
        self._searched_from = 0

    def options(self, *, has_color: bool) -> dict[str, Any]:
        """Return the arguments of prompt_toolkit's session."""
        from prompt_toolkit.auto_suggest import AutoSuggestFromHistory, ConditionalAutoSuggest
        from prompt_toolkit.filters import Condition
        from prompt_toolkit.shortcuts import CompleteStyle
        from prompt_toolkit.styles import Style

        has_menu = Condition(lambda: self._is_on("menu") or self._search is not None)
        completer = _completer(self._session, self._console, self._found)
        return {
            "auto_suggest": ConditionalAutoSuggest(
                AutoSuggestFromHistory(), Condition(lambda: self._is_on("suggestions"))
            ),
            "completer": completer,
            "complete_while_typing": has_menu,
            "complete_style": CompleteStyle.COLUMN,
            "reserve_space_for_menu": _MENU_ROWS if self._rows >= _LEAST_ROWS else 0,
            "bottom_toolbar": self._shown_toolbar if self._toolbar else None,
            "lexer": _lexer(self._session),
            "style": Style.from_dict(_STYLES if has_color else _STYLES | _WITHOUT_COLOR),
            "key_bindings": self._bindings(),
        }

    def _shown_toolbar(self) -> str:
        if self._search is not None:
            return _SEARCHING
        return self._toolbar() if self._toolbar else ""

    @property
    def _rows(self) -> int:
        return self._console.size().lines

    def _is_on(self, name: str) -> bool:
        return self._session.settings.value(name) == "on"

    def _found(self, before: str) -> list[Candidate]:
        """Return what the menu shows: what may follow, or the paths that a search has found."""
        if len(before) > self._searched_from and before.endswith(" "):
            self._search = None  # a blank ends the word, and so the search
        if self._search is None:
            return candidates(self._session, before, _MENU)
        word = place_of(self._session, before).word
        paths = self._search.best(word.text, seconds=_SEARCH_SECONDS)
        return [
            Candidate(
                quoted(Value(path, path, is_prefix=True), word.quote, kafka=False),
                word.end - word.start,
                path,
            )
            for path in paths
        ]

    def _bindings(self) -> KeyBindings:
        from prompt_toolkit.filters import Condition, completion_is_selected, has_completions
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()
        is_searching = Condition(lambda: self._search is not None)
        keys.add("c-t")(self._begin_search)
        keys.add("tab", filter=~is_searching)(_complete)
        keys.add("up", filter=has_completions & ~completion_is_selected & ~is_searching)(_earlier)
        for key in ("enter", "tab"):
            keys.add(key, filter=is_searching, eager=True)(self._take)
        for key in ("escape", "c-g"):
            keys.add(key, filter=is_searching, eager=True)(self._leave_search)
        keys.add("c-c", filter=is_searching, eager=True)(self._leave_search)
        return keys

    def _begin_search(self, event: KeyPressEvent) -> None:
        """Search paths with the letters of the present word, from now on."""
        self._search = PathSearch(self._session.root)
        self._searched_from = len(event.current_buffer.document.text_before_cursor)
        event.current_buffer.cancel_completion()
        event.current_buffer.start_completion(select_first=False)

    def _take(self, event: KeyPressEvent) -> None:
        """Take the chosen path, or the best one."""
        buffer = event.current_buffer
        state = buffer.complete_state
        chosen = state and state.current_completion
        if chosen is None:
            best = _completions(buffer)
            chosen = best[0] if best else None
        self._search = None
        if chosen:
            buffer.apply_completion(chosen)
        buffer.cancel_completion()

    def _leave_search(self, event: KeyPressEvent) -> None:
        """Leave the search, and the line as it was typed."""
        self._search = None
        event.current_buffer.cancel_completion()


def _complete(event: KeyPressEvent) -> None:
    """Complete what all candidates begin with; then go through them."""
    from prompt_toolkit.completion import get_common_complete_suffix

    buffer = event.current_buffer
    state = buffer.complete_state
    if state and state.current_completion:
        buffer.complete_next()
        return
    completions = _completions(buffer)
    common = get_common_complete_suffix(buffer.document, completions)
    if len(completions) == 1:
        buffer.apply_completion(completions[0])
        buffer.start_completion(select_first=False)
    elif common:
        buffer.insert_text(common)
    elif state:
        buffer.complete_next()
    else:
        buffer.start_completion(select_first=False)


def _completions(buffer: Buffer) -> list[Completion]:
    """Return the candidates now: prompt_toolkit would drop a key while it fills its menu."""
    from prompt_toolkit.completion import CompleteEvent

    return list(buffer.completer.get_completions(buffer.document, CompleteEvent()))


def _earlier(event: KeyPressEvent) -> None:
    """Go to the earlier line: a menu where nothing is chosen does not take this key."""
    event.current_buffer.cancel_completion()
    event.current_buffer.history_backward()


def _lexer(session: Session) -> Lexer:
    """Return the colours of a line as prompt_toolkit needs them."""
    from prompt_toolkit.lexers import Lexer

    class SessionLexer(Lexer):
        """Colours lines of the session."""

        def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
            def parts(number: int) -> StyleAndTextTuples:
                line = document.lines[number] if number < len(document.lines) else ""
                try:
                    styled_parts = parts_of(session, line)
                except KraftopsError:  # the source can no longer be read: the command will tell
                    return [("", line)]
                return [(part.style and f"class:{part.style}", part.text) for part in styled_parts]

            return parts

    return SessionLexer()


def _history(lines: Iterable[str]) -> InMemoryHistory:
    from prompt_toolkit.history import InMemoryHistory

    class KeptLines(InMemoryHistory):
        """A history that only `Editor.keep` extends."""

        def append_string(self, string: str) -> None:
            """Ignore a line that was entered."""

    return KeptLines(list(lines))


def _found(
    find: Callable[[str], list[Candidate]] | None, session: Session, before: str
) -> list[Candidate]:
    """Return the candidates; none where the source can no longer be read."""
    try:
        return find(before) if find else candidates(session, before)
    except KraftopsError:  # the command will tell
        return []


def _completer(
    session: Session, console: Console, find: Callable[[str], list[Candidate]] | None = None
) -> Completer:
    """Return the completions of a session as prompt_toolkit needs them."""
    from prompt_toolkit.completion import Completer, Completion

    class SessionCompleter(Completer):
        """Completes lines of the session."""

        def get_completions(
            self,
            document: Document,
            complete_event: CompleteEvent,  # noqa: ARG002 - prompt_toolkit's
        ) -> Iterable[Completion]:
            before = document.text_before_cursor
            for candidate in _found(find, session, before):
                yield Completion(
                    candidate.text,
                    -candidate.length,
                    display=console.shown(candidate.label),
                    display_meta=console.shown(candidate.phrase) if find else None,
                )

    return SessionCompleter()
