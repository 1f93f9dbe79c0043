"""Names from data that attack a terminal, and what commands show of them there.

As a program it reads commands (JSON) from standard input, runs each in a child on a terminal of its
own, and prints what they wrote there. It has imported everything: a child is there in a moment.
"""

import gc
import json
import os
import pty
import re
import subprocess
import sys
import termios
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from kraftops_cli import main
from kraftops_cli.terminal.failure import asks_for_json
from kraftops_cli.terminal.streams import Terminal
from tests.helpers.tools.console import COMMANDS, ENVIRONMENT

NAME = (
    "a\x1b]0;title\x07\x1b[5m\x9b2J\u202eb\u2066\u200b\ufeff\x7f\nFORGED"
    "\r\x1b]52;c;eA==\x07\u2028\u061c\xad\U000e0041日e\u0301"
)
"""A name that sets the title and the clipboard, blinks, erases, turns round, hides and begins a line."""
ALLOWED = re.compile(r"\x1b\[(?:0|1|2|1;4|32|1;33|1;31|1;34|36|33)m|\r?\x1b\[K|\x1b\[A")
FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
    r"|[\U000e0000-\U000e007f]|\nFORGED"
)
_LATER = """
    concurrent.futures.thread kafka.protocol.metadata kraftops.engine.native_fold kraftops.report.build
    kraftops.image.verify.verify kraftops.views.registry kraftops.views.log rich.console rich.progress
    rich.table kraftops_cli.dump_log.run kraftops_cli.metadata_shell.run kraftops_cli.report.run
    kraftops_cli.storage.info kraftops_cli.storage.verify kraftops_shell.grammar.registry
    kraftops_terminal.tables pyarrow
"""
"""Modules that commands import when they need them."""


def on_terminal(*command: str | bytes, cwd: Path | str = ".") -> str:
    """Return what a program writes to a terminal, byte for byte."""
    seen, fd = _raw_terminal()
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=fd,
        stdout=fd,
        stderr=fd,
        env={**_environment(), "TERM": "xterm"},
        start_new_session=True,
    ) as process:
        os.close(fd)
        came = b"".join(_blocks(seen))
        os.close(seen)
        process.wait(60)
    return came.decode("utf-8", "surrogateescape")


def on_terminals(
    commands: Mapping[str, Sequence[str | bytes]], cwd: Path | str = "."
) -> dict[str, str]:
    """Return what installed programs write to terminals, each by its name, byte for byte.

    The words `<` and a path at the end of a command are its standard input.
    """
    job = {name: [os.fsdecode(word) for word in words] for name, words in commands.items()}
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.tools.hostile", str(Path(cwd).absolute())],
        cwd=Path(__file__).parents[3],
        input=json.dumps(job).encode(),
        stdout=subprocess.PIPE,
        env={**_environment(), "TERM": "xterm"},
        timeout=300,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _environment() -> dict[str, str]:
    return {name: text for name, text in ENVIRONMENT.items() if name != "NO_COLOR"}


def _raw_terminal() -> tuple[int, int]:
    """Return both ends of a terminal that passes on what is written as it is."""
    seen, fd = pty.openpty()
    modes = termios.tcgetattr(fd)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(fd, termios.TCSANOW, modes)
    return seen, fd


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
    assert "Traceback" not in shown, shown
    assert shown.strip()
    rest = ALLOWED.sub("", shown)
    assert FORBIDDEN.findall(rest) == [], shown
    rest.encode()  # and no byte that is not UTF-8


def _child(words: Sequence[str], fd: int) -> NoReturn:
    code = 70
    try:
        for number in range(3):
            os.dup2(fd, number)
        if words[-2] == "<":
            *words, _, path = words
            os.dup2(os.open(path, os.O_RDONLY), 0)
        program, *args = words
        name = os.path.basename(program)
        sys.argv = [name, *args]
        code = main.run(COMMANDS[program], name, Terminal(name, is_json=asks_for_json(args)))
    except BaseException:  # noqa: BLE001 - nothing may escape into the loop of the parent
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _main() -> None:
    job: dict[str, list[str]] = json.load(sys.stdin)
    os.chdir(sys.argv[1])
    for module in _LATER.split():
        import_module(module)
    gc.freeze()
    gc.disable()
    found = {}
    for name, words in job.items():
        seen, fd = _raw_terminal()
        pid = os.fork()
        if not pid:
            os.setsid()
            os.close(seen)
            _child(words, fd)
        os.close(fd)
        found[name] = b"".join(_blocks(seen)).decode("utf-8", "surrogateescape")
        os.close(seen)
        os.waitpid(pid, 0)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    _main()
