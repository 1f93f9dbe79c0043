"""A call in a thread, and work that ends with a block."""

import re
import threading
from pathlib import Path

import pytest

from kraftops.parallel.background import BackgroundCall, background_work

SECONDS = 20  # until something counts as hung


def test_threads_are_started_by_this_package_only() -> None:
    root = Path(__file__).parents[3]
    files = [path for top in ("core", "shell", "cli") for path in (root / top).rglob("*.py")]
    users = {
        path.parent.name for path in files if re.search(r"\bThread\(", path.read_text("utf-8"))
    }

    assert users == {"parallel"}


def test_result_is_returned() -> None:
    call = BackgroundCall(threading.get_ident)

    assert call.result() != threading.get_ident()
    assert call.wait(0)


def test_error_is_raised_where_the_result_is_asked_for() -> None:
    def fail() -> None:
        raise ValueError("no")

    call = BackgroundCall(fail)

    assert call.wait(SECONDS)
    with pytest.raises(ValueError, match="no"):
        call.result()


def test_call_that_does_not_end_in_time_goes_on() -> None:
    go_on = threading.Event()
    call = BackgroundCall(lambda: go_on.wait(SECONDS))

    assert not call.wait(0.01)
    go_on.set()
    assert call.result() is True


def test_thread_has_the_name() -> None:
    assert BackgroundCall(lambda: threading.current_thread().name, name="mine").result() == "mine"


@pytest.mark.parametrize("error", [None, ZeroDivisionError()])
def test_work_ends_with_the_block(error: Exception | None) -> None:
    ended = threading.Event()

    def work(is_over: threading.Event) -> None:
        if is_over.wait(SECONDS):
            ended.set()

    try:
        with background_work(work):
            assert not ended.is_set()
            if error:
                raise error
    except ZeroDivisionError:
        pass

    assert ended.is_set()
