"""Run a tool in children whose calls of the system fail, or bring a signal, by strace.

What is failed are the calls that reach the kernel, whoever makes them: Python, a library in C, or
the engine. As a program it reads one job (JSON) from standard input, has imported everything, and
prints what became of each child.
"""

import ctypes
import gc
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

import kraftops_terminal.ending  # noqa: F401 - the entries import it first
from kraftops_cli import main
from tests.helpers.nodes.child_processes import Child
from tests.helpers.tools.console import (
    CLUSTER,
    DUMP_LOG,
    KRAFTOPS,
    METADATA_SHELL,
    STORAGE,
    run_here,
)

ENTRIES: dict[str, Callable[[], NoReturn]] = {
    DUMP_LOG: main.kafka_dump_log,
    STORAGE: main.kafka_storage,
    CLUSTER: main.kafka_cluster,
    METADATA_SHELL: main.kafka_metadata_shell,
    KRAFTOPS: main.kraftops,
}
CALLS = """
    chdir chmod chown close copy_file_range creat dup dup2 dup3 fallocate fchmod fchmodat fchown
    fchownat fcntl fdatasync flock fstat fsync ftruncate getdents64 ioctl lchown link linkat lseek
    lstat mkdir mkdirat newfstatat open openat pread64 pwrite64 read readlink readlinkat readv
    rename renameat renameat2 rmdir sendfile stat statfs statx symlink symlinkat truncate unlink
    unlinkat utimensat write writev
"""
_SET = ",".join(f"?{name}" for name in CALLS.split())
_LINE = re.compile(r"(\d+) +(\w+)\((.*)")
_INJECTED = re.compile(r"\d+ +(.*) \(INJECTED(?:: args, retval|: args|: retval)?\)")
_PR_SET_PTRACER = 0x59616D61
_PATIENCE = 60.0  # seconds of one child


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be run: words of a program in copies of a folder.

    *program* is the path of an installed one, or `module:function`, which gets the words. *faults*
    are names of errors and of signals; each comes at every *step*-th call that concerns the files
    of the copy.
    """

    template: str
    folder: str
    program: str
    words: Sequence[str]
    faults: Sequence[str]
    step: int = 1
    stdin: str = ""


def is_possible() -> bool:
    """Tell whether strace is there and may trace."""
    try:
        done = subprocess.run(
            ["strace", "-qq", "-e", "inject=fsync:error=EIO", "true"],
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def traced(job: Job) -> list[tuple[str, Child]]:
    """Run a job; return the children, each with its fault, and last one that met none.

    The *call* of a child is what strace says of the calls that failed, and of those at which a
    signal came; it is empty where a child of several threads did not get so far.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.nodes.traced_children"],
        cwd=Path(__file__).parents[3],
        input=json.dumps(asdict(job)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(fault, Child(Path(node), *rest)) for fault, node, *rest in json.loads(done.stdout)]


Found = tuple[str, str, int, str, str, str, list[str], float, int]


def _run(job: Job, number: int, fault: str, call: tuple[str, int] | None) -> Found:
    """Run the words in a new copy, and inject *fault* at a call, given by its name and number."""
    place = os.path.join(job.folder, str(number))
    os.mkdir(place)
    node, log = os.path.join(place, "node"), os.path.join(place, "strace")
    shutil.copytree(job.template, node, symlinks=True)
    streams = [os.path.join(place, name) for name in ("out", "err")]
    start, started = os.pipe()
    there, is_there = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(started)
        _child(job, node, streams, is_there, start)
    os.read(there, 1)
    for fd in (there, is_there, start):
        os.close(fd)
    options = ["-f", "-y", "-s", "0", "-o", log, "-e", f"trace={_SET}", "-e", "signal=none"]
    if call:
        kind = "signal" if fault.startswith("SIG") else "error"
        options += ["-e", f"inject={call[0]}:{kind}={fault}:when={call[1]}"]
    tracer = subprocess.Popen(["strace", *options, "-p", str(pid)], stderr=subprocess.PIPE)
    assert tracer.stderr
    assert b"attached" in tracer.stderr.readline()
    before = time.monotonic()
    os.close(started)
    tracer.wait(_PATIENCE)
    tracer.stderr.close()
    _, status, usage = os.wait4(pid, 0)
    lines = Path(log).read_text("utf-8", "replace").splitlines()
    out, err = (Path(path).read_text("utf-8", "replace") for path in streams)
    code = os.waitstatus_to_exitcode(status)
    return (
        fault,
        node,
        code,
        out,
        err,
        _injected(lines, fault, call),
        lines,
        time.monotonic() - before,
        usage.ru_maxrss << 10,
    )


def _injected(lines: Sequence[str], fault: str, call: tuple[str, int] | None) -> str:
    """Return the calls at which the fault came, as strace shows them."""
    if not call:
        return ""
    found = [match[1] for line in lines if (match := _INJECTED.match(line))]
    if fault.startswith("SIG"):
        counts: Counter[str] = Counter()
        for line in lines:
            if (match := _LINE.match(line)) and match[2] == call[0]:
                counts[match[1]] += 1
                if counts[match[1]] == call[1]:
                    found.append(line.partition(" ")[2])
    return "; ".join(found)


def _child(job: Job, node: str, streams: Sequence[str], is_there: int, start: int) -> NoReturn:
    try:
        os.chdir(node)
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_long(-1))  # any process may trace this
        with TemporaryFile() as given:
            given.write(job.stdin.encode())
            given.seek(0)
            os.dup2(given.fileno(), 0)
        for number, path in enumerate(streams, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
        waiting = select.poll()
        waiting.register(start, select.POLLHUP)
        os.write(is_there, b".")
        waiting.poll()  # until strace is there
        if job.program in ENTRIES:
            sys.argv = [os.path.basename(job.program), *job.words]
            ENTRIES[job.program]()
        _function(job.program)(*job.words)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - nothing may escape into the loop of the parent
        import traceback

        traceback.print_exc()
        os._exit(70)


def _function(path: str) -> Callable[..., object]:
    module, _, name = path.partition(":")
    function: Callable[..., object] = getattr(import_module(module), name)
    return function


def _calls(lines: Sequence[str], node: str) -> list[tuple[str, int]]:
    """Return names and numbers of the calls that concern the files of a node, by their thread."""
    counts: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, int], None] = {}
    for line in lines:
        if match := _LINE.match(line):
            thread, name, rest = match.groups()
            counts[thread, name] += 1
            is_elsewhere = re.match(r'[^"]*"/(?!proc/self/fd)', rest)
            if f'"{node}' in rest or (f"<{node}" in rest and not is_elsewhere):
                found[name, counts[thread, name]] = None
    return [*found]


def _main() -> None:
    job = Job(**json.load(sys.stdin))
    os.mkdir(job.folder)
    # Whatever is loaded on first use is loaded now, and in all children.
    first = os.path.join(job.folder, "first")
    shutil.copytree(job.template, first, symlinks=True)
    if job.program in ENTRIES:
        run_here(*job.words, cwd=first, program=job.program, stdin=job.stdin)
    else:
        os.chdir(first)
        _function(job.program)(*job.words)
    gc.freeze()
    gc.disable()
    undisturbed = _run(job, 0, "", None)
    calls = _calls(undisturbed[6], undisturbed[1])
    found = []
    for fault in job.faults:
        for call in calls[:: job.step]:
            found.append(_run(job, len(found) + 1, fault, call))
    json.dump([*found, undisturbed], sys.stdout)


if __name__ == "__main__":
    _main()
