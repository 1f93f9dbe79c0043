"""Marks of operations in configurations of brokers."""

import os
import time

import pytest

from kraftops.reassign.marks import (
    DECOMMISSION,
    REBALANCE,
    Author,
    Mark,
    Part,
    begin_mark,
    end_marks,
    new_author,
    parse_mark,
)
from kraftops.wire.admin.configs import ConfigChange, Operation

ANN = Author("ann", "admin-1.example.com", 4711, 1_763_938_516_000)
BOB = Author("bob", "admin-2", 12, 1_763_939_000_000)


def applied(keys: set[str], changes: list[ConfigChange]) -> set[str]:
    """Return the keys of a configuration after changes of it."""
    for change in changes:
        keys = keys - {change.key} if change.operation is Operation.DELETE else keys | {change.key}
    return keys


@pytest.mark.parametrize(
    ("mark", "key"),
    [
        (
            Mark(DECOMMISSION, ANN, brokers=(104, 105), partitions=350),
            (
                "kraftops.decommission.broker.104-105.by.ann.at.admin-1.example.com.pid.4711"
                ".since.2025-11-23T22:55:16Z.partitions.350"
            ),
        ),
        (
            Mark(REBALANCE, ANN),
            "kraftops.rebalance.by.ann.at.admin-1.example.com.pid.4711.since.2025-11-23T22:55:16Z",
        ),
        (
            Mark(
                "move-dirs",
                BOB,
                brokers=(104,),
                partitions=9,
                size=80,
                waiting=(3, 20),
                directories=("/d.1/a,b", "/é:"),
            ),
            (
                "kraftops.move-dirs.broker.104.dirs./d%2E1/a%2Cb:/%C3%A9%3A.by.bob.at.admin-2.pid.12"
                ".since.2025-11-23T23:03:20Z.partitions.9.bytes.80.waiting.3.bytes.20"
            ),
        ),
        (
            Mark(REBALANCE, BOB, Part.THROTTLE),
            "kraftops.throttle.of.rebalance.by.bob.at.admin-2.pid.12.since.2025-11-23T23:03:20Z",
        ),
    ],
)
def test_key_of_a_mark_says_what_it_is(mark: Mark, key: str) -> None:
    assert mark.key == key
    assert parse_mark(key) == mark


@pytest.mark.parametrize(
    "key", ["log.retention.ms", "kraftops.", "kraftops.decommission.of.104", "kraftops.rebalance"]
)
def test_other_keys_are_not_marks(key: str) -> None:
    assert parse_mark(key) is None


def test_marks_of_the_release_before_are_known() -> None:
    assert parse_mark("kraftops.cordon") == Mark(DECOMMISSION, None, Part.CORDON)


def test_author_is_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "Ann=of example.com")
    author = new_author()

    assert (author.user, author.pid) == ("Ann_of_example_com", os.getpid())
    assert abs(author.since / 1000 - time.time()) < 60
    assert author.is_alive() is True
    assert author._replace(pid=(1 << 22) + 1).is_alive() is False
    assert author._replace(host="elsewhere").is_alive() is None


def test_resumed_operation_keeps_its_begin_and_gets_its_author() -> None:
    first = Mark(DECOMMISSION, ANN, brokers=(104,), partitions=350)

    again, changes = begin_mark(
        Mark(DECOMMISSION, BOB, brokers=(104,), partitions=20), {first.key, "other"}
    )

    assert again == first._replace(author=BOB._replace(since=ANN.since))
    assert applied({first.key, "other"}, changes) == {again.key, "other"}


def test_part_of_an_operation_ends_and_the_rest_stays() -> None:
    both = Mark(DECOMMISSION, ANN, brokers=(104, 105), partitions=350)

    ended = applied({both.key}, end_marks(DECOMMISSION, {105}, {both.key}))

    assert ended == {both._replace(brokers=(104,)).key}
    assert applied(ended, end_marks(REBALANCE, (), ended)) == ended
    assert applied(ended, end_marks(DECOMMISSION, {104}, ended)) == set()
