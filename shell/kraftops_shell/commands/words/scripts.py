"""The commands source and watch: lines of a file, and a command again and again."""

import time
from collections.abc import Callable, Sequence
from typing import Self

from kraftops.display.times import iso_time
from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.output.outlets import connected
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import OK, Session
from kraftops_terminal.escaping import escaped_lines
from kraftops_terminal.screen import Screen
from kraftops_terminal.widths import cut

_SECONDS = 2.0  # as of `watch` (procps)
_LEAST_SECONDS = 0.1  # as of `watch` (procps)
_STAYING = ("watch", "browse")
_ENDING = frozenset({"q", "escape", "end-of-input"})


def source(session: Session, call: Call) -> int:
    """Run the lines of a file; return the highest exit code of its commands."""
    path = call.words[0]
    if path in session.scripts:
        raise BadLineError(f"source: {path} is running already")
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().splitlines()
    place, code = session.place, OK
    session.scripts.append(path)
    try:
        for number, line in enumerate(lines, 1):
            session.place = f"{path}:{number}: "
            code = max(code, session.run(line))
            if session.is_over:
                break
    finally:
        session.place = place
        session.scripts.pop()
    return code


def watch(session: Session, call: Call) -> int:
    """Run a command again and again, until Ctrl-C; return its last exit code."""
    console = session.console
    if console is None or not (console.is_output_terminal and session.is_on_terminal):
        raise BadLineError("watch: it needs a terminal, and no | or > after it")
    if call.words[0] in _STAYING:
        raise BadLineError(f"watch: it cannot repeat {call.words[0]}, which ends by a key only")
    seconds = _seconds(call)
    title = f"{' '.join(call.words)}  every {seconds:g} s, Ctrl-C ends"
    if console.is_dumb:
        return _repeated(session, call.words, title, seconds)
    return _on_screen(session, console, call.words, title, seconds)


def _seconds(call: Call) -> float:
    text = str(call.flags.get("-n", _SECONDS))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _LEAST_SECONDS <= seconds < 1e6:
        raise BadLineError(
            f"argument -n: '{text}' is not a time of {_LEAST_SECONDS} seconds or more"
        )
    return seconds


def _repeated(session: Session, words: Sequence[str], title: str, seconds: float) -> int:
    """Print each answer below the last, where the cursor cannot go back."""
    code = OK
    try:
        while not session.is_over:
            session.out(f"{iso_time(int(time.time() * 1000))}  {title}\n")
            code = session.call(words)
            assert session.console
            session.console.flush()
            time.sleep(seconds)
    except KeyboardInterrupt:
        session.out("\n")
    return code


def _on_screen(
    session: Session, console: Console, words: Sequence[str], title: str, seconds: float
) -> int:
    """Show each answer in the place of the last."""
    console.flush()
    code, lines = OK, [""]
    try:
        with Screen(1, 0) as screen:
            while not session.is_over:
                code, lines = _answer(session, console, words)
                head = f"{iso_time(int(time.time() * 1000))}  {title}"
                screen.draw([f"\x1b[7m{cut(head, screen.size[0])}\x1b[0m", *lines])
                if _is_ended(screen.wait, seconds):
                    break
    except KeyboardInterrupt:
        pass
    session.out("".join(f"{line}\n" for line in lines))
    return code


def _is_ended(wait: Callable[[float], list[str]], seconds: float) -> bool:
    """Wait for the next turn; tell whether a key has ended the command."""
    end = time.monotonic() + seconds
    while (seconds_to_go := end - time.monotonic()) > 0:
        if not _ENDING.isdisjoint(wait(seconds_to_go)):
            return True
    return False


def _answer(session: Session, console: Console, words: Sequence[str]) -> tuple[int, list[str]]:
    """Return exit code and lines of a command."""
    frame = _Frame()
    if session.is_kafka:
        before = session.out
        session.out = frame.write
        try:
            code = session.call(words)
        finally:
            session.out = before
    else:
        with connected(session, console, frame):
            code = session.call(words)
    text = "".join(frame.texts)
    if console.is_escaping:
        text = escaped_lines(text, keeps_colors=console.has_color(for_terminal=True))
    return code, text.splitlines() or [""]


class _Frame:
    """An outlet that keeps the output of a command for a terminal."""

    is_terminal = True
    code = 0

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        self.texts.append(text)

    def error(self, line: str) -> None:
        self.texts.append(f"{line}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass
