"""Descriptors: whether they are terminals, and how wide."""

import os

USUAL_WIDTH = 80
"""Columns of a terminal that does not know its own."""


def is_terminal(fd: int) -> bool:
    """Tell whether a descriptor is a terminal; one that is closed or below 0 is none."""
    try:
        return os.isatty(fd)
    except OSError:
        return False


def width_of(fd: int) -> int:
    """Return the columns of a terminal as it is now."""
    try:
        return os.get_terminal_size(fd).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH
