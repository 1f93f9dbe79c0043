"""Bytes without which a record is not asked for, and the records that hold them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.filters import Filter
from kraftops.dump.needles import holders, needles
from kraftops.dump.query import Query
from kraftops.log.batch import Record, record_bytes
from kraftops.records.user import DECODERS
from kraftops.uuids import to_text

UUID = bytes(range(16))
LONG = next(name for name in DECODERS if name.endswith("LongDecoder"))


def of(*keys: str, topics: tuple[str, ...] = (), **asked: str) -> set[bytes]:
    found = Filter(keys=frozenset(keys), topics=frozenset(topics))
    return set(needles(Query(filter=found, **asked)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "raw"),
    [("a-group", b"a-group"), ("ü", "ü".encode()), ("/wA=", b"\xff\0"), (to_text(UUID), UUID)],
)
def test_key_may_be_text_or_bytes_that_are_shown_so(key: str, raw: bytes) -> None:
    assert raw in of(key)
    assert key.encode() in of(key)


@pytest.mark.parametrize("key", ["", "{x", '"x', "a\ufffdb"])
def test_key_that_may_stand_for_other_bytes_has_none(key: str) -> None:
    assert of(key) == set()
    assert of(key, "plain") == set()


def test_numbers_are_not_looked_for_as_text() -> None:
    assert of("12", key_decoder=LONG) == set()


def test_topics_are_names_and_ids() -> None:
    asked = Filter(topics=frozenset({"t-1"}), topic_ids=frozenset({to_text(UUID)}))

    assert {b"t-1", UUID} <= set(needles(Query(filter=asked)))


def test_without_keys_and_topics_there_are_none() -> None:
    assert needles(Query(filter=Filter(types=frozenset({"topic"})))) == ()


_VALUES = st.lists(st.binary(max_size=200).map(lambda raw: raw.replace(b"n", b"")), max_size=40)


@given(_VALUES, st.sets(st.integers(0, 39)))
def test_records_that_hold_a_needle_are_found(values: list[bytes], wanted: set[int]) -> None:
    values = [raw + b"needle" if n in wanted else raw for n, raw in enumerate(values)]
    raws = [record_bytes(Record(n, 0, None, value), 0, 0) for n, value in enumerate(values)]
    places = [(n, 5 + sum(map(len, raws[:n]))) for n in range(len(raws))]

    found = list(holders(b"start" + b"".join(raws), 5, len(raws), (b"needle", b"nothing")))

    assert found == [place for n, place in enumerate(places) if n in wanted]


@given(st.binary(max_size=60), st.integers(0, 1 << 31))
def test_any_bytes_end(raw: bytes, count: int) -> None:
    found = list(holders(raw, 0, count, (raw[-3:] or b"x",)))

    assert len(found) <= len(raw) + 1
