"""Tasks done in processes of their own: output, results, errors and ends are as if done in one."""

import errno
import gc
import os
import resource
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from kraftops.dump.parallel import run_ordered
from kraftops.errors import DecodeError, KraftopsError, SourceError
from tests.console import ENVIRONMENT

pytestmark = [
    # Nothing that the runner's own threads hold is used in a child.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no processes to fork"),
]
SECONDS = 20  # until something counts as hung

Tell = Callable[[Any], None]
Produce = Callable[[Any, Tell], Iterable[str | bytes]]


@pytest.fixture(autouse=True)
def _nothing_stays_behind() -> Iterator[None]:
    """Every test ends with no child and the descriptors that it began with."""
    gc.collect()
    before = open_descriptors()
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert open_descriptors() == before


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))


def run(
    tasks: Iterable[Any], produce: Produce, path: Path, jobs: int, **limits: int
) -> tuple[bytes, list[Any]]:
    """Return the output of tasks and what was told."""
    told: list[Any] = []
    with path.open("wb", buffering=0) as out:
        run_ordered(tasks, produce, out.fileno(), jobs, told.append, **limits)
    return path.read_bytes(), told


def wait_for(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.001)


def uneven(task: int, tell: Tell) -> Iterator[str | bytes]:
    """Write much or little or nothing, and tell things on the way."""
    for number in range(task * 7 % 11):
        yield f"{task}.{number} " * (task * task % 301)
        if number % 3 == 0:
            tell((task, number))
        yield b"\xff" * (task % 5)
    tell((task, os.getpid()))


def pids(told: list[Any]) -> set[int]:
    return {number for _, number in told if number > 1000}


# Output and results


@pytest.mark.parametrize("held", [0, 1, 1000, 1 << 20])
@pytest.mark.parametrize("jobs", [2, 3, 4])
def test_output_and_results_are_those_of_one_process(jobs: int, held: int, tmp_path: Path) -> None:
    tasks = range(60)
    expected, said = run(tasks, uneven, tmp_path / "one", 1)

    got, told = run(tasks, uneven, tmp_path / "many", jobs, held_bytes=held)

    assert got == expected
    assert [pair[0] for pair in told] == [pair[0] for pair in said]
    assert pids(said) == {os.getpid()}
    assert os.getpid() not in pids(told)
    assert 1 < len(pids(told)) <= jobs


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_no_tasks_are_no_output(jobs: int, tmp_path: Path) -> None:
    assert run([], uneven, tmp_path / "out", jobs) == (b"", [])


def test_one_task_is_done_here(tmp_path: Path) -> None:
    _, told = run([3], uneven, tmp_path / "out", 4)

    assert pids(told) == {os.getpid()}


def test_more_jobs_than_tasks_are_as_many_processes_as_tasks(tmp_path: Path) -> None:
    def meet(task: int, tell: Tell) -> Iterator[str]:
        (tmp_path / str(task)).touch()
        wait_for(lambda: all((tmp_path / name).exists() for name in "123"))
        tell(os.getpid())
        yield f"{task}"

    got, told = run([1, 2, 3], meet, tmp_path / "out", 100)

    assert got == b"123"
    assert len(set(told)) == 3


def test_file_names_come_out_as_their_bytes(tmp_path: Path) -> None:
    name = b"caf\xe9\n".decode("utf-8", "surrogateescape")
    for jobs in (1, 2):
        got, _ = run([name] * 3, lambda task, _: [task], tmp_path / "out", jobs)

        assert got == b"caf\xe9\n" * 3


def test_output_goes_to_where_the_file_stands(tmp_path: Path) -> None:
    """As of a shell's `>>`, or after a header."""
    path = tmp_path / "out"
    path.write_bytes(b"first\n")
    with path.open("ab", buffering=0) as out:
        run_ordered(range(20), lambda task, _: [f"{task}\n"], out.fileno(), 2, print)
        out.write(b"last\n")

    assert path.read_text().split() == ["first", *map(str, range(20)), "last"]


def test_what_is_told_comes_after_the_output_before_it(tmp_path: Path) -> None:
    """And before that of the next task."""
    path = tmp_path / "out"
    sizes: list[tuple[int, int]] = []
    for jobs in (1, 3):
        sizes.clear()
        with path.open("wb", buffering=0) as out:
            run_ordered(
                range(50),
                lambda task, tell: [b"x" * 99, tell(task) or b"y"],
                out.fileno(),
                jobs,
                lambda task: sizes.append((task, path.stat().st_size)),
            )

    assert [task for task, _ in sizes] == list(range(50))
    for task, size in sizes:
        assert task * 100 <= size <= (task + 1) * 100


def test_tasks_are_asked_for_as_they_are_needed(tmp_path: Path) -> None:
    asked = 0
    ahead = []

    def tasks() -> Iterator[int]:
        nonlocal asked
        for number in range(100):
            asked += 1
            yield number

    with (tmp_path / "out").open("wb") as out:
        run_ordered(
            tasks(),
            lambda task, tell: [b"x" * 1000, tell(task) or b""],
            out.fileno(),
            2,
            lambda task: ahead.append(asked - task),
            held_bytes=5000,
        )

    assert asked == 100
    assert max(ahead) < 30


def test_large_results_get_through(tmp_path: Path) -> None:
    """A pipe holds much less."""
    _, told = run(range(4), lambda task, tell: [tell(bytes([task]) * 3_000_000) or b""],
                  tmp_path / "out", 2)  # fmt: skip

    assert [(data[0], len(data)) for data in told] == [(n, 3_000_000) for n in range(4)]


def test_worker_holds_no_more_than_it_may(tmp_path: Path) -> None:
    """It stops, and goes on when its turn comes."""
    made, end = tmp_path / "made", tmp_path / "end"
    made.touch()

    def produce(task: int, tell: Tell) -> Iterator[bytes]:
        if not task:
            wait_for(lambda: made.stat().st_size > 5)
            with pytest.raises(AssertionError):
                wait_for(lambda: made.stat().st_size > 9, seconds=0.2)
            end.touch()
            return
        for _ in range(100):
            with made.open("ab") as out:
                out.write(b".")
            tell(end.exists())
            yield b"x" * (1 << 20)

    got, told = run([0, 1], produce, tmp_path / "out", 2, held_bytes=6 << 20)

    assert len(got) == 100 << 20
    assert told.index(True) <= 9


def test_memory_of_a_worker_is_bounded() -> None:
    def produce(_: int, tell: Tell) -> Iterator[bytes]:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(200):
            yield bytes(1 << 20)
        tell(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

    told: list[int] = []
    with open(os.devnull, "wb") as null:
        run_ordered(range(4), produce, null.fileno(), 2, told.append)

    assert max(told) < 60_000


# Where output goes


class Reading:
    """The reading end of a pipe, and in the end, of nothing."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (self.reader, self.writer):
            if fd >= 0:
                os.close(fd)

    def close_reader(self) -> None:
        os.close(self.reader)
        self.reader = -1


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_pipe_without_a_reader_is_a_broken_pipe(jobs: int) -> None:
    with Reading() as pipe:
        pipe.close_reader()

        with pytest.raises(BrokenPipeError):
            run_ordered(range(9), lambda *_: [b"x" * 9999], pipe.writer, jobs, print)


def test_reader_that_goes_ends_all_at_once() -> None:
    """Those that write, those that wait, and those that are at work without an end."""

    def produce(task: int, tell: Tell) -> Iterator[bytes]:
        yield b"x" * 300_000
        signal.pause()

    with Reading() as pipe:
        head = subprocess.Popen(
            ["head", "-c", "300000"], stdin=pipe.reader, stdout=subprocess.DEVNULL
        )
        pipe.close_reader()
        began = time.monotonic()
        with pytest.raises(BrokenPipeError):
            run_ordered(range(9), produce, pipe.writer, 3, print)
        assert time.monotonic() - began < 1
        head.wait(SECONDS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_full_disk_is_told(jobs: int) -> None:
    with open("/dev/full", "wb") as full, pytest.raises(OSError, match="No space") as caught:
        run_ordered(range(9), lambda *_: [b"x"], full.fileno(), jobs, print)

    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_closed_descriptor_is_told(jobs: int) -> None:
    fd = os.open(os.devnull, os.O_WRONLY)
    os.close(fd)

    with pytest.raises(OSError, match="Bad file") as caught:
        run_ordered(range(9), lambda *_: [b"x"], fd, jobs, print)

    assert caught.value.errno == errno.EBADF


@pytest.mark.parametrize("jobs", [1, 2])
def test_pipe_that_does_not_wait_is_waited_for(jobs: int, tmp_path: Path) -> None:
    with Reading() as pipe, (tmp_path / "out").open("wb") as out:
        os.set_blocking(pipe.writer, False)
        copy = subprocess.Popen(["cat"], stdin=pipe.reader, stdout=out)
        run_ordered(range(9), lambda task, _: [b"%d" % task * 99_999], pipe.writer, jobs, print)
        os.close(pipe.writer)
        pipe.writer = -1
        assert copy.wait(SECONDS) == 0

    assert (tmp_path / "out").read_bytes() == b"".join(b"%d" % n * 99_999 for n in range(9))


# What goes wrong


class Odd(DecodeError):
    """Cannot be made from its arguments alone."""

    exit_code = 7

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


class Odder(Exception):
    """Cannot be pickled at all."""

    def __init__(self) -> None:
        super().__init__("so it is")
        self.state = lambda: 1


ERRORS = [
    pytest.param(SourceError("cannot read it", "try"), SourceError, "cannot read it", id="ours"),
    pytest.param(ValueError("what?"), ValueError, r"what\?", id="unexpected"),
    pytest.param(MemoryError(), MemoryError, "", id="memory"),
    pytest.param(Odd(1, 2), KraftopsError, "1 and 2", id="odd"),
]


def failing(error: BaseException) -> Produce:
    def produce(task: int, tell: Tell) -> Iterator[str]:
        yield f"before {task}\n"
        tell(task)
        if task == 5:
            yield "last\n"
            raise error
        yield f"after {task}\n"

    return produce


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize(("error", "kind", "message"), ERRORS)
def test_error_comes_after_the_output_before_it(
    error: Exception, kind: type[Exception], message: str, jobs: int, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    told: list[int] = []
    with path.open("wb") as out, pytest.raises(kind, match=rf"^{message}(\n|$)") as caught:
        run_ordered(range(20), failing(error), out.fileno(), jobs, told.append)

    lines = [f"{when} {n}" for n in range(6) for when in ("before", "after")]
    assert path.read_text().splitlines() == [*lines[:-1], "last"]
    assert told == list(range(6))
    if isinstance(error, KraftopsError):
        assert isinstance(caught.value, KraftopsError)
        assert (caught.value.hint, caught.value.exit_code) == (error.hint, error.exit_code)


def test_error_that_cannot_be_sent_is_told_in_words(tmp_path: Path) -> None:
    with (
        (tmp_path / "out").open("wb") as out,
        pytest.raises(RuntimeError, match=r"^Odder: so it is$"),
    ):
        run_ordered(range(20), failing(Odder()), out.fileno(), 2, print)


def test_unexpected_error_says_where_it_comes_from(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out, pytest.raises(ValueError, match="what") as caught:
        run_ordered(range(20), failing(ValueError("what?")), out.fileno(), 2, print)

    assert any("in produce" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("die", "message"),
    [
        pytest.param(
            lambda: os.kill(os.getpid(), signal.SIGKILL),
            "a worker process was killed by SIGKILL",
            id="kill",
        ),
        pytest.param(
            lambda: os.kill(os.getpid(), signal.SIGTERM),
            "a worker process was killed by SIGTERM",
            id="term",
        ),
        pytest.param(lambda: os._exit(3), "a worker process ended with exit status 3", id="exit"),
        pytest.param(lambda: os._exit(0), "a worker process ended with exit status 0", id="end"),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_worker_that_dies_ends_all(
    place: int, die: Callable[[], None], message: str, tmp_path: Path
) -> None:
    """Wherever in the order it is, and though the others would never end."""

    def produce(task: int, tell: Tell) -> Iterator[bytes]:
        yield b"x" * 1000
        (tmp_path / str(task)).touch()
        if task == place:
            wait_for(lambda: all((tmp_path / name).exists() for name in "012"))
            die()
        signal.pause()

    with (
        (tmp_path / "out").open("wb") as out,
        pytest.raises(KraftopsError, match=f"^{message}$") as caught,
    ):
        run_ordered(range(3), produce, out.fileno(), 3, print)

    assert bool(caught.value.hint) == ("SIGKILL" in message)


def test_exit_in_a_task_is_an_exit_here(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out, pytest.raises(SystemExit):
        run_ordered(range(20), failing(SystemExit(3)), out.fileno(), 2, print)


def test_error_in_a_result_ends_all(tmp_path: Path) -> None:
    def fail(task: int) -> None:
        if task == 3:
            raise ZeroDivisionError

    with (tmp_path / "out").open("wb") as out, pytest.raises(ZeroDivisionError):
        run_ordered(range(20), failing(ValueError()), out.fileno(), 2, fail)


@pytest.mark.parametrize("jobs", [1, 2])
def test_error_in_the_tasks_ends_all(jobs: int, tmp_path: Path) -> None:
    def tasks() -> Iterator[int]:
        yield from range(4)
        raise ZeroDivisionError

    with (tmp_path / "out").open("wb") as out, pytest.raises(ZeroDivisionError):
        run_ordered(tasks(), uneven, out.fileno(), jobs, print)


@pytest.mark.parametrize("allowed", [0, 1])
def test_as_many_processes_as_the_system_allows_do_the_work(
    allowed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = os.fork
    forks = 0

    def limited() -> int:
        nonlocal forks
        if forks == allowed:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        forks += 1
        return fork()

    expected, _ = run(range(20), uneven, tmp_path / "one", 1)
    monkeypatch.setattr(os, "fork", limited)

    got, told = run(range(20), uneven, tmp_path / "few", 4)

    assert got == expected
    assert len(pids(told)) == 1


def test_without_fork_one_process_does_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fork")

    _, told = run(range(9), uneven, tmp_path / "out", 4)

    assert pids(told) == {os.getpid()}


# What a worker is


def test_worker_has_no_descriptor_of_another(tmp_path: Path) -> None:
    """Else the end of a pipe would never be seen."""
    before = len(open_descriptors())

    _, told = run(range(4), lambda _, tell: [tell(open_descriptors()) or b"x"],
                  tmp_path / "out", 4)  # fmt: skip

    # The output and two pipes.
    assert {len(found) for found in told} == {before + 3}


def test_worker_leaves_an_interrupt_to_its_parent(tmp_path: Path) -> None:
    def produce(task: int, tell: Tell) -> Iterator[bytes]:
        os.kill(os.getpid(), signal.SIGINT)
        tell((signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, [])))
        yield b"%d" % task

    got, told = run(range(4), produce, tmp_path / "out", 2)

    assert got == b"0123"
    assert told == [(signal.SIG_IGN, set())] * 4
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


PROGRAM = """
import os, signal, sys
from kraftops.dump.parallel import run_ordered

def produce(task, tell):
    yield b"x" * 1000
    tell(os.getpid())
    while True:
        yield b"y" * 100_000

def told(pid):
    sys.stderr.write(f"{pid}\\n")

try:
    run_ordered(range(8), produce, 1, 4, told, held_bytes=1000)
except KeyboardInterrupt:
    sys.stderr.write("interrupted\\n")
    sys.exit(130)
"""


class Program:
    """A run whose output nobody reads, and which thus stands still; it has its own group."""

    def __init__(self) -> None:
        life, inherited = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PROGRAM)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            start_new_session=True,
            pass_fds=[inherited],
            bufsize=0,
        )
        os.close(inherited)
        self._life = life
        assert self.process.stderr
        self.first = int(self.process.stderr.readline())
        """The worker that writes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(SECONDS)
        assert self.process.stdout
        assert self.process.stderr
        self.process.stdout.close()
        self.process.stderr.close()
        os.close(self._life)

    def ends(self) -> bool:
        """Wait until no process of it is left, parent or worker."""
        return bool(select.select([self._life], [], [], SECONDS)[0])

    def errors(self) -> bytes:
        assert self.process.stderr
        return self.process.stderr.read()


def test_workers_end_with_a_parent_that_is_killed() -> None:
    """Though they wait for a reader, or for their turn."""
    with Program() as program:
        program.process.kill()

        assert program.process.wait(SECONDS) == -signal.SIGKILL
        assert program.ends()
        assert program.errors() == b""


def test_workers_end_with_a_parent_that_is_told_to() -> None:
    with Program() as program:
        program.process.terminate()

        assert program.process.wait(SECONDS) == -signal.SIGTERM
        assert program.ends()
        assert program.errors() == b""


@pytest.mark.parametrize("whom", ["group", "parent"])
def test_interrupt_ends_all_once(whom: str) -> None:
    with Program() as program:
        began = time.monotonic()
        if whom == "group":
            os.killpg(program.process.pid, signal.SIGINT)
        else:
            os.kill(program.process.pid, signal.SIGINT)

        assert program.process.wait(SECONDS) == 130
        assert time.monotonic() - began < 1
        assert program.ends()
        assert program.errors() == b"interrupted\n"


def test_worker_that_is_killed_while_nobody_reads_ends_all() -> None:
    with Program() as program:
        os.kill(program.first, signal.SIGKILL)

        assert program.process.wait(SECONDS) == 1
        assert program.ends()
        assert b"KraftopsError: a worker process was killed by SIGKILL" in program.errors()
