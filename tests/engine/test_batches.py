"""Both engines read batches of all sizes, correct and wrong, and render their bytes in the same way."""

import struct
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftops.engine.scanning import open_scan
from kraftops.log.batch import CONTROL
from kraftops.memory import Budget
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.decoders.user import DECODERS
from tests.helpers.engine.agreement import agree, batch_with, needs_both, shown
from tests.helpers.engine.choice import using
from tests.helpers.engine.comparison import WHOLE, Trial, by_native, by_reference, difference
from tests.helpers.engine.random_batches import Raw, raw_bytes, sealed
from tests.helpers.engine.random_messages import Kind, frame_bytes, message_bytes
from tests.helpers.engine.random_queries import FORMS
from tests.helpers.logs.coordinators import messages
from tests.helpers.logs.messages import encoded, table
from tests.helpers.logs.segments import batches_of
from tests.helpers.tools.distribution import long_after

pytestmark = needs_both


@pytest.mark.parametrize("many", long_after(6, [0, 1, 2, 100, 16384, 16385, 5, 16383, 60_000]))
@pytest.mark.parametrize("decoder", ["user", "metadata"])
def test_batches_of_any_size(many: int, decoder: str) -> None:
    value = frame_bytes("kafka", 9, 0) + b"\0" if decoder == "metadata" else b"v"
    body = b"".join(raw_bytes(Raw(at, 0, b"k" if at % 3 else None, value)) for at in range(many))
    batch = sealed(body, many, base_offset=9, attributes=3 if decoder == "user" else 0)
    for form in FORMS:
        agree(batch, Query(decoder, form=form, deep_iteration=True))


@pytest.mark.parametrize("damage", [b"", b"\x0c"], ids=["whole", "damaged"])
@pytest.mark.parametrize("attributes", [4, 4 | CONTROL], ids=["data", "control"])
def test_records_that_are_many_for_their_compressed_bytes(damage: bytes, attributes: int) -> None:
    body = raw_bytes(Raw(0, 0, None, None)) * 3_000
    batch = sealed(body + damage, 3_000 + len(damage), attributes=attributes)
    data = batch + sealed(raw_bytes(Raw(0, 0, None, b"v")), 1, base_offset=9_000)
    for form in FORMS:
        agree(data, Query("user", form=form, deep_iteration=True, check=True), blocks=(WHOLE,))


def test_many_small_batches() -> None:
    data = b"".join(
        sealed(raw_bytes(Raw(0, 0, None, b"v")), 1, base_offset=at) for at in range(6_000)
    )
    for form in FORMS:
        agree(data, Query("user", form=form, deep_iteration=True, check=True), blocks=(WHOLE,))


_INTS = (0, 1, 2, -1, 3, 0x7FFFFFFF, 0x7FFFFFFE, -0x80000000)
_LONGS = (0, -1, 1, 5, (1 << 63) - 1, -(1 << 63), 1 << 62)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_overflow(form: str) -> None:
    rng = Random(form)
    for _ in range(150):
        records = [Raw(rng.choice(_INTS), rng.choice(_LONGS), b"k", b"v") for _ in range(3)]
        batch = sealed(
            b"".join(map(raw_bytes, records)),
            len(records),
            base_offset=rng.choice(_LONGS),
            attributes=rng.choice((0, 8, 0x10, 0x40, 0x58)),
            last_delta=rng.choice(_INTS),
            base_time=rng.choice(_LONGS),
            max_time=rng.choice(_LONGS),
            producer_id=rng.choice(_LONGS),
            producer_epoch=rng.choice((0, -1, 0x7FFF, -0x8000)),
            sequence=rng.choice(_INTS),
            epoch=rng.choice(_INTS),
            magic=rng.choice((2, 2, 3, 127)),
        )
        asked = Filter(
            first_offset=rng.choice((0, -(1 << 63), 5)), since=rng.choice((-1, 0, -(1 << 63)))
        )
        query = Query("user", form=form, deep_iteration=True, check=True)
        agree(batch, query, replace(query, deep_iteration=False), replace(query, filter=asked))


@pytest.mark.parametrize("form", FORMS)
def test_wrong_counts_lengths_and_attributes(form: str) -> None:
    good = b"".join(raw_bytes(Raw(at, at, b"k", b"value")) for at in range(3))
    query = Query("user", form=form, deep_iteration=True, check=True)
    data = [sealed(good, count) for count in (0, 1, 2, 4, -1, 1 << 24, 0x7FFFFFFF, -(1 << 31))]
    data += [sealed(good[:-at], 3) for at in (1, 5, len(good) - 1)]
    data += [sealed(good + tail, 3) for tail in (b"\0", b"\2\0", b"\xff" * 6)]
    data += [sealed(good, 3, attributes=bits) for bits in (5, 6, 7, 0x20, 0x27, -1, 0x80, 0x7F00)]
    data += [sealed(b"", count, attributes=codec) for count in (0, 1) for codec in (0, 1, 4)]
    whole = sealed(good, 3, base_offset=50)
    for packed in (1, 2, 3, 4):
        batch = sealed(good, 3, attributes=packed)
        data += [batch[:-3], batch[:61] + b"garbage", batch[:61]]
        data.append(sealed(good, 3)[:22] + bytes([packed]) + sealed(good, 3)[23:])
    for one in data:
        size = (len(one) - 12).to_bytes(4)
        agree(
            whole + one[:8] + size + one[12:] + whole, query, replace(query, deep_iteration=False)
        )
        agree(one, replace(query, filter=Filter(first_offset=1)), replace(query, salvage=True))


def test_records_with_wrong_lengths() -> None:
    """Lengths in a record are too long, too short, negative, or beyond 32 bits."""
    odd = (
        b"\1",
        b"\3",
        b"\x7f",
        b"\xff\xff\xff\xff\x0f",
        b"\xfe\xff\xff\xff\x0f",
        b"\x80\x80\x80\x80\x00",
        b"\xff\xff\xff\xff\x1f",
        b"\x80\x80\x80\x80\x80\x01",
        b"\x82\x00",
        b"\xff" * 10,
        b"\x80" * 9 + b"\x01",
    )
    parts = [b"\0", b"\0", b"\0", b"\2k", b"\2v", b"\4", b"\2h", b"\1", b"\2i", b"\2x"]
    for at in range(1, len(parts)):
        for lie in odd:
            fields = b"".join([*parts[:at], lie, *parts[at + 1 :]])
            for size in (len(fields), len(fields) + 1, len(fields) - 1):
                body = bytes([size * 2]) + fields
                agree(
                    sealed(raw_bytes(Raw(0, 0, None, b"first")) + body, 2),
                    *shown(Kind("user", "kafka")),
                )


def test_headers() -> None:
    keys = (
        b"",
        b"a",
        b"a,b",
        b'q"q',
        b"\xff",
        b"\xed\xa0\x80",
        "é日😀".encode(),
        b"\n\r\t\0\x7f",
        b"\\",
    )
    values = (None, b"", b"v", b"\xff\xfe", b'"', bytes(range(256)))
    some = [((key, value),) for key in keys for value in values]
    many = [
        tuple((key, values[at % 6]) for at, key in enumerate(keys * count)) for count in (1, 7, 30)
    ]
    records = [Raw(at, 0, None, b"v", headers) for at, headers in enumerate((*some, *many, ()))]
    data = sealed(b"".join(map(raw_bytes, records)), len(records))
    agree(data, *shown(Kind("user", "kafka")))
    for where in (
        "headers.a = 'v'",
        "headers.'' is not null",
        "headers.'\ufffd' ~ '\ufffd'",
        "headers.'\"' = '\"'",
        "headers.'é日😀' is null",
        "len(headers) > 6",
        "headers.a.b is null",
        "headers.x is null",
    ):
        query = Query("user", form="json", filter=Filter(where=where))
        agree(data, query, replace(query, form="text", deep_iteration=True))
    most = Raw(0, 0, None, None, ((b"", None),) * 65_536)
    more = Raw(0, 0, None, None, ((b"", None),) * 65_537)
    agree(sealed(raw_bytes(most), 1), Query("user", form="parquet"), Query(deep_iteration=True))
    agree(sealed(raw_bytes(more), 1), Query("user", form="parquet"), Query(deep_iteration=True))


_TEXTS = (
    b"",
    b"plain",
    b"a\xffb",
    b"\xed\xa0\x80",
    b"\xed\xa0",
    b"\xed\xbf",
    b"\xed",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xf4\x90\x80\x80",
    b"\xc0\x80",
    b"\xc3(",
    b"\xe2(\xa1",
    b"\xf0(\x8c\xbc",
    b"\xf0\x90(\xbc",
    b"\xf0\x90\x8c(",
    b"\xf8\x88\x80\x80\x80",
    b"\x80",
    b"\xbf\xbf",
    "é日😀\ufeff\u2028\x85".encode(),
    b'{"a":1}',
    b"1,2",
    b'x"y',
    b"l\nm\r",
    b" ",
    b"\x00\x01\x1f\x7f",
    b"\\u0041",
    b"\xef\xbf\xbd",
    bytes(range(128, 256)),
)


@pytest.mark.parametrize("key_decoder", DECODERS, ids=lambda name: name.rpartition(".")[2])
@pytest.mark.parametrize("value_decoder", DECODERS, ids=lambda name: name.rpartition(".")[2])
def test_texts_of_users(key_decoder: str, value_decoder: str) -> None:
    """Bad UTF-8 is replaced as in Java and as in Python; numbers have too few or too many bytes."""
    numbers = [struct.pack(">q", number)[:size] for number in _LONGS for size in range(9)]
    raws: list[bytes | None] = [*_TEXTS, *numbers, None]
    data = batch_with([(raw, raws[-at - 1]) for at, raw in enumerate(raws)])
    query = Query("user", key_decoder=key_decoder, value_decoder=value_decoder, deep_iteration=True)
    for form in FORMS:
        agree(data, replace(query, form=form), replace(query, form=form, check=True))
    for text in ("plain", "\ufffd", "6162", "AA==", "null", "5", "-1"):
        for where in (f"key = '{text}'", f"value >= '{text}'", f"value ~ '{text}$' or key is null"):
            asked = Filter(where=where)
            agree(data, replace(query, filter=asked), replace(query, form="json", filter=asked))
        agree(data, replace(query, form="csv", filter=Filter(keys=frozenset({text}))))


@settings(max_examples=60)
@given(raws=st.lists(st.binary(max_size=12), min_size=1, max_size=20))
def test_any_bytes_are_the_same_text(raws: list[bytes]) -> None:
    agree(batch_with([(raw, raw) for raw in raws]), *shown(Kind("user", "kafka")))
    value = [frame_bytes("kafka", 2, 0) + bytes([len(raw) + 1]) + raw + bytes(17) for raw in raws]
    agree(batch_with([(None, one) for one in value]), *shown(Kind("metadata", "kafka")))


def _of_size(size: int, what: str) -> bytes:
    patterns = {
        "ascii": b"abc,",
        "wide": "é日😀".encode(),
        "bad": "é日😀".encode() + b"\xff",
        "controls": b'\0\n"\\',
    }
    pattern = patterns[what]
    return b"z" + (pattern * (size // len(pattern) + 1))[: size - 1]


@pytest.mark.parametrize("what", ["ascii", "wide", "bad", "controls"])
@pytest.mark.parametrize("form", FORMS)
def test_long_values_come_in_pieces(form: str, what: str) -> None:
    sizes = ((1 << 18) - 1, 1 << 18, (1 << 18) + 1, 700_001)
    records = [
        Raw(at, 0, b"k", _of_size(size, what), ((b"h", None),)) for at, size in enumerate(sizes)
    ]
    long = _of_size(400_000, what)
    records += [
        Raw(4, 0, long, long),
        Raw(5, 0, long, None),
        Raw(6, 0, b"k", b"v", ((long, long), (b"", b""))),
    ]
    body = b"".join(map(raw_bytes, records))
    for attributes in (0, 4):
        data = sealed(body, len(records), attributes=attributes)
        query = Query("user", form=form, deep_iteration=True)
        wanted = by_reference(Trial(data, query))
        assert not difference(wanted, by_native(Trial(data, query)))
        agree(data, replace(query, skip_record_metadata=True), marks=True)
        agree(data, replace(query, filter=Filter(where="offset = 5")))
        agree(data, replace(query, decoder="metadata"), replace(query, decoder="offsets"))
    if form != "parquet":
        data = sealed(body, len(records))
        agree(data, replace(query, value_decoder="org.apache.kafka.tools.api.DefaultDecoder"))
        assert largest_output(Trial(data, query)) < 4 << 20


def test_values_too_large_to_be_decoded() -> None:
    limit = 8 << 20
    for size in (limit - 1, limit, limit + 1):
        data = sealed(
            raw_bytes(Raw(0, 0, b"k", bytes(size - 1))) + raw_bytes(Raw(1, 0, None, b"v")),
            2,
            attributes=4,
        )
        for decoder in ("metadata", "offsets", "remote"):
            for form in FORMS:
                agree(data, Query(decoder, form=form, deep_iteration=True, check=True))
    value = _of_size(limit + 5, "wide")
    data = sealed(raw_bytes(Raw(0, 0, value[:300_000], value)), 1, attributes=1)
    for form in FORMS:
        agree(data, Query("user", form=form, deep_iteration=True))
    assert largest_output(Trial(data, Query("user", form="json"))) < 4 << 20


def test_long_messages_of_decoders() -> None:
    message = table("remote")["RemoteLogSegmentMetadataRecord"]
    rng = Random(1)
    raw = frame_bytes("kafka", 0, 0) + message_bytes(rng, message, 0)
    key, value = messages("offsets")[2]
    data = {
        "protocolType": "consumer",
        "generation": 1,
        "protocol": None,
        "leader": None,
        "currentStateTimestamp": 1,
    }
    member = {
        "memberId": "m",
        "groupInstanceId": None,
        "clientId": "c",
        "clientHost": "h",
        "rebalanceTimeout": 1,
        "sessionTimeout": 1,
    }
    members = [{**member, "subscription": bytes(3_000_000), "assignment": bytes(range(256)) * 3000}]
    group = struct.pack(">h", 3) + encoded(value, 3, {**data, "members": members})
    named = struct.pack(">h", 2) + encoded(key, 0, {"group": "g"})
    for form in FORMS:
        query = Query("offsets", form=form, deep_iteration=True)
        agree(batch_with([(named, group), (named, None)]), query)
        agree(
            batch_with([(None, raw), (None, raw + bytes(1 << 20))]),
            replace(query, decoder="remote"),
        )


def test_batches_that_inflate_beyond_the_limit() -> None:
    body = raw_bytes(Raw(0, 0, None, bytes(5000)))
    for codec in (1, 2, 3, 4):
        data = sealed(body, 1, attributes=codec) + sealed(raw_bytes(Raw(1, 0, None, b"")), 1)
        for limit in (100, len(body) - 1, len(body)):
            budget = Budget(4 * limit)
            for form in FORMS:
                agree(data, Query("user", budget=budget, form=form, deep_iteration=True))


def largest_output(trial: Trial) -> int:
    """Return the size of the largest output of a call."""
    sizes = [0]
    with using("native"):
        scan = open_scan(trial.request)
        for batch in batches_of(trial.data):
            sizes += [len(outcome.out) for outcome in scan.batch(batch)]
    return max(sizes)
