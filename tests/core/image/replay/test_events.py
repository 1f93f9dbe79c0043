"""A replay tells what it does, in the order of the log, and what it tells adds up."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.metadata_state import EntryChange, EntryKey
from kraftops.image.load.loader import Loader
from kraftops.image.load.sources import Piece
from kraftops.image.replay.events import (
    Aborted,
    Applied,
    Begun,
    Controlled,
    Dropped,
    Ended,
    Event,
    Folded,
    SnapshotEnded,
)
from kraftops.image.replay.replay import Limits, Replay
from kraftops.image.state.image import MetadataImage
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes
from tests.helpers.logs.random_logs import (
    Lot,
    Made,
    leader_change,
    log_bytes,
    lots,
    made,
    random_log,
    unreadable,
    uuid,
)
from tests.helpers.logs.segments import batches_of

T = uuid(1)
TOPIC = made("TopicRecord", topicId=T, name="t")
PARTITION = made("PartitionRecord", partitionId=0, topicId=T, replicas=[1], isr=[1], leader=1)
CHANGE = made("PartitionChangeRecord", partitionId=0, topicId=T, leader=2)
NO_OP = made("NoOpRecord")
BEGIN, END, ABORT = (made(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))


def told(
    raw: bytes,
    *watches: EntryKey,
    limits: Limits | None = None,
    each_record: bool = False,
) -> tuple[MetadataImage, list[Event]]:
    """Return the image of a log in memory, and what was told on the way."""
    image, events = MetadataImage(), list[Event]()
    image.fold.watch(watches)
    replay = Replay(image, each_record=each_record)
    loader = Loader(image, limits, replay=replay, listen=events.append)
    loader.add(batches_of(raw), image.store.add_source("memory", None), "memory")
    return image, events


def shown(image: MetadataImage, events: Sequence[Event]) -> list[object]:
    """Return events with offsets for addresses; batches have their first."""
    found: list[object] = []
    for event in events:
        if isinstance(event, SnapshotEnded):
            found.append(event)
            continue
        address = event.address
        if isinstance(event, Folded):
            batch = image.store.batch(address >> 28)
            found.append(event._replace(address=batch.base_offset))
        else:
            found.append(event._replace(address=image.record(address).offset))
    return found


def test_batches_are_told_one_by_one() -> None:
    image, events = told(log_bytes(lots([TOPIC, PARTITION], [CHANGE, unreadable(b"\1\6\0")])))

    assert shown(image, events) == [
        Folded(0, 0, 2, applied=2),
        Folded(2, 0, 2, applied=1, dropped=1, unreadable=1),
    ]


def test_transactions_are_told_where_they_begin_and_end() -> None:
    log = lots([TOPIC, BEGIN, PARTITION], [CHANGE, CHANGE, END, CHANGE], [BEGIN, NO_OP], [ABORT])

    image, events = told(log_bytes(log))

    assert shown(image, events) == [
        Folded(0, 0, 2, applied=1),
        Begun(1),
        Folded(0, 2, 3, is_waiting=True),
        Folded(3, 0, 3, is_waiting=True),
        Ended(5, applied=3, dropped=0),
        Folded(3, 3, 4, applied=1),
        Folded(7, 0, 1),
        Begun(7),
        Folded(7, 1, 2, is_waiting=True),
        Folded(9, 0, 1, is_waiting=True),
        Aborted(9),
    ]


def test_markers_out_of_order_are_dropped() -> None:
    image, events = told(log_bytes(lots([END, BEGIN, BEGIN, CHANGE, END])), each_record=True)

    assert shown(image, events) == [
        Dropped(0, "no metadata transaction is open"),
        Folded(0, 0, 2, dropped=1),
        Begun(1),
        Dropped(2, "a metadata transaction is open already"),
        Folded(0, 2, 3, dropped=1, is_waiting=True),
        Folded(0, 3, 5, is_waiting=True),
        Dropped(3, "there is no topic with this id"),
        Ended(4, applied=0, dropped=1),
    ]


def test_what_is_watched_is_told_at_once() -> None:
    other = made("PartitionChangeRecord", partitionId=1, topicId=T, leader=2)
    log = lots([TOPIC, PARTITION, NO_OP, CHANGE, other], [BEGIN, CHANGE], [NO_OP, CHANGE, END])
    offsets: list[int] = []
    image = MetadataImage()
    image.fold.watch([EntryKey("partitions", (T, 0))])

    def listen(event: Event) -> None:
        if isinstance(event, Applied):
            offsets.append(image.record(event.address).offset)
            (touch,) = event.touches
            newest = image.fold.newest(T, 0)
            assert newest
            assert (touch.table, touch.key) == ("partitions", (T, 0))
            assert touch.after == newest.address == event.address
            state = image.partition(T, 0)
            assert state
            assert state.partition_epoch + 2 == newest.records == len(offsets)  # begins with -1

    loader = Loader(image, listen=listen)
    loader.add(batches_of(log_bytes(log)), image.store.add_source("memory", None), "memory")

    assert offsets == [1, 3, 6, 8]


def test_removal_is_told_of_all_that_goes() -> None:
    config = made("ConfigRecord", resourceType=2, resourceName="t", name="k", value="v")
    gone = made("RemoveTopicRecord", topicId=T)
    log = lots([TOPIC, PARTITION, config], [gone])

    image, events = told(
        log_bytes(log),
        *(EntryKey(table) for table in ("topics", "topic-names", "partitions", "configs")),
    )

    last = [event for event in events if isinstance(event, Applied)][-1]
    assert image.record(last.address).offset == 3
    assert all(isinstance(touch, EntryChange) and touch.after is None for touch in last.touches)
    assert {(touch.table, touch.key) for touch in last.touches} == {
        ("topics", (T,)),
        ("topic-names", ("t",)),
        ("partitions", (T, 0)),
        ("configs", (2, "t", "k")),
    }
    assert None not in {touch.before for touch in last.touches}


def test_control_records_are_told_one_by_one() -> None:
    raw = leader_change(0, 1) + log_bytes([Lot(1, [TOPIC])]) + leader_change(2, 2)

    image, events = told(raw)
    _, cut = told(raw, limits=Limits(after=1))

    assert shown(image, events) == [
        Controlled(0, 0),
        Folded(1, 0, 1, applied=1),
        Controlled(2, 0),
    ]
    assert [event.is_behind for event in cut if isinstance(event, Controlled)] == [True, False]


def test_nothing_is_told_of_what_is_not_within_the_limits() -> None:
    log = log_bytes(lots([TOPIC, NO_OP], [PARTITION, NO_OP], [NO_OP]))

    image, events = told(log, limits=Limits(after=1, until=2))

    assert shown(image, events) == [Folded(2, 0, 1, dropped=1)]


def test_end_of_a_snapshot_is_told(tmp_path: Path) -> None:
    path = tmp_path / f"{5:020}-{1:010}.checkpoint"
    path.write_bytes(snapshot_bytes(no_ops(1, 1), end=2))
    events: list[Event] = []

    assert Loader(MetadataImage(), listen=events.append).read([Piece(str(path), 5, True)])

    assert [type(event) for event in events] == [Controlled, Folded, Controlled, SnapshotEnded]
    assert events[-1] == SnapshotEnded(5)


@given(st.integers(min_value=0, max_value=1 << 32))
def test_counts_add_up(seed: int) -> None:
    log = random_log(Random(seed))
    records: list[Made] = [one for lot in log for one in lot.records]

    image, events = told(log_bytes(log), each_record=True)

    counted = [event for event in events if isinstance(event, Folded | Ended)]
    folded = [event for event in events if isinstance(event, Folded)]
    assert sum(event.dropped for event in counted) == image.fold.dropped
    assert sum(event.stop - event.first for event in folded) == len(records)
    dropped = [(event.address, event.reason) for event in events if isinstance(event, Dropped)]
    assert dropped == list(image.record_findings)


@pytest.mark.parametrize("seed", range(20))
def test_watching_all_changes_nothing(seed: int) -> None:
    raw = log_bytes(random_log(Random(seed)))
    tables = (
        *("topics", "topic-names", "partitions", "brokers", "controllers", "configs"),
        *("quotas", "acls", "scram", "tokens", "features", "producer-ids"),
    )

    image, events = told(raw)
    watched, more = told(raw, *map(EntryKey, tables))

    assert [event for event in more if not isinstance(event, Applied)] == events
    assert list(watched.record_findings) == list(image.record_findings)
    assert watched.fold.tables() == image.fold.tables()
    assert watched.fold.different(image.fold) == {}
