"""Items that a thread asks for ahead of its caller."""

import threading
import time
from collections.abc import Iterator

import pytest

from kraftops.parallel.prefetch import Prefetch

SECONDS = 20  # until something counts as hung


def wait_for_item(prefetch: Prefetch[int]) -> int:
    end = time.monotonic() + SECONDS
    while (item := prefetch.poll()) is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    return item


@pytest.mark.parametrize("size", [None, 0, 1 << 19, 1 << 30])
def test_items_come_in_their_order(size: int | None) -> None:
    sizes = None if size is None else lambda _: size
    with Prefetch(iter(range(1, 100)), size=sizes, max_groups=2) as prefetch:
        assert [*prefetch] == [*range(1, 100)]


def test_items_are_asked_for_in_another_thread() -> None:
    threads = (threading.get_ident() for _ in range(1))
    with Prefetch(threads) as prefetch:
        assert threading.get_ident() not in prefetch


def test_iterator_can_be_used_again_after_the_last_item() -> None:
    numbers = (number for number in range(1, 9))
    with Prefetch(numbers, is_last=lambda number: number == 4) as prefetch:
        assert [*prefetch] == [1, 2, 3, 4]

    assert [*numbers] == [5, 6, 7, 8]


def test_error_comes_after_the_items_before_it() -> None:
    def numbers() -> Iterator[int]:
        yield from (1, 2)
        raise ZeroDivisionError

    with Prefetch(numbers(), size=lambda _: 1) as prefetch:
        items = iter(prefetch)

        assert [next(items), next(items)] == [1, 2]
        with pytest.raises(ZeroDivisionError):
            next(items)


def test_thread_waits_when_nobody_takes_items() -> None:
    asked = 0

    def numbers() -> Iterator[int]:
        nonlocal asked
        for number in range(1, 100):
            asked = number
            yield number

    with Prefetch(numbers(), max_groups=3) as prefetch:
        assert wait_for_item(prefetch) == 1
        time.sleep(0.1)
        assert asked <= 6
        assert [*prefetch] == [*range(2, 100)]


def test_poll_does_not_wait() -> None:
    go_on = threading.Event()

    def numbers() -> Iterator[int]:
        yield 1
        assert go_on.wait(SECONDS)
        yield 2

    with Prefetch(numbers()) as prefetch:
        assert wait_for_item(prefetch) == 1
        assert prefetch.poll() is None
        go_on.set()
        assert wait_for_item(prefetch) == 2


def test_closing_ends_the_thread_and_closes_a_generator() -> None:
    closed = threading.Event()

    def nothing_new() -> Iterator[int | None]:
        try:
            while True:
                time.sleep(0.001)
                yield None
        finally:
            closed.set()

    prefetch = Prefetch(nothing_new())
    assert prefetch.is_running
    assert prefetch.poll() is None
    prefetch.close()

    assert not prefetch.is_running
    assert closed.is_set()
