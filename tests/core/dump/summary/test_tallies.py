"""Batches that the engine counts at once, and those between them."""

from pathlib import Path
from random import Random

import pytest

from kraftops.dump.summary.file_counter import FileCounter
from kraftops.dump.summary.summarise import summarise
from kraftops.log.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, Batch, Record
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from tests.helpers.engine.choice import using
from tests.helpers.logs.segments import patched
from tests.helpers.logs.summaries import as_json
from tests.helpers.logs.written import batch_bytes

_MARKERS = (b"\0\0\0\0", b"\0\0\0\1", b"\0\0\0\x63", b"\0")


def random_batch(rng: Random, offset: int) -> bytes:
    """Return a batch of a producer: data of any codec, or a control record."""
    producer = rng.choice((-1, 1, 2, 3, rng.randrange(1000)))
    time = rng.choice((-1, 0, rng.randrange(1 << 41)))
    transactional = rng.choice((0, TRANSACTIONAL)) if producer >= 0 else 0
    if rng.random() < 0.2:
        record = Record(offset, time, rng.choice(_MARKERS), bytes(6))
        attributes = CONTROL | transactional
        return batch_bytes([record], attributes=attributes, producer_id=producer)
    records = [
        Record(offset + number, time + rng.randrange(5), rng.choice((None, b"k")), rng.randbytes(9))
        for number in range(rng.choice((1, 1, 1, 2, 30)))
    ]
    return batch_bytes(
        records,
        attributes=rng.choice((0, 0, 1, 2, 3, 4))
        | rng.choice((0, LOG_APPEND_TIME))
        | transactional,
        leader_epoch=rng.randrange(-1, 4),
        producer_id=producer,
        producer_epoch=rng.randrange(3),
    )


def random_log(rng: Random) -> bytes:
    """Return a log with gaps, steps back and damaged batches."""
    batches, offset = [], 0
    for _ in range(400):
        offset = max(offset + rng.choice((30, 30, 31, 500, -40)), 0)
        batch = random_batch(rng, offset)
        if rng.random() < 0.02:
            batch = patched(batch, len(batch) - 1, bytes([batch[-1] ^ 1]))
        batches.append(batch)
    return b"".join(batches)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "chosen", [Filter(), Filter(first_offset=2000, last_offset=8010), Filter(since=1 << 39)]
)
def test_a_summary_is_that_of_the_batches_one_by_one(
    seed: int, chosen: Filter, tmp_path: Path
) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(random_log(Random(seed)))
    found = {}

    for engine in ("native", "reference"):
        with using(engine):
            found[engine] = as_json(summarise(str(path), Query(filter=chosen)))

    assert found["native"] == found["reference"]
    assert found["native"]["batches"]["count"] > 10
    assert found["native"]["damage"]["count"]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the positions of the batches that are counted one by one, as they come."""
    positions: list[int] = []
    add = FileCounter.add

    def note(counter: FileCounter, batch: Batch) -> None:
        positions.append(batch.position)
        add(counter, batch)

    monkeypatch.setattr(FileCounter, "add", note)
    return positions


def test_only_batches_that_the_engine_declines_are_read_one_by_one(
    tmp_path: Path, added: list[int]
) -> None:
    path = tmp_path / "00000000000000000000.log"
    batches = [batch_bytes([Record(number, 0, None, b"value")]) for number in range(100)]
    batches[50] = patched(batches[50], 30, b"\xff")
    path.write_bytes(b"".join(batches))

    with using("native"):
        summary = summarise(str(path))

    assert added == [sum(map(len, batches[:50]))]
    assert summary.batches.count == 99
    assert summary.offsets.missing == 1


def test_a_sound_log_is_counted_at_once_with_salvage_too(tmp_path: Path, added: list[int]) -> None:
    path = tmp_path / "00000000000000000000.log"
    batches = [batch_bytes([Record(number, 0, None, b"value")]) for number in range(100)]
    path.write_bytes(b"".join(batches) + bytes(500))

    with using("native"):
        sound = summarise(str(path), Query(salvage=True))
        at_once = len(added)
        path.write_bytes(b"".join([*batches[:50], b"damage", *batches[51:]]))
        damaged = summarise(str(path), Query(salvage=True))

    assert (at_once, sound.batches.count, sound.padding) == (0, 100, 500)
    assert (damaged.batches.count, damaged.damage.size) == (99, 6)
