"""Console: a standard stream and what is known of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, cast

from kraftops_terminal.descriptors import is_terminal, width_of
from kraftops_terminal.theme import STYLES, painted

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.console import RenderableType

_WIDEST = 100_000  # columns where there is no terminal: no line is cut


@dataclass(frozen=True, slots=True)
class Console:
    """A stream that is a terminal or not, with its width and its colours.

    Strings from data pass `kraftops_terminal.escaping.escaped` before they are written.
    """

    write: Callable[[str], object]
    """Writes text to the stream."""
    fd: int
    """The descriptor of the stream; -1 for none."""
    is_terminal: bool
    color: str = "auto"
    """`auto`, `always` or `never`."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def has_screen(self) -> bool:
        """Whether frames can be shown on it, see `kraftops_terminal.screen`."""
        return self.is_terminal and not is_dumb(self.environment)

    @property
    def has_color(self) -> bool:
        """Whether text is coloured."""
        return wants_color(self.color, self.environment, on_terminal=self.is_terminal)

    @property
    def width(self) -> int | None:
        """Columns of the terminal as it is now; None where the stream is not a terminal."""
        return width_of(self.fd) if self.is_terminal else None

    @property
    def is_drawn_on(self) -> bool:
        """Whether rich draws: on a terminal, or where colours are asked for."""
        return self.is_terminal or self.has_color

    def painted(self, text: str, style: str) -> str:
        """Return text in a style of the theme, or as it is where there are no colours."""
        return painted(text, style) if self.has_color else text

    def drawn(self, *things: RenderableType) -> str:
        """Return the text of what rich draws; styles have the names of the theme.

        Use it only if `is_drawn_on`: to load rich takes time.
        """
        with (rich := rich_console(self)).capture() as capture:
            for thing in things:
                rich.print(thing)
        return capture.get()


def rich_console(console: Console) -> RichConsole:
    """Return a console of rich with the width, the colours and the theme of *console*.

    It reads no environment of its own and interprets no markup.
    """
    from rich.console import Console as RichConsole  # heavy: 30 ms
    from rich.theme import Theme

    return RichConsole(
        file=cast("IO[str]", _Writer(console)),
        width=console.width or _WIDEST,
        color_system="standard" if console.has_color else None,
        force_terminal=True,
        theme=Theme({name: style or "none" for name, style in STYLES.items()}),
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
        legacy_windows=False,
        _environ={},
    )


class _Writer:
    """The part of a file that rich needs."""

    def __init__(self, console: Console) -> None:
        self.write = console.write
        self._fd = console.fd

    def flush(self) -> None:
        """Do nothing: the stream of a console is flushed by its owner."""

    def isatty(self) -> bool:
        return is_terminal(self._fd)

    def fileno(self) -> int:
        return self._fd


def console_on(fd: int, write: Callable[[str], object], color: str = "auto") -> Console:
    return Console(write, fd, is_terminal(fd), color)


def is_dumb(environment: Mapping[str, str]) -> bool:
    """Tell whether the terminal cannot move its cursor, or there is none."""
    return environment.get("TERM", "dumb") in ("", "dumb")


def wants_color(color: str, environment: Mapping[str, str], *, on_terminal: bool) -> bool:
    """Tell whether text is coloured, by `--color` and the environment."""
    if color != "auto":
        return color == "always"
    return on_terminal and not is_dumb(environment) and not environment.get("NO_COLOR")
