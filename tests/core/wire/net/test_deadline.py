"""Deadlines."""

import time

from kraftops.wire.net.deadline import Deadline


def test_time_that_is_left_ends_at_zero() -> None:
    deadline = Deadline(0.02)

    assert 0 < deadline.left <= 0.02
    time.sleep(0.03)
    assert deadline.left == 0
    assert deadline.is_over


def test_shorter_deadline_replaces_a_longer_one() -> None:
    deadline = Deadline(10)

    assert deadline.within(1).seconds == 1
    assert deadline.within(20) is deadline
