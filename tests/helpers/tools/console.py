"""Run the tools: in this process, which is fast, or as installed programs."""

import array
import fcntl
import io
import os
import subprocess
import sys
import tempfile
import termios
import time
import weakref
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import click

from kraftops_cli import main
from kraftops_cli.cluster.command import cluster
from kraftops_cli.dump_log.command import dump_log
from kraftops_cli.metadata_shell.command import metadata_shell
from kraftops_cli.root import root
from kraftops_cli.storage.command import storage
from kraftops_cli.terminal.failure import asks_for_json
from kraftops_cli.terminal.streams import Terminal
from tests.helpers.project.json_schemas import check_output

DUMP_LOG = str(Path(sys.executable).with_name("kafka-dump-log"))
STORAGE = str(Path(sys.executable).with_name("kafka-storage"))
CLUSTER = str(Path(sys.executable).with_name("kafka-cluster"))
METADATA_SHELL = str(Path(sys.executable).with_name("kafka-metadata-shell"))
KRAFTOPS = str(Path(sys.executable).with_name("kraftops"))
COMMANDS: dict[str, click.Command] = {
    DUMP_LOG: dump_log,
    STORAGE: storage,
    CLUSTER: cluster,
    METADATA_SHELL: metadata_shell,
    KRAFTOPS: root,
}
"""By the path of the installed program."""
_PATIENCE = 20.0  # seconds, before a test gives up
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name == "KRAFTOPS_ENGINE" or (name != "HOME" and "KRAFTOPS" not in name)
}


@dataclass(frozen=True, slots=True)
class Done:
    """Exit code and output of a run."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode("utf-8", "surrogateescape")

    @property
    def errors(self) -> list[str]:
        """The lines of standard error."""
        return self.err.splitlines()


class MemoryTerminal(Terminal):
    """A terminal whose standard output stays in memory."""

    def __init__(self, name: str, out: io.BytesIO, *, is_json: bool = False) -> None:
        """Make one that writes to *out*."""
        super().__init__(name, is_json=is_json)
        self._stdout = out
        self._fd, path = tempfile.mkstemp()
        os.unlink(path)
        weakref.finalize(self, os.close, self._fd)

    @property
    def fd(self) -> int:
        self.flush()
        return self._fd

    def flush(self) -> None:
        assert self._stdout
        with open(self._fd, "rb", closefd=False) as written:
            written.seek(0)
            self._stdout.write(written.read())
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.ftruncate(self._fd, 0)
        super().flush()


def run_here(*args: str, cwd: Path | str = ".", program: str = DUMP_LOG, stdin: str = "") -> Done:
    """Run a program in this process; an exception that it lets through comes out here.

    With `--format json`, its output is checked by its schema.
    """
    out, echoed, err = io.BytesIO(), io.StringIO(), io.StringIO()
    name = Path(program).name
    terminal = MemoryTerminal(name, out, is_json=asks_for_json(args))
    with (
        chdir(cwd),
        patch.object(sys, "argv", [name, *args]),
        patch.object(sys, "stdin", io.StringIO(stdin)),
        redirect_stdout(echoed),
        redirect_stderr(err),
    ):
        code = main.run(COMMANDS[program], name, terminal)
    done = Done(code, out.getvalue() + echoed.getvalue().encode(), err.getvalue())
    check_output(name, args, done.text)
    return done


def run_command(
    *args: str | bytes,
    cwd: Path | str = ".",
    program: str = DUMP_LOG,
    stdin: bytes = b"",
    environment: dict[str, str] | None = None,
) -> Done:
    """Run an installed program; its JSON is checked as that of `run_here`."""
    command: Sequence[str | bytes] = [program, *args]
    done = subprocess.run(
        command,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env={**ENVIRONMENT, **(environment or {})},
        timeout=300,  # Spark starts in some, on a machine that does much else
        check=False,
    )
    found = Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "backslashreplace"))
    check_output(Path(program).name, [os.fsdecode(each) for each in args], found.text)
    return found


def wait_for_bytes(pipe: int, count: int) -> None:
    """Wait until so many bytes are in a pipe, given by the descriptor of its reader."""
    end = time.monotonic() + _PATIENCE
    found = array.array("i", [0])
    while found[0] < count:
        assert time.monotonic() < end, f"it writes {found[0]} bytes"
        time.sleep(0.01)
        fcntl.ioctl(pipe, termios.FIONREAD, found)
