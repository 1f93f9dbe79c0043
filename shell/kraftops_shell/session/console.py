"""What a session is connected to: its streams, its terminal and its environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_USUAL_SIZE = os.terminal_size((80, 24))


@dataclass(frozen=True, slots=True)
class Console:
    """The streams of the process, and what is known about them."""

    write: Callable[[str], object]
    """Takes text for standard output."""
    flush: Callable[[], object]
    """Sends it on."""
    error: Callable[[str], object]
    """Takes a line for standard error."""
    read: Callable[[], str]
    """Returns a line of standard input with its end; the empty string when there are no more."""
    encode: Callable[[str], bytes]
    """Returns text as the bytes that standard output would be given."""
    environment: Mapping[str, str]
    is_input_terminal: bool
    is_output_terminal: bool
    color: str = "auto"
    """`auto`, `always` or `never`."""

    @property
    def is_dumb(self) -> bool:
        """Whether the terminal, if there is one, cannot move its cursor."""
        return self.environment.get("TERM", "dumb") in ("", "dumb")

    @property
    def is_for_editing(self) -> bool:
        """Whether lines can be edited here."""
        return self.is_input_terminal and self.is_output_terminal and not self.is_dumb

    @property
    def is_debugging(self) -> bool:
        """Whether whoever is here wants to see where errors come from."""
        return bool(self.environment.get("KRAFTOPS_DEBUG"))

    def has_color(self, *, for_terminal: bool) -> bool:
        """Tell whether output is coloured, on the terminal or elsewhere."""
        if self.color != "auto":
            return self.color == "always"
        return for_terminal and not self.is_dumb and not self.environment.get("NO_COLOR")

    def size(self) -> os.terminal_size:
        """Return columns and lines of the terminal as they are now."""
        for fd in (1, 0, 2):
            try:
                found = os.get_terminal_size(fd)
            except OSError:
                continue
            if found.columns > 0 and found.lines > 0:
                return found
        return _USUAL_SIZE
