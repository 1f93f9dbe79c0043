"""Counts of selected records, by both engines."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.count_contract import (
    LONGEST_KEY,
    MOST_LARGEST,
    Counted,
    CountRequest,
    Window,
    key_of,
)
from kraftops.engine.counting import EngineCounter
from kraftops.log.batch import Batch, Record, inflated, record_bytes
from kraftops.log.legacy import header as legacy_header
from kraftops.memory import USUAL
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.decoders import decoder_named
from kraftops.records.meaning import Label
from kraftops.varint import uvarint_bytes, varint_bytes
from tests.helpers.engine.cases import EVERY, case, counted
from tests.helpers.engine.choice import using
from tests.helpers.engine.comparison import Trial
from tests.helpers.logs.segments import batch_around, record_around
from tests.helpers.logs.written import batch_bytes, message_bytes
from tests.helpers.tools.distribution import long_after

PATH = "0.log"
each_engine = pytest.mark.parametrize("engine", ["native", "reference"])


def counts(
    counter: EngineCounter, data: bytes, window: Window = EVERY, position: int = 0
) -> Counted | None:
    batch = Batch(position, len(data), data)
    buffer, pos = inflated(batch, batch.header, USUAL.meter())
    return counter.add(batch, batch.header, buffer, pos, window)


def counter_of(query: Query, *, tops: bool = False) -> EngineCounter:
    return EngineCounter(CountRequest(PATH, query, tops), query.budget.meter())


def frame(number: int, version: int, body: bytes = b"", frame_version: int = 1) -> bytes:
    return b"".join(map(uvarint_bytes, (frame_version, number, version))) + body


VALUES = st.one_of(
    st.none(),
    st.binary(max_size=8),
    st.builds(
        frame,
        st.sampled_from([2, 3, 5, 6, 20, 127, 128, 300, 70_000]),
        st.sampled_from([0, 1, 2, 130]),
        st.binary(max_size=5) | st.just(bytes(100)) | st.just(bytes(9_000)),
    ),
)
RECORDS = st.lists(
    st.builds(
        Record,
        st.just(0),
        st.integers(0, 1 << 40),
        st.none() | st.binary(max_size=200),
        VALUES,
        st.just(()) | st.just(((b"header", None),)),
    ),
    min_size=1,
    max_size=20,
).map(lambda records: [one._replace(offset=number * 50) for number, one in enumerate(records)])


@each_engine
@pytest.mark.parametrize(
    ("decoder", "dialect"),
    [
        ("metadata", "kafka"),
        ("metadata", "kip-631-draft"),
        ("remote", "kafka"),
        ("offsets", "kafka"),
    ],
)
@given(records=RECORDS)
def test_counts_are_those_of_the_records_one_by_one(
    engine: str, decoder: str, dialect: str, records: list[Record]
) -> None:
    query = Query(decoder, dialect=dialect)
    label_of = query.record_decoder.label_reader()
    numbers: Counter[Label] = Counter()
    sizes: Counter[Label] = Counter()
    for one in records:
        numbers[label_of(one)] += 1
        sizes[label_of(one)] += len(record_bytes(one, records[0].offset, records[0].timestamp))

    with using(engine):
        found = counts(counter_of(query), batch_bytes(records))

    assert found is not None
    assert set(found.amounts) == {(label, numbers[label], sizes[label]) for label in numbers}
    assert (found.records, found.size) == (len(records), sum(sizes.values()))
    assert found.offsets == (0, records[-1].offset)
    times = [one.timestamp for one in records]
    assert found.times == (min(times), max(times))
    assert found.numbers is None


@pytest.mark.parametrize(
    ("decoder", "record", "label"),
    [
        pytest.param("metadata", (None, frame(5, 2)), ("PARTITION_CHANGE_RECORD", 2), id="known"),
        pytest.param("metadata", (None, frame(5, 99)), ("PARTITION_CHANGE_RECORD", 99), id="newer"),
        pytest.param("metadata", (None, frame(6, 1)), ("UNKNOWN(6)", 1), id="unknown"),
        pytest.param("metadata", (None, frame(5, 2, b"", 2)), ("UNKNOWN", None), id="frame"),
        pytest.param("metadata", (None, None), ("UNKNOWN", None), id="null"),
        pytest.param(
            "remote", (None, frame(0, 0)), ("REMOTE_LOG_SEGMENT_METADATA_RECORD", 0), id="remote"
        ),
        pytest.param("offsets", (b"\0\1", b"\0\4"), ("OFFSET_COMMIT", 4), id="offsets"),
        pytest.param("offsets", (b"\0\1", None), ("OFFSET_COMMIT", None), id="tombstone"),
        pytest.param("offsets", (b"\0\0", b"\0\0"), ("LEGACY_OFFSET_COMMIT", 0), id="legacy"),
        pytest.param("offsets", (b"\0\x63", b"\0\4"), ("UNKNOWN(99)", 4), id="unknown-key"),
        pytest.param("offsets", (None, b"\0\4"), ("UNKNOWN", None), id="no-key"),
        pytest.param("offsets", (b"\0\1", b"\0"), ("OFFSET_COMMIT", None), id="short-value"),
        pytest.param("transaction", (b"\0\0", b"\0\1"), ("TRANSACTION_LOG", 1), id="transaction"),
        pytest.param("share", (b"\0\1", b"\0\0"), ("SHARE_UPDATE", 0), id="share"),
        pytest.param("user", (b"\0\1", b"\0\0"), ("user", None), id="user"),
    ],
)
@each_engine
def test_label_has_kafkas_name(
    engine: str,
    decoder: str,
    record: tuple[bytes | None, bytes | None],
    label: tuple[str, int | None],
) -> None:
    one = Record(0, 0, *record)

    with using(engine):
        found = counts(counter_of(Query(decoder)), batch_bytes([one]))

    assert decoder_named(decoder).label_reader()(one) == label
    assert found is not None
    assert [label for label, _, _ in found.amounts] == [label]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        pytest.param(record_around(b"\0\0\0\1\x06\1\5\2\0") + b"?", 1, id="bytes-too-many"),
        pytest.param(record_around(b"\0\0\0\1\x06\1\5\2\0")[:-2], 1, id="cut-short"),
        pytest.param(record_around(b"\0\0\0\1\x06\1\5\2\0"), 2, id="one-too-few"),
        pytest.param(varint_bytes(-5) + bytes(20), 1, id="negative"),
        pytest.param(varint_bytes(1 << 30) + bytes(20), 1, id="too-large"),
        pytest.param(b"\xff" * 20, 1, id="no-number"),
    ],
)
@each_engine
def test_records_that_do_not_fill_their_batch_are_not_counted(
    engine: str, body: bytes, count: int
) -> None:
    with using(engine):
        counter = counter_of(Query("metadata"), tops=True)

        assert counts(counter, batch_around(body, count)) is None
        (tops,) = counter.tops()
    assert (tops.keyless, tops.keys.total, tops.largest) == (0, 0, [])


TEN = [Record(n, 1_000 + n, b"k%d" % (n % 3), b"v" * n) for n in range(10)]


@each_engine
def test_selected_records_are_passed_over_and_counted(engine: str) -> None:
    query = Query("user", filter=Filter(keys=frozenset({"k1", "k2"})))

    with using(engine):
        found = counts(counter_of(query), batch_bytes(TEN), Window(1, 3))

    assert found is not None
    assert (found.skipped, found.records, found.numbers) == (1, 3, [2, 4, 5])
    assert (found.offsets, found.times) == ((2, 5), (1_002, 1_005))
    assert found.size == sum(len(record_bytes(TEN[n], 0, 1_000)) for n in (2, 4, 5))


@each_engine
def test_largest_records_and_keys_are_kept(engine: str) -> None:
    with using(engine):
        counter = counter_of(Query("user"), tops=True)
        counts(counter, batch_bytes([*TEN, Record(10, 0, None, b"v" * 99)]), position=7)
        counts(counter, batch_bytes([one._replace(offset=one.offset + 20) for one in TEN]))
        (tops,) = counter.tops()

    assert [(one.offset, one.position, one.value_size) for one in tops.largest] == [
        (10, 7, 99),
        *((offset + more, 0 if more else 7, offset) for offset in (9, 8, 7, 6) for more in (0, 20)),
        (5, 7, 5),
    ]
    assert len(tops.largest) == MOST_LARGEST
    assert tops.largest[0].key_size is None
    assert tops.keys.counts == {b"k0": 8, b"k1": 6, b"k2": 6}
    assert (tops.keys.error, tops.keyless) == (0, 1)


@each_engine
def test_largest_records_with_one_offset_stay_in_their_order(engine: str) -> None:
    same = [Record(3, 1_000 + n, b"k", b"vv") for n in range(MOST_LARGEST + 2)]
    body = b"".join(record_bytes(one, 0, 1_000) for one in same)

    with using(engine):
        counter = counter_of(Query("user"), tops=True)
        counts(counter, batch_around(body, len(same)))
        (tops,) = counter.tops()

    times = [one.timestamp for one in tops.largest]
    assert times == sorted(times)
    assert len(set(times)) == MOST_LARGEST


@each_engine
def test_long_keys_are_told_apart_in_bounded_space(engine: str) -> None:
    long = [b"x" * LONGEST_KEY, b"x" * LONGEST_KEY + b"1", b"x" * LONGEST_KEY + b"2"]
    records = [Record(n, 0, key, b"") for n, key in enumerate([*long, long[2]])]

    with using(engine):
        counter = counter_of(Query("user"), tops=True)
        counts(counter, batch_bytes(records))
        (tops,) = counter.tops()

    assert sorted(tops.keys.counts.values()) == [1, 1, 2]
    assert {key_of(key) for key in tops.keys.counts} == {
        (long[0], LONGEST_KEY),
        (long[0], LONGEST_KEY + 1),
    }
    assert max(map(len, tops.keys.counts)) < LONGEST_KEY + 20


@each_engine
def test_messages_of_magic_1_are_selected_too(engine: str) -> None:
    data = message_bytes(Record(5, 1_000, b"a", b"v"), 1)
    batch = Batch(0, len(data), data)

    with using(engine):
        counter = counter_of(Query("user", filter=Filter(keys=frozenset({"a"}))), tops=True)
        found = counter.add_legacy(batch, legacy_header(batch), EVERY)
        other = counter_of(Query("user", filter=Filter(keys=frozenset({"b"}))))
        none = other.add_legacy(batch, legacy_header(batch), EVERY)

    assert (found.records, found.offsets, found.numbers) == (1, (5, 5), None)
    assert sum(tops.keys.total for tops in counter.tops()) == 1
    assert (none.records, none.offsets, none.numbers) == (0, None, [])


@pytest.mark.slow
@pytest.mark.parametrize("part", long_after(1, range(4)))
def test_engines_agree_about_random_logs_and_queries(part: int) -> None:
    """All filters, and limits inside a batch."""
    for seed in range(part, 400, 4):
        rng = Random(seed)
        trial = case(seed).trial
        window = rng.choice((EVERY, Window(rng.randrange(4), rng.randrange(1, 6))))

        assert counted(Trial(trial.data, trial.query), window) == "", f"seed {seed}"
