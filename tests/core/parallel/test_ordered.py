"""Tasks in several threads: output, results and errors are as those of one thread."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import SourceError
from kraftops.log.codecs import decompress
from kraftops.memory import Budget, Turn
from kraftops.parallel import ordered
from kraftops.parallel.ordered import run_ordered
from tests.helpers.logs.written import compress
from tests.helpers.tools.console import ENVIRONMENT

SECONDS = 20  # until something counts as hung

Emit = Callable[[Any], None]
Produce = Callable[[Any, Emit], Iterable[bytes]]


@pytest.fixture(autouse=True)
def _threads_end() -> Iterator[None]:
    before = threading.active_count()
    yield
    wait_for(lambda: threading.active_count() <= before)


def run(tasks: Iterable[Any], produce: Produce, path: Path, jobs: int) -> tuple[bytes, list[Any]]:
    """Return the output of tasks and their results."""
    results: list[Any] = []
    with path.open("wb", buffering=0) as out:
        run_ordered(tasks, lambda _: nullcontext(produce), out.fileno(), jobs, results.append)
    return path.read_bytes(), results


def wait_for(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.001)


def uneven(task: int, emit: Emit) -> Iterator[bytes]:
    """Yield much or little or nothing, and emit results on the way."""
    for number in range(task * 7 % 11):
        yield b"%d.%d " % (task, number) * (task * task % 301)
        if number % 3 == 0:
            emit((task, number))
        yield b"\xff" * (task % 5)
    emit((task, None))


# Output and results


@pytest.mark.parametrize("pending", [0, 1, 1000, 1 << 20])
@pytest.mark.parametrize("jobs", [2, 3, 4])
def test_output_and_results_are_those_of_one_thread(
    jobs: int, pending: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(range(60), uneven, tmp_path / "one", 1)
    monkeypatch.setattr(ordered, "_MAX_PENDING_BYTES", pending)

    assert run(range(60), uneven, tmp_path / "many", jobs) == expected


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_no_tasks_are_no_output(jobs: int, tmp_path: Path) -> None:
    assert run([], uneven, tmp_path / "out", jobs) == (b"", [])


def test_one_task_is_done_in_the_callers_thread(tmp_path: Path) -> None:
    def produce(_: int, emit: Emit) -> Iterator[bytes]:
        emit(threading.get_ident())
        yield b"x"

    assert run([3], produce, tmp_path / "out", 4) == (b"x", [threading.get_ident()])


def test_tasks_are_done_at_the_same_time(tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def meet(task: int, emit: Emit) -> Iterator[bytes]:
        together.wait(SECONDS)
        emit(threading.get_ident())
        yield b"%d" % task

    got, results = run([1, 2, 3], meet, tmp_path / "out", 3)

    assert got == b"123"
    assert len(set(results)) == 3


def test_each_thread_has_a_producer_of_its_own(tmp_path: Path) -> None:
    users: dict[int, set[int]] = {}

    def make(_: Turn) -> nullcontext[Produce]:
        def produce(task: int, _: Emit) -> Iterator[bytes]:
            users.setdefault(id(produce), set()).add(threading.get_ident())
            yield b"%d\n" % task

        return nullcontext(produce)

    with (tmp_path / "out").open("wb") as out:
        run_ordered(range(50), make, out.fileno(), 3, print)

    assert all(len(threads) == 1 for threads in users.values())


def test_output_goes_to_the_position_of_the_file(tmp_path: Path) -> None:
    """As of a shell's `>>`, or after a header."""
    path = tmp_path / "out"
    path.write_bytes(b"first\n")
    with path.open("ab", buffering=0) as out:
        run_ordered(
            range(20),
            lambda _: nullcontext(lambda task, _: [b"%d\n" % task]),
            out.fileno(),
            2,
            print,
        )
        out.write(b"last\n")

    assert path.read_text().split() == ["first", *map(str, range(20)), "last"]


def test_result_comes_after_the_output_before_it(tmp_path: Path) -> None:
    """And before that of the next task."""
    path = tmp_path / "out"
    sizes: list[tuple[int, int]] = []
    for jobs in (1, 3):
        sizes.clear()
        with path.open("wb", buffering=0) as out:
            run_ordered(
                range(50),
                lambda _: nullcontext(lambda task, emit: [b"x" * 99, emit(task) or b"y"]),
                out.fileno(),
                jobs,
                lambda task: sizes.append((task, path.stat().st_size)),
            )

    assert [task for task, _ in sizes] == list(range(50))
    for task, size in sizes:
        assert task * 100 <= size <= (task + 1) * 100


def test_tasks_are_asked_for_as_they_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered, "_MAX_PENDING_BYTES", 5000)
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
            lambda _: nullcontext(lambda task, emit: [b"x" * 1000, emit(task) or b""]),
            out.fileno(),
            2,
            lambda task: ahead.append(asked - task),
        )

    assert asked == 100
    assert max(ahead) <= 6


def test_thread_waits_when_too_much_output_is_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on when its turn comes."""
    monkeypatch.setattr(ordered, "_MAX_PENDING_BYTES", 6 << 20)
    made = 0
    end = threading.Event()

    def produce(task: int, emit: Emit) -> Iterator[bytes]:
        nonlocal made
        if not task:
            wait_for(lambda: made > 5)
            with pytest.raises(AssertionError):
                wait_for(lambda: made > 9, seconds=0.2)
            end.set()
            return
        for _ in range(100):
            made += 1
            emit(end.is_set())
            yield b"x" * (1 << 20)

    got, results = run([0, 1], produce, tmp_path / "out", 2)

    assert len(got) == 100 << 20
    assert results.index(True) <= 9


# Where output goes


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_pipe_without_a_reader_is_a_broken_pipe(jobs: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        with pytest.raises(BrokenPipeError):
            run_ordered(
                range(9), lambda _: nullcontext(lambda *_: [b"x" * 9999]), writer, jobs, print
            )
    finally:
        os.close(writer)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_full_disk_is_reported(jobs: int) -> None:
    with open("/dev/full", "wb") as full, pytest.raises(OSError, match="No space") as caught:
        run_ordered(range(9), lambda _: nullcontext(lambda *_: [b"x"]), full.fileno(), jobs, print)

    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_closed_descriptor_is_reported(jobs: int) -> None:
    fd = os.open(os.devnull, os.O_WRONLY)
    os.close(fd)

    with pytest.raises(OSError, match="Bad file") as caught:
        run_ordered(range(9), lambda _: nullcontext(lambda *_: [b"x"]), fd, jobs, print)

    assert caught.value.errno == errno.EBADF


@pytest.mark.parametrize("jobs", [1, 2])
def test_non_blocking_pipe_is_waited_for(jobs: int) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    got = bytearray()

    def read() -> None:
        while block := os.read(reader, 1 << 16):
            got.extend(block)

    reading = threading.Thread(target=read)
    reading.start()
    try:
        run_ordered(
            range(20), lambda _: nullcontext(lambda *_: [b"x" * 300_000]), writer, jobs, print
        )
    finally:
        os.close(writer)
        reading.join(SECONDS)
        os.close(reader)
    assert len(got) == 20 * 300_000


# Errors


def failing(error: BaseException) -> Produce:
    def produce(task: int, emit: Emit) -> Iterator[bytes]:
        yield b"before %d\n" % task
        emit(task)
        if task == 5:
            yield b"last\n"
            raise error
        yield b"after %d\n" % task

    return produce


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize(
    "error",
    [SourceError("cannot read it", "try"), ValueError("what?"), MemoryError()],
    ids=["ours", "unexpected", "memory"],
)
def test_error_comes_after_the_output_before_it(
    error: Exception, jobs: int, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    results: list[int] = []
    with path.open("wb") as out, pytest.raises(type(error)) as caught:
        run_ordered(
            range(20), lambda _: nullcontext(failing(error)), out.fileno(), jobs, results.append
        )

    lines = [f"{when} {n}" for n in range(6) for when in ("before", "after")]
    assert path.read_text().splitlines() == [*lines[:-1], "last"]
    assert results == list(range(6))
    assert caught.value is error


def test_exit_in_a_task_is_an_exit_of_the_caller(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out, pytest.raises(SystemExit):
        run_ordered(
            range(20), lambda _: nullcontext(failing(SystemExit(3))), out.fileno(), 2, print
        )


def test_error_of_the_result_handler_ends_all(tmp_path: Path) -> None:
    def fail(task: int) -> None:
        if task == 3:
            raise ZeroDivisionError

    with (tmp_path / "out").open("wb") as out, pytest.raises(ZeroDivisionError):
        run_ordered(range(20), lambda _: nullcontext(failing(ValueError())), out.fileno(), 2, fail)


@pytest.mark.parametrize("jobs", [1, 2])
def test_error_of_the_task_iterator_ends_all(jobs: int, tmp_path: Path) -> None:
    def tasks() -> Iterator[int]:
        yield from range(4)
        raise ZeroDivisionError

    with (tmp_path / "out").open("wb") as out, pytest.raises(ZeroDivisionError):
        run_ordered(tasks(), lambda _: nullcontext(uneven), out.fileno(), jobs, print)


@pytest.mark.parametrize("allowed", [0, 1])
def test_as_many_threads_as_the_system_allows_do_the_work(
    allowed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = 0

    class Limited(threading.Thread):
        def start(self) -> None:
            nonlocal started
            if started == allowed:
                raise RuntimeError("can't start new thread")
            started += 1
            super().start()

    expected = run(range(9), uneven, tmp_path / "one", 1)
    monkeypatch.setattr(ordered, "Thread", Limited)

    assert run(range(9), uneven, tmp_path / "few", 4) == expected


def test_interrupt_ends_all_at_once() -> None:
    """Though a task would go on for ever."""
    program = textwrap.dedent("""
        import os
        from contextlib import AbstractContextManager, nullcontext
        from kraftops.parallel.ordered import run_ordered

        def produce(task, emit):
            while True:
                yield b"x"

        try:
            print("ready", flush=True)
            run_ordered(range(9), lambda _: nullcontext(produce), os.open(os.devnull, os.O_WRONLY), 3, print)
        except KeyboardInterrupt:
            raise SystemExit(130)
    """)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)

        assert process.wait(SECONDS) == 130


def test_large_batches_inflate_in_the_turn_of_their_task(tmp_path: Path) -> None:
    """Those of later tasks wait, and none of two tasks are held at a time."""
    large = compress(4, bytes(40 << 20))
    held: list[int] = []
    most = 0

    def open_inflating(turn: Turn) -> AbstractContextManager[Produce]:
        def inflating(task: int, _: Emit) -> Iterator[bytes]:
            nonlocal most
            data = decompress(4, large, Budget().meter(turn))
            held.append(task)
            most = max(most, len(held))
            yield b"%d:%d " % (task, len(data))
            held.remove(task)

        return nullcontext(inflating)

    with (tmp_path / "out").open("wb", buffering=0) as out:
        run_ordered(range(6), open_inflating, out.fileno(), 3, print)

    assert (tmp_path / "out").read_bytes() == b"".join(
        b"%d:%d " % (task, 40 << 20) for task in range(6)
    )
    assert most == 1


def test_first_task_waits_for_a_slow_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered, "_MAX_PENDING_BYTES", 1000)
    made = 0
    ahead: list[int] = []

    def produce(task: int, emit: Emit) -> Iterator[bytes]:
        nonlocal made
        for number in range(100 if task == 0 else 0):
            made = number
            emit(number)
            yield bytes(100)

    def on_result(number: int) -> None:
        time.sleep(0.001)  # it is the slow reader
        ahead.append(made - number)

    with (tmp_path / "out").open("wb", buffering=0) as out:
        run_ordered(range(2), lambda _: nullcontext(produce), out.fileno(), 2, on_result)

    assert (len(ahead), max(ahead) < 50) == (100, True)
