"""Run a tool in children that fail or die, start together, or are of another user.

As a program it reads one job (JSON) from standard input and prints what became of each child. It
has no threads and has imported everything: a child is there in a millisecond.
"""

import builtins
import errno
import fcntl
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

from kraftops_cli import main
from kraftops_cli.terminal.failure import asks_for_json
from kraftops_cli.terminal.streams import Terminal
from tests.helpers.tools.console import COMMANDS, STORAGE, run_here

CALLS = """
    chmod chown close fchmod fchown fsync lchown link listdir lstat mkdir open remove rename replace rmdir
    scandir stat statvfs symlink truncate unlink utime write
"""
NEED_SPACE = {"fsync", "link", "mkdir", "symlink", "truncate", "write"}
KILL = "kill"
INTERRUPT = "interrupt"
FULL = "full"
NEVER = 1 << 30


@dataclass(frozen=True, slots=True)
class Child:
    """A finished child: its node's folder, its exit code (-9: killed), and its output.

    *call* is the call at which it was made to fail, or empty; *calls* are all that it made; *seconds*
    is the time on a processor, *memory* the most bytes that were resident.
    """

    node: Path
    code: int
    out: str
    err: str
    call: str
    calls: list[str]
    seconds: float
    memory: int

    @property
    def errors(self) -> list[str]:
        """The lines of standard error that are no warnings and no hints."""
        lines = self.err.splitlines()
        return [line for line in lines if ": warning: " not in line and line[:6] != "hint: "]


def failing(
    template: Path, folder: Path, args: Sequence[str], fault: str, program: str = STORAGE
) -> list[Child]:
    """Run a command on copies of *template*, and fail the first call, then the second, and so on.

    Args:
        template: The folder of a node, in which the command runs.
        folder: Where the copies are made; it is new.
        args: Of the program.
        fault: The name of an error; `KILL`; `INTERRUPT`, as by Ctrl-C; or `FULL`: all calls
            from there on that need space.
        program: The path of an installed program.

    Returns:
        A child for each call, and the last one, which met no fault.
    """
    return _run(template, folder, [args], fault=fault, rounds=0, program=program)


def racing(
    template: Path,
    folder: Path,
    commands: Sequence[Sequence[str]],
    rounds: int,
    program: str = STORAGE,
) -> list[list[Child]]:
    """Run commands at the same moment on one copy of *template*; return the children by round."""
    found = _run(template, folder, commands, rounds=rounds, program=program)
    width = len(commands)
    return [found[at : at + width] for at in range(0, len(found), width)]


def crowding(
    template: Path,
    folder: Path,
    commands: Sequence[Sequence[str]],
    width: int,
    first: Sequence[Sequence[str]],
    program: str = STORAGE,
) -> list[Child]:
    """Run commands on one copy of *template*, at most *width* at a time; return the children.

    What the commands *first* load, all children have already.
    """
    return _run(template, folder, commands, rounds=1, program=program, width=width, first=[*first])


def running_as(user: int, node: Path, folder: Path, args: Sequence[str]) -> Child:
    """Run a command as another user, and group of the same number, in the folder *node* itself.

    *folder* is a new one, for the rest.
    """
    return _run(node, folder, [args], rounds=1, user=user)[0]


def _run(
    template: Path,
    folder: Path,
    commands: Sequence[Sequence[str]],
    *,
    fault: str = "",
    rounds: int = 0,
    user: int = 0,
    program: str = STORAGE,
    width: int = NEVER,
    first: Sequence[Sequence[str]] = (),
) -> list[Child]:
    folder.mkdir()
    job = {
        "template": str(template),
        "folder": str(folder),
        "commands": commands,
        "fault": fault,
        "rounds": rounds,
        "user": user,
        "program": program,
        "width": width,
        "first": first or commands[:1],
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.nodes.child_processes"],
        cwd=Path(__file__).parents[3],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Child(Path(node), *rest) for node, *rest in json.loads(done.stdout)]


class _Fault:
    """Counts calls, and fails at one of them."""

    def __init__(self, number: int, name: str, journal: int) -> None:
        self._left = number
        self._name = name
        self._journal = journal
        self._write = os.write

    def at(self, call: str, *, needs_space: bool = False) -> bool:
        """Return whether *call* is to fail."""
        self._left -= 1
        self._write(self._journal, f"{call}{' !' if self._left == 0 else ''}\n".encode())
        if self._name == FULL:
            return needs_space and self._left <= 0
        return self._left == 0

    def happen(self, path: object) -> None:
        """Die, or raise an error at *path*."""
        if self._name == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._name == INTERRUPT:
            raise KeyboardInterrupt
        number = getattr(errno, "ENOSPC" if self._name == FULL else self._name)
        name = path if isinstance(path, str) else None
        raise OSError(number, os.strerror(number), name)


class _File:
    """A file that is written; a write that fails has written half."""

    def __init__(self, file: Any, fault: _Fault) -> None:
        self._file = file
        self._fault = fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> int:
        if self._fault.at("write", needs_space=True):
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            self._fault.happen(None)
        written: int = self._file.write(data)
        self._file.flush()
        return written

    def writelines(self, parts: Iterable[bytes]) -> None:
        for part in parts:
            self.write(part)

    def flush(self) -> None:
        if self._fault.at("flush", needs_space=True):
            self._fault.happen(None)
        self._file.flush()


def _wrap(fault: _Fault) -> None:
    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            path = args[0] if args else None
            needs_space = name in NEED_SPACE or (name == "open" and bool(args[1] & os.O_CREAT))
            if fault.at(f"{name} {path}", needs_space=needs_space):
                if name == "close":
                    real(*args, **kwargs)
                fault.happen(path)
            # A kill is no power cut: what was written is there, and the disk need not turn.
            return None if name == "fsync" else real(*args, **kwargs)

        return call

    opened = builtins.open

    def open_(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if fault.at(f"open({mode}) {path}"):
            fault.happen(path)
        file = opened(path, mode, *args, **kwargs)
        return _File(file, fault) if "w" in mode else file

    for name in CALLS.split():
        setattr(os, name, wrapped(name, getattr(os, name)))
    for name in ("lockf", "fcntl"):
        setattr(fcntl, name, wrapped(name, getattr(fcntl, name)))
    builtins.open = open_  # type: ignore[assignment]


def _child(
    node: str,
    args: Sequence[str],
    streams: Sequence[str],
    start: int,
    *,
    fault: tuple[int, str],
    user: int,
    program: str,
) -> NoReturn:
    code = 70
    try:
        os.chdir(node)
        for number, path in enumerate(streams[:2], 1):
            opened = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(opened, number)
            os.close(opened)
        journal = os.open(streams[2], os.O_WRONLY | os.O_CREAT, 0o600)
        name = os.path.basename(program)
        sys.argv = [name, *args]
        terminal = Terminal(name, is_json=asks_for_json(args))
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        os.read(start, 1)
        if fault[1]:
            # Standard output first: it is no part of what may fail.
            terminal._stdout = open(1, "wb", closefd=False)  # noqa: SIM115 - until the end
            _wrap(_Fault(*fault, journal))
        code = main.run(COMMANDS[program], name, terminal)
    except BaseException:  # noqa: BLE001 - nothing may escape into the loop of the parent
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _together(
    node: str,
    folder: str,
    commands: Sequence[Sequence[str]],
    fault: tuple[int, str] = (NEVER, ""),
    user: int = 0,
    *,
    program: str,
    width: int,
) -> list[tuple[str, int, str, str, str, list[str], float, int]]:
    """Run commands in children of their own, and return what became of them.

    The first *width* begin at once, and each of the others when one has ended.
    """
    start, started = os.pipe()
    waiting, running, ended = dict(enumerate(commands)), dict[int, int](), {}
    while waiting or running:
        while waiting and len(running) < width:
            number = min(waiting)
            args = waiting.pop(number)
            pid = os.fork()
            if not pid:
                if started >= 0:
                    os.close(started)
                streams = _streams(folder, number)
                _child(node, args, streams, start, fault=fault, user=user, program=program)
            running[pid] = number
        if started >= 0:
            os.close(started)  # the end of the pipe is the signal to start
            started = -1
        pid, status, usage = os.wait4(-1, 0)
        ended[running.pop(pid)] = status, usage
    os.close(start)
    found = []
    for number, (status, usage) in sorted(ended.items()):
        texts = (Path(path).read_text("utf-8", "replace") for path in _streams(folder, number))
        out, err, journal = texts
        calls = journal.splitlines()
        call = next((call[:-2] for call in calls if call.endswith(" !")), "")
        code, seconds = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        found.append((node, code, out, err, call, calls, seconds, usage.ru_maxrss << 10))
    return found


def _streams(folder: str, number: int) -> list[str]:
    """Return the paths of a child's standard output, standard error and list of calls."""
    return [os.path.join(folder, f"{name}-{number}") for name in ("out", "err", "calls")]


def _main() -> None:
    job = json.load(sys.stdin)
    folder, template, commands = job["folder"], job["template"], job["commands"]
    program = job["program"]
    # Whatever is loaded on first use is loaded now, and in all children.
    first = os.path.join(folder, "0")
    shutil.copytree(template, first, symlinks=True)
    for args in (*job["first"], *([["info"]] if program == STORAGE else [])):
        run_here(*args, cwd=first, program=program)
    gc.freeze()
    gc.disable()
    children = []
    for number in range(1, (job["rounds"] or NEVER) + 1):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        node = template
        if not job["user"]:
            node = os.path.join(place, "node")
            shutil.copytree(template, node, symlinks=True)
        found = _together(
            node,
            place,
            commands,
            (number, job["fault"]),
            job["user"],
            program=program,
            width=job["width"],
        )
        children += found
        if job["fault"] and not found[0][4]:
            break
    json.dump(children, sys.stdout)


if __name__ == "__main__":
    _main()
