"""The events of a replay come in the order of the log, and their counts add up."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.metadata_state import EntryChange, EntryKey
from kraftops.image.load.loader import Loader
from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.events import (
    ControlRecordRead,
    EntriesChanged,
    Event,
    RecordDropped,
    RecordsProcessed,
    SnapshotEnded,
    TransactionAborted,
    TransactionBegun,
    TransactionEnded,
)
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes
from tests.helpers.logs.random_logs import (
    LogBatch,
    MetadataRecord,
    leader_change,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    unreadable,
    uuid,
)
from tests.helpers.logs.segments import batches_of

T = uuid(1)
TOPIC = new_record("TopicRecord", topicId=T, name="t")
PARTITION = new_record("PartitionRecord", partitionId=0, topicId=T, replicas=[1], isr=[1], leader=1)
CHANGE = new_record("PartitionChangeRecord", partitionId=0, topicId=T, leader=2)
NO_OP = new_record("NoOpRecord")
BEGIN, END, ABORT = (new_record(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))


def replayed(
    raw: bytes,
    *watches: EntryKey,
    limits: Limits | None = None,
) -> tuple[MetadataImage, list[Event]]:
    """Return the image of a log in memory, and the events of its replay."""
    image, events = MetadataImage(), list[Event]()
    image.fold.watch(watches)
    replay = Replay(image, limits)
    loader = Loader(replay, listen=events.append)
    loader.add(batches_of(raw), image.store.add_source("memory", None), "memory")
    return image, events


def with_offsets(image: MetadataImage, events: Sequence[Event]) -> list[object]:
    """Return events with offsets for addresses; batches have their first."""
    found: list[object] = []
    for event in events:
        if isinstance(event, SnapshotEnded):
            found.append(event)
            continue
        address = event.address
        if isinstance(event, RecordsProcessed):
            batch = image.store.batch(address >> 28)
            found.append(event._replace(address=batch.base_offset))
        else:
            found.append(event._replace(address=image.record(address).offset))
    return found


def test_each_batch_has_an_event() -> None:
    image, events = replayed(
        log_bytes(log_batches([TOPIC, PARTITION], [CHANGE, unreadable(b"\1\6\0")]))
    )

    assert with_offsets(image, events) == [
        RecordsProcessed(0, 0, 2, applied=2),
        RecordDropped(3, image.record_findings[0][1]),
        RecordsProcessed(2, 0, 2, applied=1, dropped=1, unreadable=1),
    ]


def test_transaction_has_events_at_begin_and_end() -> None:
    log = log_batches(
        [TOPIC, BEGIN, PARTITION], [CHANGE, CHANGE, END, CHANGE], [BEGIN, NO_OP], [ABORT]
    )

    image, events = replayed(log_bytes(log))

    assert with_offsets(image, events) == [
        RecordsProcessed(0, 0, 2, applied=1),
        TransactionBegun(1),
        RecordsProcessed(0, 2, 3, is_deferred=True),
        RecordsProcessed(3, 0, 3, is_deferred=True),
        TransactionEnded(5, applied=3, dropped=0),
        RecordsProcessed(3, 3, 4, applied=1),
        RecordsProcessed(7, 0, 1),
        TransactionBegun(7),
        RecordsProcessed(7, 1, 2, is_deferred=True),
        RecordsProcessed(9, 0, 1, is_deferred=True),
        TransactionAborted(9),
    ]


def test_markers_out_of_order_are_dropped() -> None:
    image, events = replayed(log_bytes(log_batches([END, BEGIN, BEGIN, CHANGE, END])))

    assert with_offsets(image, events) == [
        RecordDropped(0, "no metadata transaction is open"),
        RecordsProcessed(0, 0, 2, dropped=1),
        TransactionBegun(1),
        RecordDropped(2, "a metadata transaction is open already"),
        RecordsProcessed(0, 2, 3, dropped=1, is_deferred=True),
        RecordsProcessed(0, 3, 5, is_deferred=True),
        RecordDropped(3, "there is no topic with this id"),
        TransactionEnded(4, applied=0, dropped=1),
    ]


def test_change_of_a_watched_entry_is_an_event_at_once() -> None:
    other = new_record("PartitionChangeRecord", partitionId=1, topicId=T, leader=2)
    log = log_batches(
        [TOPIC, PARTITION, NO_OP, CHANGE, other], [BEGIN, CHANGE], [NO_OP, CHANGE, END]
    )
    offsets: list[int] = []
    image = MetadataImage()
    image.fold.watch([EntryKey("partitions", (T, 0))])

    def listen(event: Event) -> None:
        if isinstance(event, EntriesChanged):
            offsets.append(image.record(event.address).offset)
            (change,) = event.changes
            newest = image.fold.newest(T, 0)
            assert newest
            assert (change.table, change.key) == ("partitions", (T, 0))
            assert change.after == newest.address == event.address
            state = image.partition(T, 0)
            assert state
            assert state.partition_epoch + 2 == newest.records == len(offsets)  # begins with -1

    loader = Loader(Replay(image), listen=listen)
    loader.add(batches_of(log_bytes(log)), image.store.add_source("memory", None), "memory")

    assert offsets == [1, 3, 6, 8]


def test_removed_topic_changes_all_of_its_entries() -> None:
    config = new_record("ConfigRecord", resourceType=2, resourceName="t", name="k", value="v")
    gone = new_record("RemoveTopicRecord", topicId=T)
    log = log_batches([TOPIC, PARTITION, config], [gone])

    image, events = replayed(
        log_bytes(log),
        *(EntryKey(table) for table in ("topics", "topic-names", "partitions", "configs")),
    )

    last = [event for event in events if isinstance(event, EntriesChanged)][-1]
    assert image.record(last.address).offset == 3
    assert all(isinstance(change, EntryChange) and change.after is None for change in last.changes)
    assert {(change.table, change.key) for change in last.changes} == {
        ("topics", (T,)),
        ("topic-names", ("t",)),
        ("partitions", (T, 0)),
        ("configs", (2, "t", "k")),
    }
    assert None not in {change.before for change in last.changes}


def test_each_control_record_has_an_event() -> None:
    raw = leader_change(0, 1) + log_bytes([LogBatch(1, [TOPIC])]) + leader_change(2, 2)

    image, events = replayed(raw)
    _, cut = replayed(raw, limits=Limits(after=1))

    assert with_offsets(image, events) == [
        ControlRecordRead(0, 0),
        RecordsProcessed(1, 0, 1, applied=1),
        ControlRecordRead(2, 0),
    ]
    assert [event.is_covered for event in cut if isinstance(event, ControlRecordRead)] == [
        True,
        False,
    ]


def test_records_outside_the_limits_have_no_events() -> None:
    log = log_bytes(log_batches([TOPIC, NO_OP], [PARTITION, NO_OP], [NO_OP]))

    image, events = replayed(log, limits=Limits(after=1, until=2))

    assert with_offsets(image, events) == [
        RecordDropped(2, "there is no topic with this id"),
        RecordsProcessed(2, 0, 1, dropped=1),
    ]


def test_end_of_a_snapshot_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / f"{5:020}-{1:010}.checkpoint"
    path.write_bytes(snapshot_bytes(no_ops(1, 1), end=2))
    events: list[Event] = []

    assert Loader(Replay(MetadataImage()), listen=events.append).read(
        [SourceFile(str(path), 5, True)]
    )

    assert [type(event) for event in events] == [
        ControlRecordRead,
        RecordsProcessed,
        ControlRecordRead,
        SnapshotEnded,
    ]
    assert events[-1] == SnapshotEnded(5)


@given(st.integers(min_value=0, max_value=1 << 32))
def test_counts_add_up(seed: int) -> None:
    log = random_log(Random(seed))
    records: list[MetadataRecord] = [one for batch in log for one in batch.records]

    image, events = replayed(log_bytes(log))

    counted = [event for event in events if isinstance(event, RecordsProcessed | TransactionEnded)]
    folded = [event for event in events if isinstance(event, RecordsProcessed)]
    assert sum(event.dropped for event in counted) == image.fold.dropped
    assert sum(event.stop - event.first for event in folded) == len(records)
    dropped = [
        (event.address, event.reason) for event in events if isinstance(event, RecordDropped)
    ]
    assert dropped == list(image.record_findings)


@pytest.mark.parametrize("seed", range(20))
def test_watching_all_changes_nothing(seed: int) -> None:
    raw = log_bytes(random_log(Random(seed)))
    tables = (
        *("topics", "topic-names", "partitions", "brokers", "controllers", "configs"),
        *("quotas", "acls", "scram", "tokens", "features", "producer-ids"),
    )

    image, events = replayed(raw)
    watched, more = replayed(raw, *map(EntryKey, tables))

    assert [event for event in more if not isinstance(event, EntriesChanged)] == events
    assert list(watched.record_findings) == list(image.record_findings)
    assert watched.fold.tables() == image.fold.tables()
    assert watched.fold.different(image.fold) == {}
