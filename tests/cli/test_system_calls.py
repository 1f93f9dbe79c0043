"""Calls of the system that are interrupted or give less, and clocks that jump: nothing changes."""

import builtins
import io
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.helpers.nodes.node_directories import CLUSTER_ID, format_node, make_node
from tests.helpers.tools.console import DUMP_LOG, KRAFTOPS, STORAGE, run_here

LOG = Path("tests/data/shell/in/crafted/crafted-all.checkpoint")
SHELL = (KRAFTOPS, "metadata-shell", "-s", "0.checkpoint")
DUMP = (DUMP_LOG, "--cluster-metadata-decoder", "--files")
NODE = ("-c", "server.properties")
COMMANDS: dict[str, tuple[str, ...]] = {
    "text": (*DUMP, "0.checkpoint"),
    "json": (*DUMP, "0.checkpoint", "--format", "json", "--output", "out/rows"),
    "parquet": (*DUMP, "0.checkpoint", "--format", "parquet", "--output", "out/rows"),
    "salvage": (KRAFTOPS, "dump-log", "--salvage", "--files", "0.checkpoint"),
    "summary": (*DUMP, "0.checkpoint", "--summary", "--format", "json"),
    "check": (KRAFTOPS, "dump-log", "--check", "t-0"),
    "bundle": (KRAFTOPS, "dump-log", "--print-data-log", "--files", "bundle.tar.gz"),
    "report": (KRAFTOPS, "report", "0.checkpoint", "--output", "out/page"),
    "tree": (*SHELL, "tree", "/"),
    "export": (*SHELL, "export", "/image", "--output", "out/image"),
    "verify": (*SHELL, "verify"),
    "moment": (*SHELL, "at", "@-1h"),
    "info": (STORAGE, "info", *NODE),
    "node": (STORAGE, "verify", *NODE, "--format", "json"),
    "rewrite": (STORAGE, "rewrite", *NODE, "--node-id", "1", "--dry-run"),
    "format again": (STORAGE, "format", *NODE, "-t", CLUSTER_ID, "-g"),
}
Disturbance = Callable[[], Any]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calls")
    shutil.copy(LOG, folder / "0.checkpoint")
    assert format_node(make_node(folder / "node")).code == 0
    shutil.copytree(folder / "node", folder, dirs_exist_ok=True)
    inside = folder / "t-0"
    inside.mkdir()
    shutil.copy(LOG, inside / "00000000000000000000.log")
    shutil.make_archive(str(folder / "bundle"), "gztar", folder, "t-0")
    return folder


def outcome(place: Path, words: tuple[str, ...]) -> tuple[int, str, str, list[bytes]]:
    """Run a command; return its code, what it writes, and its files, without digits."""
    out = place / "out"
    out.mkdir()
    try:
        done = run_here(*words[1:], program=words[0], cwd=place)
        files = [re.sub(rb"\d", b"", path.read_bytes()) for path in sorted(out.iterdir())]
    finally:
        shutil.rmtree(out)
    return done.code, re.sub(r"\d", "", done.text), re.sub(r"\d", "", done.err), files


@contextmanager
def interrupted() -> Iterator[None]:
    """Interrupt calls by a signal that has a handler, a thousand times a second."""
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class ShortFile(io.FileIO):
    """A file without a buffer that reads and writes less than is asked for."""

    def read(self, size: int | None = -1, /) -> Any:
        return super().read(min(size, 997) if size and size > 0 else -1)

    def write(self, data: Any, /) -> Any:
        return super().write(memoryview(data)[:101])


@contextmanager
def short() -> Iterator[None]:
    """Read and write less than is asked for."""
    opened, temporary = builtins.open, tempfile.TemporaryFile
    write, pwrite, read, pread = os.write, os.pwrite, os.read, os.pread

    def open_(path: Any, mode: str = "r", buffering: int = -1, *more: Any, **names: Any) -> Any:
        if buffering:
            return opened(path, mode, buffering, *more, **names)
        opener, closes = names.get("opener"), names.get("closefd", True)
        return ShortFile(path, mode.replace("b", ""), closefd=closes, opener=opener)

    def temporary_file(*args: Any, **names: Any) -> Any:
        file = temporary(*args, **names)
        if names.get("buffering", -1):
            return file
        with file:
            return ShortFile(os.dup(file.fileno()), "r+")

    with ExitStack() as stack:
        for name, less in (
            ("builtins.open", open_),
            ("tempfile.TemporaryFile", temporary_file),
            ("os.write", lambda fd, data: write(fd, memoryview(data)[:101])),
            ("os.pwrite", lambda fd, data, at: pwrite(fd, memoryview(data)[:101], at)),
            ("os.read", lambda fd, size: read(fd, min(size, 97))),
            ("os.pread", lambda fd, size, at: pread(fd, min(size, 97), at)),
        ):
            stack.enter_context(patch(name, less))
        yield


@contextmanager
def clock_that_jumps() -> Iterator[None]:
    """Let the clock of the day jump years back and forth with each look at it."""
    real, steps = time.time, count()
    seconds = lambda: real() + (-1e9, 0, 1e9)[next(steps) % 3]  # noqa: E731
    with (
        patch("time.time", seconds),
        patch("time.time_ns", lambda: int(seconds() * 1e9)),
    ):
        yield


@pytest.mark.parametrize("name", COMMANDS)
def test_answer_is_the_same(place: Path, name: str) -> None:
    undisturbed = outcome(place, COMMANDS[name])
    for disturbance in (interrupted, short, clock_that_jumps):
        with disturbance():
            found = outcome(place, COMMANDS[name])

        assert found == undisturbed, disturbance.__name__
