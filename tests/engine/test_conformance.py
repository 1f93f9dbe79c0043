"""Both engines give the same bytes, notes, gaps, marks and columns.

Other tests compare the output with Kafka's. These compare the engines: for every decoder, form and
filter, for real logs, and for logs in pieces of any size.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

from kraftops.engine.scan_contract import Why
from kraftops.engine.scanning import open_scan
from kraftops.log.codecs import CODECS
from kraftops.query.filters import Filter, parse_types
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS
from kraftops.records.dialects import dialect
from kraftops.uuids import to_text
from tests.helpers.engine.agreement import (
    agree,
    batch_with,
    each_kind,
    needs_both,
    paths_of,
    rows_of,
)
from tests.helpers.engine.cases import counted
from tests.helpers.engine.choice import using
from tests.helpers.engine.comparison import (
    WHOLE,
    Trial,
    by_native,
    by_native_in_batches,
    by_reference,
    by_reference_in_blocks,
    collected,
    difference,
    of_batches,
    of_log,
)
from tests.helpers.engine.random_batches import Raw, log_bytes, raw_bytes, sealed
from tests.helpers.engine.random_conditions import conditions_about
from tests.helpers.engine.random_messages import (
    DIALECTS,
    IDS,
    KINDS,
    TOPICS,
    Kind,
    frame_bytes,
    payload,
)
from tests.helpers.engine.random_queries import FORMS, filter_of, query_of
from tests.helpers.logs.corpus_rows import EVERY_LOG, LOGS, decoder_of, name_of
from tests.helpers.logs.messages import encoded
from tests.helpers.logs.segments import batches_of
from tests.helpers.tools.distribution import long_after

pytestmark = needs_both


@each_kind
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("codec", long_after(2, [0, CODECS.index("zstd"), 1, 2, 3]))
def test_every_form_of_every_codec(kind: Kind, form: str, codec: int) -> None:
    rng = Random(f"{kind} {codec}")
    body = [raw_bytes(Raw(at, at, *payload(rng, kind, 0.05))) for at in range(12)]
    batch = sealed(b"".join(body), 12, attributes=codec, base_time=7, max_time=19)
    for deep, skip, check, secrets, salvage, marks in product((True, False), repeat=6):
        if form != "text" and (deep or skip):
            continue
        query = Query(
            decoder=kind.decoder,
            dialect=kind.dialect,
            form=form,
            deep_iteration=deep,
            skip_record_metadata=skip,
            check=check,
            show_secrets=secrets,
            salvage=salvage,
        )
        agree(batch + batch, query, marks=marks)


@each_kind
@pytest.mark.parametrize("odd", [0.0, 0.1, 0.5])
def test_random_queries_have_the_same_answers(kind: Kind, odd: float) -> None:
    rng = Random(f"{kind} {odd}")
    for _ in range(40):
        data = log_bytes(rng, kind, odd)
        rows = rows_of(data, kind)
        for _ in range(2):
            query = query_of(rng, kind, rows)
            agree(data, query, marks=rng.random() < 0.2, blocks=(rng.choice((WHOLE, 100)),))


@each_kind
@pytest.mark.parametrize("form", FORMS)
def test_every_filter(kind: Kind, form: str) -> None:
    rng = Random(f"{kind}")
    data = log_bytes(rng, kind) + log_bytes(rng, kind, 0.1)
    rows = rows_of(data, kind)
    for _ in range(40):
        asked = filter_of(rng, kind, rows)
        query = Query(kind.decoder, dialect=kind.dialect, form=form, filter=asked)
        agree(data, query, replace(query, check=True))
        if form == "text":
            agree(data, replace(query, deep_iteration=True, check=rng.random() < 0.5), marks=True)


@each_kind
def test_every_path_of_a_row_can_be_a_condition(kind: Kind) -> None:
    """Each member of some rows is compared with its value and with others."""
    rng = Random(f"{kind}")
    data = log_bytes(rng, kind) + log_bytes(rng, kind)
    pairs = [pair for row in rows_of(data, kind)[:6] for pair in paths_of(row)]
    asked = sorted({test for path, found in pairs for test in conditions_about(path, found)})
    query = Query(kind.decoder, dialect=kind.dialect, form="json")
    for where in rng.sample(asked, min(len(asked), 1000)):
        agree(data, replace(query, filter=Filter(where=where)))


@each_kind
def test_every_column_alone(kind: Kind) -> None:
    rng = Random(f"{kind}")
    data = log_bytes(rng, kind, 0.1)
    query = Query(kind.decoder, dialect=kind.dialect, form="parquet")
    for name in COLUMNS:
        agree(data, replace(query, columns=frozenset({name})))
    agree(data, replace(query, columns=frozenset()))
    agree(
        data,
        replace(
            query,
            columns=frozenset({"type", "kind"}),
            filter=Filter(types=parse_types(["TOPIC_RECORD"])),
        ),
    )


def test_both_engines_hide_the_same_secrets() -> None:
    """Configurations are secret by their names, readable or not."""
    spoken = dialect("kafka")
    (number, message), (scram, credential) = (
        next((number, one) for number, one in spoken.messages.items() if one.name == name)
        for name in ("ConfigRecord", "UserScramCredentialRecord")
    )
    names = (
        "ssl.keystore.location",
        "SSL.Keystore.Location",
        "ssl.keystore.key",
        "sasl.jaas.config",
        "listener.name.a.ssl.keystore.type",
        "listener.name..log.dirs",
        "listener.name.a.b.ssl.keystore.type",
        "listener.name.log.dirs",
        "listener.name.a.x.sasl.login.class",
        "listener.name.a.x\n.sasl.login.class",
        "listener.name.a.x\u2028.sasl.login.class",
        "listener.name.a\n.x\u2027.sasl.login.class",
        "listener.name.a.x.sasl.jaas.config",
        "",
        "é.secret.é",
        "retention.ms",
    )
    values = []
    for name, code in product(names, (2, 4, -1)):
        for value in ("open sesame", "", None, 'a "b"'):
            data = {"resourceType": code, "resourceName": "orders", "name": name, "value": value}
            raw = frame_bytes("kafka", number, 0) + encoded(message, 0, data)
            values += [raw, raw[:-1], raw + b"\0", raw.replace(b"x.sasl", b"\xff.sasl")]
    data = {
        "name": "alice",
        "mechanism": 1,
        "salt": b"s",
        "storedKey": b"k",
        "serverKey": b"",
        "iterations": 1,
    }
    raw = frame_bytes("kafka", scram, 0) + encoded(credential, 0, data)
    values += [raw, raw[:-1], raw + b"\0"]
    wheres = (
        "value.value = 'open sesame'",
        "value.value = '<redacted>'",
        "value.value ~ 'sesame'",
        "value.salt = '<redacted>'",
        "value.salt = 'cw=='",
        "value.value is null",
        "not value.value = 'open sesame'",
    )
    filters = [Filter(), *(Filter(where=where) for where in wheres)]
    for form, secrets, asked in product(FORMS, (True, False), filters):
        query = Query(
            "metadata", form=form, deep_iteration=True, show_secrets=secrets, filter=asked
        )
        agree(batch_with([(b"open", value) for value in values]), query)


def test_safe_csv_is_the_same(tmp_path: Path) -> None:
    texts = [
        b"=1+1",
        b"+",
        b'-1,"',
        b"@\n",
        b"\t",
        b"\r",
        b"a",
        b"",
        b"\xf8",
        b"\xfb\xff=",
        b"\xff",
    ]
    records = [(key, value) for key in texts for value in (*texts, None)]
    query = Query(form="csv-safe", deep_iteration=True)

    agree(batch_with(records), query)
    agree(log_bytes(Random(7), Kind(*KINDS[0]), 0.1), replace(query, decoder=KINDS[0][0]))
    trial = Trial(batch_with([(b"=1+1", b"\xf8")]), query)
    assert b",'=1+1,'+A==," in by_reference(trial).out


@pytest.mark.parametrize("path", EVERY_LOG, ids=name_of)
def test_real_logs(path: object) -> None:

    assert isinstance(path, Path)
    data = path.read_bytes()
    for decoder in {decoder_of(path), "user"}:
        for form in FORMS:
            query = Query(decoder, form=form, deep_iteration=True)
            agree(data, query, replace(query, check=True), blocks=(WHOLE, 700))
    shallow = Query()
    agree(data, shallow, replace(shallow, check=True), replace(shallow, deep_iteration=True))


def test_sound_batches_are_not_declined() -> None:
    """The native engine declines only batches of old magics."""
    for path in LOGS:
        data = path.read_bytes()
        batches = batches_of(data)
        if any(batch.is_legacy for batch in batches) or not batches or "craft" in path.parts:
            continue
        for form in FORMS:
            counts: Counter[str] = Counter()
            query = Query(decoder_of(path), form=form, deep_iteration=True)
            by_native(Trial(data, query), declined=counts)
            assert counts["calls"]
            assert not counts["declined"], name_of(path)
    for kind in KINDS:
        data = log_bytes(Random(f"{kind}"), Kind(*kind))
        counts = Counter()
        by_native(Trial(data, Query(kind[0], dialect=kind[1], form="json")), declined=counts)
        assert not counts["declined"], kind


@each_kind
def test_size_of_blocks_does_not_matter(kind: Kind) -> None:
    rng = Random(f"{kind}")
    for _ in range(6):
        data = log_bytes(rng, kind, 0.1) + log_bytes(rng, kind)
        for form in FORMS:
            query = Query(
                kind.decoder, dialect=kind.dialect, form=form, deep_iteration=True, check=True
            )
            trial = Trial(data, query)
            wanted = by_reference(trial)
            for block in (1, 61, 73, 1000):
                assert not difference(wanted, by_native(trial, block))
            assert not difference(wanted, by_native_in_batches(trial))
            assert not difference(wanted, by_reference_in_blocks(trial, 73))


def test_call_goes_on_where_the_last_one_ended() -> None:
    """`next` leads through the whole log, from any position on."""
    value = b"x" * 3000
    body = b"".join(raw_bytes(Raw(at, 0, None, value)) for at in range(1000))
    data = sealed(body, 1000) + sealed(body, 1000, base_offset=1000, attributes=4) + b"\0" * 30
    outs = {}
    for engine in ("native", "reference"):
        with using(engine):
            scan = open_scan(Trial(data, Query("user", deep_iteration=True)).request).engine
            for lead in (b"", b"before"):
                parts, at, calls = [], len(lead), 0
                whole = lead + data
                while True:
                    outcome = scan.feed(whole, at, 1_000_000 + at - len(lead))
                    assert at <= outcome.next <= len(whole)
                    assert outcome.why in (Why.MORE, Why.FULL)
                    parts.append(outcome.out)
                    calls += 1
                    at = outcome.next
                    if outcome.why == Why.MORE:
                        break
                assert at == len(whole) - 30
                assert calls > 5
                outs[engine, lead] = b"".join(parts)
            assert (scan.first_offset, scan.last_offset) == (0, 1999)
    assert len(set(outs.values())) == 1


def test_offsets_go_on_from_another_scan() -> None:
    for last in (None, 4, 3, -1, (1 << 63) - 1):
        found = []
        for engine in ("native", "reference"):
            with using(engine):
                scan = open_scan(Trial(b"", Query(deep_iteration=True)).request).engine
                scan.first_offset, scan.last_offset = 2, last
                outcome = scan.feed(batch_with([(None, b"v")] * 2)[:], 0, 0)
                later = scan.feed(
                    sealed(raw_bytes(Raw(3, 0, None, None)), 1, base_offset=5), 0, 100
                )
                found.append((outcome.gaps, later.gaps, scan.first_offset, scan.last_offset))
        assert found[0] == found[1], last


@pytest.mark.parametrize("decoder", ["metadata", "remote"])
def test_both_engines_count_the_same_records(decoder: str) -> None:
    for name in DIALECTS if decoder == "metadata" else ("kafka",):
        rng = Random(name)
        for odd in (0.0, 0.2, 0.6) * 20:
            data = log_bytes(rng, Kind(decoder, name), odd)
            text = counted(Trial(data, Query(decoder, dialect=name)))
            assert not text


def test_both_engines_find_the_same_topics() -> None:
    """Keys and values of all decoders name topics by name and by id."""
    ids = [to_text(one) for one in IDS]
    for kind in KINDS:
        rng = Random(f"{kind}")
        data = b"".join(log_bytes(rng, Kind(*kind)) for _ in range(6))
        for name in (*TOPICS, *ids):
            for others in (frozenset[str](), frozenset(ids[1:2])):
                asked = Filter(topics=frozenset({name}), topic_ids=others)
                query = Query(kind[0], dialect=kind[1], form="csv", filter=asked)
                agree(data, query, replace(query, form="text", deep_iteration=True))


def test_both_engines_write_the_same_salvaged_text() -> None:
    rng = Random(5)
    for kind in KINDS:
        data = log_bytes(rng, Kind(*kind), 0.2)
        query = Query(kind[0], dialect=kind[1], salvage=True, deep_iteration=True, check=True)
        agree(data, query, replace(query, deep_iteration=False), marks=True)


def test_bytes_that_are_no_log_raise_nothing() -> None:
    """A scan ends at bytes that are no log."""
    rng = Random(9)
    for size in (0, 1, 17, 60, 61, 62, 500):
        for data in (bytes(size), b"\xff" * size, rng.randbytes(size)):
            for form in FORMS:
                agree(data, Query("metadata", form=form, deep_iteration=True, check=True))


@each_kind
def test_batches_without_positions(kind: Kind) -> None:
    """Batches of a live log are in no file."""
    rng = Random(f"{kind}")
    batches = [batch._replace(position=-1) for batch in batches_of(log_bytes(rng, kind, 0.2))]
    for form in FORMS:
        query = Query(
            kind.decoder, dialect=kind.dialect, form=form, deep_iteration=True, check=True
        )
        trial = Trial(b"", query)
        found = []
        for engine in ("native", "reference"):
            with using(engine):
                found.append(collected(trial, of_batches(trial, batches)))
        assert not difference(*found)


def test_old_and_new_magics_in_one_log() -> None:
    """The reference reads batches that the native engine declines, and no offset is lost."""
    old = [
        path.read_bytes()
        for path in LOGS
        if any(b.is_legacy for b in batches_of(path.read_bytes()))
    ]
    assert old
    sound = sealed(raw_bytes(Raw(0, 0, b"k", b"v")), 1, base_offset=3)
    broken = sealed(raw_bytes(Raw(0, 0, b"k", b"v")) + b"\2", 2, base_offset=9)
    for data in old:
        log = b"".join((sound, data, sound, broken, sound, data))
        for form in FORMS:
            query = Query("user", form=form, deep_iteration=True, check=True)
            agree(log, query, replace(query, filter=Filter(first_offset=1)), blocks=(WHOLE, 100))


def test_scans_in_threads_share_a_decoder() -> None:
    trials = []
    for kind in KINDS:
        rng = Random(f"{kind}")
        data = b"".join(log_bytes(rng, Kind(*kind), 0.1) for _ in range(20))
        trials += [Trial(data, Query(kind[0], dialect=kind[1], form=form)) for form in FORMS]
    wanted = [by_native(trial) for trial in trials]
    with using("native"), ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            found = list(pool.map(lambda trial: collected(trial, of_log(trial)), trials))
            assert found == wanted
