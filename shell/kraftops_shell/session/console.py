"""The console of a session: streams, terminal and environment."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kraftops_terminal.console import is_dumb, wants_color
from kraftops_terminal.escaping import escaped, escaped_lines

_USUAL_SIZE = os.terminal_size((80, 24))


@dataclass(frozen=True, slots=True)
class Console:
    """The streams of the process and their properties."""

    write: Callable[[str], object]
    """Writes text to standard output."""
    flush: Callable[[], object]
    """Flushes standard output."""
    error: Callable[[str], object]
    """Writes a line to standard error."""
    read: Callable[[], str]
    """Returns a line of standard input with its end; an empty string at the end."""
    encode: Callable[[str], bytes]
    """Returns the bytes of a text for standard output."""
    environment: Mapping[str, str]
    is_input_terminal: bool
    is_output_terminal: bool
    color: str = "auto"
    """`auto`, `always` or `never`."""
    is_escaping: bool = True
    """Whether text from data is escaped on a terminal."""

    @property
    def is_dumb(self) -> bool:
        """Whether the terminal cannot move its cursor, or there is none."""
        return is_dumb(self.environment)

    @property
    def is_for_editing(self) -> bool:
        """Whether lines can be edited."""
        return self.is_input_terminal and self.is_output_terminal and not self.is_dumb

    @property
    def is_debugging(self) -> bool:
        """Whether errors are shown with tracebacks."""
        return bool(self.environment.get("KRAFTOPS_DEBUG"))

    def has_color(self, *, for_terminal: bool) -> bool:
        """Tell whether output is coloured, on the terminal or elsewhere."""
        return wants_color(self.color, self.environment, on_terminal=for_terminal)

    def shown(self, text: str) -> str:
        """Return text from data for the terminal, if there is one: escaped."""
        return escaped(text) if self.is_output_terminal and self.is_escaping else text

    def shown_lines(self, text: str) -> str:
        if not self.is_escaping:
            return text
        return escaped_lines(text, keeps_colors=self.has_color(for_terminal=True))

    def size(self) -> os.terminal_size:
        """Return columns and lines of the terminal as they are now."""
        for fd in (1, 0, 2):
            try:
                size = os.get_terminal_size(fd)
            except OSError:
                continue
            if size.columns > 0 and size.lines > 0:
                return size
        return _USUAL_SIZE
