"""Names from data that attack a terminal, and what commands show of them there."""

import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.tools.console import ENVIRONMENT

NAME = "a\x1b]0;title\x07\x1b[5m\x9b2J\u202eb\u2066\u200b\ufeff\x7f\nFORGED"
"""A name that sets the title, blinks, erases, turns round, hides and begins a line."""
ALLOWED = re.compile(r"\x1b\[(?:0|1|2|1;4|32|1;33|1;31|1;34|36|33)m|\x1b\[K|\x1b\[A")
FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]|\nFORGED"
)


def on_terminal(*command: str | bytes, cwd: Path | str = ".") -> str:
    """Return what a command writes to a terminal, byte for byte."""
    seen, fd = pty.openpty()
    environment = {name: text for name, text in ENVIRONMENT.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=fd,
        stdout=fd,
        stderr=fd,
        env={**environment, "TERM": "xterm"},
        start_new_session=True,
    ) as process:
        os.close(fd)
        came = b"".join(_blocks(seen))
        os.close(seen)
        process.wait(60)
    return came.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _blocks(fd: int) -> Iterator[bytes]:
    while True:
        try:
            if not (data := os.read(fd, 1 << 16)):
                return
        except OSError:  # the last program that had it has ended
            return
        yield data


def check_shown(shown: str) -> None:
    """Check that a command has shown something, and no more than text and colours."""
    assert "Traceback" not in shown
    assert shown.strip()
    rest = ALLOWED.sub("", shown).replace("\r", "")
    assert FORBIDDEN.findall(rest) == [], shown
    rest.encode()  # and no byte that is no UTF-8
