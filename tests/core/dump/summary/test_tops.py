"""The largest and the most frequent, however the log is cut and merged."""

import pickle
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary.summary import Summary
from kraftops.dump.summary.tops import LogTops
from kraftops.engine import heavy_hitters
from kraftops.log.batch import Record, record_bytes
from kraftops.records.decoders import decoder_named
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.summaries import as_json, summarised
from tests.helpers.logs.written import batch_bytes

USER = decoder_named("user")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 120 batches of 1 to 9 records, with 200 keys, a few of them frequent."""
    rng = Random(3)
    path = tmp_path_factory.mktemp("log") / "0.log"
    offset, batches = 0, []
    for number in range(120):
        records = []
        for _ in range(rng.randrange(1, 10)):
            key = b"hot" if rng.random() < 0.2 else b"k%d" % rng.randrange(200)
            records.append(Record(offset, 1_000, key, bytes(rng.randrange(300))))
            offset += 1
        batches.append(batch_bytes(records, producer_id=number % 40, producer_epoch=0))
    path.write_bytes(b"".join(batches))
    return path


def records_of(path: Path) -> list[tuple[int, int]]:
    """Return size and offset of each record."""
    from kraftops.log.batch import records

    return [
        (len(record_bytes(one, batch.header.base_offset, batch.header.base_timestamp)), one.offset)
        for batch in batches_of(path.read_bytes())
        for one in records(batch)
    ]


def keys_of(path: Path) -> Counter[str]:
    from kraftops.log.batch import records

    return Counter(
        (one.key or b"").decode()
        for batch in batches_of(path.read_bytes())
        for one in records(batch)
    )


def shown(tops: LogTops) -> dict[str, Any]:
    return {"largest": as_json(tops, "largest"), "keys": as_json(tops, "keys")}


@given(data=st.data())
def test_largest_are_exact_and_keys_within_their_error(log: Path, data: st.DataObject) -> None:
    """For every cut, and every order in which parts are merged."""
    starts = [batch.position for batch in batches_of(log.read_bytes())]
    cuts = sorted(data.draw(st.lists(st.sampled_from(starts), max_size=6)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heavy_hitters, "MOST_KEYS", 20)
        patch.setattr("kraftops.engine.native.MOST_KEYS", 20)
        parts: list[Summary] = [
            pickle.loads(pickle.dumps(summarised(str(log), start=start, stop=stop)))
            for start, stop in zip([0, *cuts], [*cuts, None], strict=True)
        ]
        order = data.draw(st.permutations(parts))
        tops = LogTops(USER)
        for part in order:
            assert part.tops is not None
            tops.merge(part.tops)
        found = shown(tops)

    largest = sorted(records_of(log), key=lambda one: (-one[0], one[1]))[:10]
    assert [(one["bytes"], one["offset"]) for one in found["largest"]["records"]] == largest
    sizes = sorted((batch.size for batch in batches_of(log.read_bytes())), reverse=True)
    assert [one["bytes"] for one in found["largest"]["batches"]] == sizes[:10]
    exact, keys = keys_of(log), found["keys"]
    assert keys["records"] == exact.total()
    assert 0 < keys["error"] <= exact.total() / 21
    for one in keys["top"]:
        assert one["records"] <= exact[one["key"]] <= one["records"] + keys["error"]
    listed = {one["key"] for one in keys["top"]}
    least = keys["top"][-1]["records"]
    assert all(exact[key] <= least + keys["error"] for key in exact if key not in listed)
    assert keys["top"][0]["key"] == "hot"


def test_largest_producers_have_the_bytes_of_their_records(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    batches = [
        batch_bytes([Record(n, 0, None, bytes(100 * (n % 3)))], producer_id=n % 3, producer_epoch=0)
        for n in range(9)
    ]
    path.write_bytes(b"".join([*batches, batch_bytes([Record(9, 0, None, bytes(5_000))])]))

    found = as_json(summarised(str(path)))["largestProducers"]

    assert [one["producerId"] for one in found["top"]] == [2, 1, 0]
    assert found["bytes"] == sum(one["bytes"] for one in found["top"]) < 1_200
    assert found["error"] == 0


def test_keys_are_shown_as_in_rows() -> None:
    tops = LogTops(USER)
    tops.keys.add("é".encode(), 3)
    tops.keys.add(b"\xff", 2)
    tops.keys.add("é".encode() * 128 + (300).to_bytes(8) + b"crc.", 1)
    tops.keys.add(b"x" + "é".encode() * 127 + b"\xc3" + (301).to_bytes(8) + b"crc.", 1)

    assert [tuple(one.values()) for one in shown(tops)["keys"]["top"]] == [
        ("é", None, 2, 3),
        ("/w==", "base64", 1, 2),
        ("x" + "é" * 127, None, 301, 1),
        ("é" * 128, None, 300, 1),
    ]


def test_keys_of_a_coordinator_are_decoded() -> None:
    tops = LogTops(decoder_named("offsets"))
    tops.keys.add(b"\0\1\0\1g\0\1t\0\0\0\7")

    (one,) = as_json(tops, "keys")["top"]

    assert one["key"] == '{"group":"g","topic":"t","partition":7}'
