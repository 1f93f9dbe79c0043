"""Parts of a live log, which dumps read like files."""

from collections.abc import Iterator

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.log.batch import Batch
from kraftops.log.streams import open_log
from kraftops.query.query import Query
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum import live_parts as liveparts
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.live_log import CaughtUp, Event, LiveBatch, Started
from kraftops.wire.quorum.live_parts import live_parts
from tests.helpers.wire.quorums import batch

ONE, TWO = Address("one", 1), Address("two", 2)
SNAPSHOT = SnapshotId(5, 1)


def live(base: int, endpoint: Address = ONE, position: int = -1) -> LiveBatch:
    data = batch(base)
    return LiveBatch(endpoint, Batch(position, len(data), data), is_of_snapshot=position >= 0)


def caught_up(offset: int) -> CaughtUp:
    return CaughtUp(ONE, offset, 1, 1)


SIZE = live(0).batch.size


def told(*events: Event) -> list[tuple[str, int, list[int], bool]]:
    """Return names, starts and batches of the parts, and whether they begin anew."""
    found = []
    for part, begins_anew in live_parts(events):
        with open_log(part.path) as log:
            batches = [*log.batches(part.start, part.stop)]
        assert part.stop == part.start + sum(each.size for each in batches)
        assert {each.position for each in batches} == {-1}
        bases = [each.header.base_offset for each in batches]
        found.append((str(part.path), part.start, bases, begins_anew))
    return found


def test_snapshot_and_log_are_two_files() -> None:
    events = [Started(ONE, SNAPSHOT), live(0, position=0), live(1, position=80), live(5), live(6)]

    assert told(*events, caught_up(7)) == [
        (f"one:1/{SNAPSHOT}.checkpoint", 0, [0, 1], True),
        (f"one:1/{5:020}.log", 0, [5, 6], False),
    ]


def test_later_batches_continue_the_file() -> None:
    events = [Started(ONE, None), live(0), live(1), caught_up(2), caught_up(2), live(2)]

    assert told(*events, caught_up(3)) == [
        (f"one:1/{0:020}.log", 0, [0, 1], True),
        (f"one:1/{0:020}.log", 2 * SIZE, [2], False),
    ]


def test_log_of_another_leader_is_another_file() -> None:
    events = [Started(ONE, None), live(0), live(1, TWO), caught_up(2)]

    assert told(*events) == [
        (f"one:1/{0:020}.log", 0, [0], True),
        (f"two:2/{1:020}.log", 0, [1], False),
    ]


def test_restart_is_marked() -> None:
    events = [
        Started(ONE, None),
        live(0),
        Started(ONE, SNAPSHOT),
        live(0, position=0),
        caught_up(5),
    ]

    assert told(*events) == [
        (f"one:1/{0:020}.log", 0, [0], True),
        (f"one:1/{SNAPSHOT}.checkpoint", 0, [0], True),
    ]


def test_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveparts, "_MAX_PART_BYTES", SIZE + 1)

    found = told(Started(ONE, None), *map(live, range(5)), caught_up(5))

    assert [(start, bases) for _, start, bases, _ in found] == [
        (0, [0, 1]), (2 * SIZE, [2, 3]), (4 * SIZE, [4]),
    ]  # fmt: skip


def test_parts_come_before_an_error() -> None:
    def events() -> Iterator[Event]:
        yield Started(ONE, None)
        yield live(0)
        yield caught_up(1)
        raise ConnectionError

    parts = live_parts(events())

    assert next(parts).part.stop == SIZE
    with pytest.raises(ConnectionError):
        next(parts)


def test_rows_have_the_controller_and_no_position() -> None:
    [(part, _)] = live_parts([Started(ONE, None), live(3), caught_up(4)])

    rows = [*part_rows(part, Query(decoder="user"), Report())]

    assert [(row.file, row.position, row.offset) for row in rows] == [("one:1", None, 3)]
