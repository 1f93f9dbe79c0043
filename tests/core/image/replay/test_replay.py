"""Replay of random logs obeys the rules, at every offset and time."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import UsageError
from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import load
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import DAMAGE, OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from tests.helpers.image.model import model_of, state_of, without_append_times
from tests.helpers.logs.random_logs import (
    FIRST_TIME,
    LogBatch,
    MetadataRecord,
    Taste,
    cut,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    uuid,
)
from tests.helpers.logs.segments import batches_of

NO_RUNS = Taste(runs=False)
SEEDS = 60
Write = Callable[[list[LogBatch]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes a log, each time another file."""
    number = iter(range(10_000))

    def write_log(log: list[LogBatch]) -> Path:
        path = tmp_path / f"{next(number)}.log"
        path.write_bytes(log_bytes(log))
        return path

    return write_log


def image_in_memory(log: list[LogBatch]) -> MetadataImage:
    """Return the image of a log that is not a file."""
    image = MetadataImage()
    loader = Loader(Replay(image))
    assert loader.add(batches_of(log_bytes(log)), image.store.add_source("memory", None), "memory")
    return image


@given(st.randoms(use_true_random=False))
def test_any_log_makes_the_state_that_the_rules_make(random: Random) -> None:
    log = random_log(random, NO_RUNS)

    assert state_of(image_in_memory(log)) == model_of(log)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_files_make_the_state_that_the_rules_make(seed: int, write: Write) -> None:
    """Also with runs of partitions, which are looked at together."""
    log = random_log(Random(seed))

    assert state_of(load(write(log))) == model_of(log)


@pytest.mark.parametrize("seed", range(1000, 1006))
def test_image_at_an_offset_is_that_of_the_log_cut_there(seed: int, write: Write) -> None:
    """At every offset: also in the middle of batches, and in transactions."""
    log = without_append_times(random_log(Random(seed), NO_RUNS))
    path = write(log)

    for offset in range(log[-1].end + 2):
        before = cut(log, offset)

        assert state_of(load(path, at_offset=offset)) == model_of(before), offset


@given(st.randoms(use_true_random=False), st.data())
def test_image_at_some_offset_is_that_of_the_log_cut_there(
    random: Random, data: st.DataObject
) -> None:
    log = without_append_times(random_log(random, NO_RUNS))
    offset = data.draw(st.integers(0, log[-1].end))
    image, other = MetadataImage(), image_in_memory(cut(log, offset))
    from kraftops.image.replay.limits import Limits

    loader = Loader(Replay(image, Limits(until=offset)))
    loader.add(batches_of(log_bytes(log)), image.store.add_source("memory", None), "memory")

    assert state_of(image) == state_of(other)


def test_offset_before_the_log_is_refused(write: Write) -> None:
    path = write(log_batches([new_record("NoOpRecord")], first=5))

    with pytest.raises(UsageError, match="it has nothing that old"):
        load(path, at_offset=4)


@pytest.mark.parametrize(
    ("time", "offset"),
    [(10, 0), (19, 0), (20, 1), (29, 1), (30, 4), (44, 4), (45, 5), (10_000, 5)],
)
def test_image_at_a_time_ends_before_the_first_record_that_is_later(
    time: int, offset: int, write: Write
) -> None:
    """Record 3 is older than record 2, but it came later."""
    times = ((10, 20), (30, 25, 30), (45,))
    log = log_batches(*([new_record("NoOpRecord", time=one) for one in batch] for batch in times))

    assert load(write(log), at_time=time).provenance.offset == offset


def test_time_before_the_first_record_is_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="it has nothing that old"):
        load(write(log_batches([new_record("NoOpRecord", time=10)])), at_time=9)


def test_two_hundred_loads_give_one_answer(write: Write) -> None:
    path = write(random_log(Random(4)))
    first = state_of(load(path))

    assert all(state_of(load(path)) == first for _ in range(200))


def test_records_of_an_open_transaction_are_not_seen(write: Write) -> None:
    topic = new_record("TopicRecord", topicId=uuid(1), name="a")
    log = log_batches(
        [topic, new_record("BeginTransactionRecord")],
        [new_record("RemoveTopicRecord", topicId=uuid(1))],
    )

    image = load(write(log))

    assert list(image.topic_ids) == ["a"]
    (finding,) = image.findings
    assert (finding.code, finding.place.offset) == (OPEN_TRANSACTION, 1)
    assert "never ends" in finding.text
    assert image.provenance[:3] == (0, 1, FIRST_TIME)


def test_open_transaction_before_damage_is_reported_too(write: Write) -> None:
    path = write(log_batches([new_record("BeginTransactionRecord")], [new_record("NoOpRecord")]))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)

    image = load(path)

    assert [finding.code for finding in image.findings] == [DAMAGE, OPEN_TRANSACTION]


def test_transaction_that_goes_on_beyond_the_offset_is_no_finding(write: Write) -> None:
    log = log_batches(
        [new_record("BeginTransactionRecord")],
        [new_record("NoOpRecord")],
        [new_record("EndTransactionRecord")],
    )

    assert not list(load(write(log), at_offset=1).findings)


def test_provenance_by_kafkas_count_leaves_out_what_nobody_can_read(write: Write) -> None:
    """Of each batch for itself, whatever was in a transaction before."""
    bad = new_record("NoOpRecord")._replace(value=b"\1\6\0\0", name="")
    begin, end = new_record("BeginTransactionRecord"), new_record("EndTransactionRecord")
    log = log_batches(
        [begin], [new_record("NoOpRecord"), bad, bad], [end, bad, new_record("NoOpRecord")]
    )

    provenance = load(write(log)).provenance

    assert (provenance.offset, provenance.counted) == (6, 5)


def damaged(log: list[LogBatch], random: Random) -> list[LogBatch]:
    """Return a log with a byte changed, or one more or less, in some records' values."""

    def one(record: MetadataRecord) -> MetadataRecord:
        value = bytearray(record.value or b"")
        at = random.choice((random.randrange(len(value) + 1), max(0, len(value) - 1)))
        kind = random.random()
        if kind < 0.2:
            value[at:at] = bytes([random.choice((0, 1, 255))])
        elif kind < 0.3:
            del value[at : at + 1]
        elif at < len(value):
            value[at] = random.choice((0, 1, 2, 3, 127, 255, value[at] ^ 1 << random.randrange(8)))
        return record._replace(value=bytes(value))

    return [
        batch._replace(
            records=[one(each) if random.random() < 0.3 else each for each in batch.records]
        )
        for batch in log
    ]


@pytest.mark.parametrize("seed", range(120))
def test_both_engines_say_the_same_of_damaged_values(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each record that is damaged inside is applied or refused by both."""
    random = Random(seed)
    log = damaged(random_log(random, Taste(unreadable=False)), random)
    found = state_and_reasons(log)

    monkeypatch.setenv("KRAFTOPS_ENGINE", "reference")

    assert found == state_and_reasons(log)


def state_and_reasons(log: list[LogBatch]) -> tuple[object, object]:
    image = image_in_memory(log)
    return state_of(image), sorted(
        (image.record(at).offset, why) for at, why in image.record_findings
    )


@pytest.mark.parametrize("count", [7, 8, 9, 255, 256, 257, 600])
def test_runs_of_partitions_end_where_one_differs(count: int, write: Write) -> None:
    """Partitions in a row are looked at together; each odd one is seen all the same."""

    def partition(number: int, **changes: Any) -> MetadataRecord:
        data: dict[str, Any] = {
            "partitionId": number,
            "topicId": uuid(1),
            "replicas": [1, 2],
            "isr": [1],
            "removingReplicas": [],
            "addingReplicas": [],
            "leader": number % 3,
            "leaderRecoveryState": 0,
            "leaderEpoch": number,
            "partitionEpoch": 0,
            "directories": [uuid(1), uuid(2)],
            "eligibleLeaderReplicas": None,
            "lastKnownElr": None,
        }
        return new_record("PartitionRecord", 1, **data | changes)

    odd: list[dict[str, Any]] = [
        {},
        {"replicas": [2, 1], "isr": [3]},
        {"isr": []},
        {"replicas": [1], "isr": [1, 2]},
        {"replicas": [1], "directories": [uuid(1)]},
        {"addingReplicas": [9]},
        {"leaderRecoveryState": 1},
        {"topicId": uuid(2)},
        {"partitionId": 3},
        {"directories": [uuid(1)] * 3},
    ]
    topics = [new_record("TopicRecord", topicId=uuid(one), name=str(one)) for one in (1, 2)]
    for changes in odd:
        for at in (count // 2, count - 1):
            records = [partition(number) for number in range(count)]
            records[at] = partition(at, **changes)
            log = log_batches([*topics, *records])

            assert state_of(load(write(log))) == model_of(log), (changes, at)
