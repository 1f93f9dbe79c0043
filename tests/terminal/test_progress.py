"""Progress: late, brief, and gone in the end."""

import re
from collections.abc import Iterator

import pytest

from kraftops.parallel.background import BackgroundCall
from kraftops_terminal.progress import Progress, Task
from kraftops_terminal.status import Status
from tests.helpers.tools.own_terminal import OwnTerminal


@pytest.fixture
def terminal() -> Iterator[OwnTerminal]:
    with OwnTerminal(columns=60) as terminal:
        yield terminal


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def progress(terminal: OwnTerminal, clock: Clock) -> Progress:
    return Progress(Status(terminal.fd), is_shown=True, clock=clock)


def test_short_work_shows_nothing(terminal: OwnTerminal, clock: Clock, progress: Progress) -> None:
    with progress:
        task = progress.add(Task(1000))
        for _ in range(9):
            clock.now += 0.1
            progress.advance(task, 100)

    assert terminal.shown() == ""


def test_long_work_shows_and_erases_a_bar(
    terminal: OwnTerminal, clock: Clock, progress: Progress
) -> None:
    with progress:
        task = progress.add(Task(2048))
        clock.now += 2
        progress.advance(task, 1024)
        first = terminal.shown()

    tail = "  50%  1.0 KiB of 2.0 KiB  512 B/s  0:02 left"
    plain = re.sub(r"\x1b\[[\d;]*m", "", first.removeprefix("\r\x1b[K"))
    assert plain.endswith(tail)
    assert set(plain.removesuffix(tail).strip()) <= set("━╸╺")
    assert len(plain) <= 59
    assert terminal.shown() == "\r\x1b[K"


def test_nothing_is_shown_after_the_end(
    terminal: OwnTerminal, clock: Clock, progress: Progress
) -> None:
    """A follower of a log keeps its callback, and answers are printed meanwhile."""
    with progress:
        task = progress.add(Task(0))
    clock.now += 5

    progress.advance(task, 2100)

    assert terminal.shown() == ""


def test_tasks_have_lines_of_their_own(
    terminal: OwnTerminal, clock: Clock, progress: Progress
) -> None:
    first = progress.add(Task(0, name="snapshot"))
    second = progress.add(Task(4, "partitions", name="partitions", note="2 damaged"))
    clock.now += 2
    progress.advance(first, 4096)
    clock.now += 2
    progress.advance(second, 1, "a")

    lines = terminal.shown().split("\r\x1b[K")[-1]
    plain = re.sub(r"\x1b\[[\d;]*[mAK]", "", lines).split("\r\n")
    assert plain == [
        "snapshot  4.0 KiB  1.0 KiB/s",
        "partitions   25%  1 of 4 partitions  0:12 left  2 damaged",
    ]


def test_bar_is_not_drawn_at_every_step(
    terminal: OwnTerminal, clock: Clock, progress: Progress
) -> None:
    task = progress.add(Task(1000))
    clock.now += 2
    for _ in range(500):
        clock.now += 0.001
        progress.advance(task, 1)

    assert 3 <= terminal.shown().count("\r") <= 6


def test_unwanted_bar_is_not_drawn(terminal: OwnTerminal, clock: Clock) -> None:
    with Progress(Status(terminal.fd), is_shown=False, clock=clock) as progress:
        clock.now += 5
        progress.advance(progress.add(Task(1000)), 500)

    assert terminal.shown() == ""


@pytest.mark.parametrize(
    ("task", "seconds", "text"),
    [
        (Task(2000), 2, "  0%  0 B of 2.0 KiB  0 B/s"),
        (Task(9, done=5), 4000, " 56%  5 B of 9 B  0 B/s  53:20 left"),
        (Task(4000, done=5000), 1, "100%  4.9 KiB of 3.9 KiB  4.9 KiB/s  0:00 left"),
        (Task(10**15, done=1), 3600, "  0%  1 B of 909.5 TiB  0 B/s"),
        (Task(0, done=1024), 1, "1.0 KiB  1.0 KiB/s"),
        (Task(12, "splits", done=3), 10, " 25%  3 of 12 splits  0:30 left"),
        (
            Task(100, files=3, done=50, begun={"a", "b"}),
            1,
            " 50%  50 B of 100 B  50 B/s  0:01 left  file 2 of 3",
        ),
    ],
)
def test_text_has_share_sizes_rate_and_time_left(task: Task, seconds: float, text: str) -> None:
    assert task.text(seconds) == text


def test_work_of_another_thread_is_drawn_by_the_thread_of_the_bars(
    terminal: OwnTerminal, clock: Clock, progress: Progress
) -> None:
    with progress:
        task = progress.add(Task(2048))
        clock.now += 2
        BackgroundCall(lambda: progress.advance(task, 1024)).result()
        of_the_other = terminal.shown()
        progress.draw()
        of_ours = terminal.shown()

    assert of_the_other == ""
    assert "1.0 KiB of 2.0 KiB" in of_ours
