"""Programs on a terminal of their own: keys are typed, and what they print is waited for."""

import re
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Self

import pexpect

from tests.helpers.tools.console import ENVIRONMENT

_PATIENCE = 90.0  # seconds, before a test gives up: a start of Spark on a busy machine
_MOMENT = 0.02  # seconds, for which pexpect sleeps between looks
_WHERE_IS_THE_CURSOR, _THERE = "\x1b[6n", "\x1b[1;1R"
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[=>])")
_EDITED, _EDITING = "\x1b[?2004l", "\x1b[?2004h"
# A line that is merely drawn again, as after a change of the size, is left without a line feed.
_ENTERED = re.compile(rf"\n(?:{_ESCAPES.pattern})*{re.escape(_EDITED)}")


class Screen:
    """A terminal with a program in it; a context manager, which ends the program."""

    def __init__(
        self,
        *command: str,
        term: str = "xterm",
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> None:
        """Start *command*, in a folder."""
        inherited = {name: value for name, value in ENVIRONMENT.items() if name != "NO_COLOR"}
        self._child = pexpect.spawn(
            command[0],
            list(command[1:]),
            env={**inherited, "TERM": term, **(environment or {})},
            dimensions=(rows, columns),
            cwd=folder,
            encoding="utf-8",
        )
        self._child.delaybeforesend = None
        self._child.ptyproc.delayafterclose = _MOMENT
        self._child.ptyproc.delayafterterminate = _MOMENT
        self.raw = ""
        """All that came, since the last `clear`."""
        self.is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._child.close(force=True)
        except pexpect.ExceptionPexpect:  # on a busy machine, a killed program ends later
            self._child.wait()

    @property
    def text(self) -> str:
        """What came, without escape sequences and carriage returns."""
        return _ESCAPES.sub("", self.raw).replace("\r", "")

    @property
    def after_line(self) -> str:
        """What came after a line was entered in an editor."""
        entered = _ENTERED.search(self.raw)
        return self.raw[entered.end() :] if entered else ""

    def clear(self) -> None:
        """Forget what came."""
        self.raw = ""

    def send(self, keys: str) -> None:
        """Type some keys."""
        self._child.send(keys)

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the terminal."""
        self._child.setwinsize(rows, columns)

    def wait(self, until: Callable[[Self], object]) -> str:
        """Wait until something is true; return the text that came."""
        end = monotonic() + _PATIENCE
        while not until(self):
            assert monotonic() < end, f"waited in vain; there is {self.raw!r}"
            assert not self.is_over, f"the program is over; there is {self.raw!r}"
            self._read()
        return self.text

    def wait_for(self, text: str) -> str:
        """Wait until a text is there; return all that came."""
        return self.wait(lambda screen: text in screen.text)

    def wait_for_editor(self) -> None:
        """Wait until a line can be edited."""
        self.wait(lambda screen: screen.raw.rfind(_EDITING) > screen.raw.rfind(_EDITED))

    def run(self, keys: str) -> str:
        """Type keys that end a line of an editor; return what is printed before the next one."""
        self.wait_for_editor()
        self.clear()
        self.send(keys)
        self.wait(lambda screen: _EDITING in screen.after_line or screen.is_over)
        return _ESCAPES.sub("", self.after_line.partition(_EDITING)[0]).replace("\r", "")

    def wait_for_end(self) -> int:
        """Wait until the program is over; return its exit code, less than 0 for a signal."""
        end = monotonic() + _PATIENCE
        while not self.is_over:
            assert monotonic() < end, f"it goes on; there is {self.raw!r}"
            self._read()
        self._child.close()
        return -self._child.signalstatus if self._child.signalstatus else self._child.exitstatus

    def _read(self) -> None:
        try:
            came = self._child.read_nonblocking(1 << 16, 0.2)
        except pexpect.TIMEOUT:
            return
        except (pexpect.EOF, OSError):
            self.is_over = True
            return
        for _ in range(came.count(_WHERE_IS_THE_CURSOR)):
            self._child.send(_THERE)
        self.raw += came
