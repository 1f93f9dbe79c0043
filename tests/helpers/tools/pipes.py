"""Pipes that nobody reads for a while."""

import array
import fcntl
import termios
import time

_PATIENCE = 20.0  # seconds


def wait_for_bytes(pipe: int, count: int) -> None:
    """Wait until so many bytes are in a pipe, given by the descriptor of its reader."""
    end = time.monotonic() + _PATIENCE
    found = array.array("i", [0])
    while found[0] < count:
        assert time.monotonic() < end, f"it writes {found[0]} bytes"
        time.sleep(0.01)
        fcntl.ioctl(pipe, termios.FIONREAD, found)
