"""Summaries of logs, compared with counts in the text of Kafka's own tool."""

import json
import pickle
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary.summary import Summary
from kraftops.errors import SourceError, UsageError
from kraftops.log.batch import CONTROL, Record
from kraftops.log.log_file import LogFile
from kraftops.memory import Budget
from kraftops.records.dialects import snake_case
from tests.helpers.engine.choice import using
from tests.helpers.logs.coordinators import messages
from tests.helpers.logs.segments import (
    COUNT_AT,
    IN,
    batch_around,
    batches_of,
    patched,
    plain_record,
    resealed,
)
from tests.helpers.logs.summaries import as_json, empty_summary, summarised
from tests.helpers.logs.written import batch_bytes, message_bytes, wrapper_bytes
from tests.helpers.tools.corpus import DUMPS, Case, cases
from tests.helpers.tools.distribution import long_but

DECODERS = {
    "--cluster-metadata-decoder": "metadata",
    "--offsets-decoder": "offsets",
    "--transaction-log-decoder": "transaction",
    "--share-group-state-decoder": "share",
    "--remote-log-metadata-decoder": "remote",
}
LOGS = sorted(
    path for path in IN.rglob("*") if path.is_file() and path.suffix in (".log", ".checkpoint")
)
FOLDERS = {
    "meta": "metadata",
    "meta-follower": "metadata",
    "consumer_offsets": "offsets",
    "transaction_state": "transaction",
    "share_group_state": "share",
}
TXN = sorted((IN / "user/txn").glob("*.log"))
each_engine = pytest.mark.parametrize("engine", ["native", "reference"])


def decoder_of(path: Path) -> str:
    """Return the decoder of a file of the corpus, by the name of its directory."""
    name = path.parent.name
    crafted = {
        "meta": "metadata",
        "offsets": "offsets",
        "txn-all": "transaction",
        "ckpt": "metadata",
    }
    if path.parent.parent.name == "craft":
        return next((one for start, one in crafted.items() if name.startswith(start)), "user")
    return "metadata" if path.suffix == ".checkpoint" else FOLDERS.get(name, "user")


def as_dict(summary: Summary) -> dict[str, Any]:
    """Return a summary as a program gets it."""
    found: dict[str, Any] = json.loads(json.dumps(as_json(summary)))
    return found


# What Kafka printed


@dataclass
class Printed:
    """Counts from the text of Kafka's tool."""

    batches: int = 0
    bytes: int = 0
    records: int = 0
    control: Counter[str] = field(default_factory=Counter)
    types: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    codecs: Counter[str] = field(default_factory=Counter)
    sizes: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    epochs: Counter[int] = field(default_factory=Counter)
    last_time: int = -1
    damaged: int = 0
    has_errors: bool = False


def printed(text: str, decoder: str) -> Printed:
    found, is_right = Printed(), True
    for line in text.split("\n"):  # names may have other line separators in them
        if line.startswith(("baseOffset: ", "offset: ")):
            is_right = line.endswith("isvalid: true")
            found.damaged += not is_right
            if is_right:
                add_batch(found, line)
        elif line.startswith("| offset: ") and is_right:
            found.records += 1
            found.offsets.append(int(line.split()[2]))
            add_record(found, line, decoder)
    return found


def add_batch(found: Printed, line: str) -> None:
    fields = dict(re.findall(r"(\w+): (\S+)", line))
    found.batches += 1
    found.sizes.append(int(fields["size"]))
    found.codecs[fields["compresscodec"]] += 1
    found.last_time = max(found.last_time, int(re.findall(r"(?:Time|Type): (-?\d+)", line)[0]))
    if int(fields.get("partitionLeaderEpoch", -1)) >= 0:
        found.epochs[int(fields["partitionLeaderEpoch"])] += 1


def add_record(found: Printed, line: str, decoder: str) -> None:
    control = re.search(r" endTxnMarker: (\w+)| (\w+):? \{\"version\"| controlType: (\S+)", line)
    if control and " payload: " not in line:
        name = control[1] or control[3] or snake_case(control[2].replace("KRaft", "Kraft"))
        found.control[name] += 1
        return
    has_error = re.search(r": Error at |: Unknown record type", line)
    found.has_errors = found.has_errors or bool(has_error)
    if has_error:
        return
    if decoder == "metadata":
        match = re.search(r' payload: \{"type":"(\w+)","version":(\d+)', line)
        if match:
            found.types[match[1], int(match[2])] += 1
    elif decoder != "user":
        key = re.search(r' key: \{"type":"(\d+)"', line)
        value = re.search(r' payload: (?:\{"version":"(\d+)"|<DELETE>)', line)
        if key and value:
            name = messages(decoder)[int(key[1])][0].name.removesuffix("Key")
            found.types[snake_case(name), int(value[1]) if value[1] else None] += 1


def of_one_log(case: Case) -> bool:
    files = case.args[1] if case.args[:1] == ["--files"] and len(case.args) > 1 else ""
    decoders = [one for one in case.args if one in DECODERS]
    others = {"--deep-iteration", "--print-data-log", "--files", files, *decoders}
    return (
        case.exit == 0
        and case.out is not None
        and "," not in files
        and Path(files).suffix in (".log", ".checkpoint")
        and len(decoders) < 2
        and "--remote-log-metadata-decoder" not in decoders
        and set(case.args) <= others
        and bool(decoders or {"--deep-iteration", "--print-data-log"} & set(case.args))
    )


TEXTS = [case for case in cases(DUMPS, "dump-log") if of_one_log(case)]


def test_there_are_texts_of_all_kinds() -> None:
    assert len(TEXTS) > 60
    assert {DECODERS[one] for case in TEXTS for one in case.args if one in DECODERS} == {
        "metadata",
        "offsets",
        "transaction",
        "share",
    }


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.name)
def test_numbers_are_those_of_the_text_that_kafka_printed(case: Case) -> None:
    path = IN / case.args[1]
    decoder = next((DECODERS[one] for one in case.args if one in DECODERS), "user")
    expected = printed(case.expected or "", decoder)

    found = as_dict(summarised(str(path), decoder))

    places = found["damage"]["first"]
    assert [one["reason"] for one in places].count("a wrong checksum") == expected.damaged
    if any(one["reason"] != "a wrong checksum" for one in places):
        # Of a batch that only looks whole Kafka's tool prints something all the same.
        assert found["batches"]["count"] <= expected.batches
        return
    assert found["batches"]["count"] == expected.batches
    assert found["batches"]["bytes"] == sum(expected.sizes)
    assert found["batches"]["sizes"]["max"] == max(expected.sizes, default=None)
    assert found["records"]["count"] == expected.records
    assert {one["codec"]: one["batches"] for one in found["codecs"]} == expected.codecs
    assert {one["epoch"]: one["batches"] for one in found["leaderEpochs"]} == expected.epochs
    assert found["times"]["lastMs"] == (expected.last_time if expected.last_time >= 0 else None)
    assert {one["type"]: one["count"] for one in found["control"]} == expected.control
    types = {(one["type"], one["version"]): one["count"] for one in found["types"]}
    assert sum(types.values()) == expected.records - sum(expected.control.values())
    if decoder == "user":
        assert set(types) <= {("user", None)}
    elif expected.has_errors:
        assert all(types[label] >= count for label, count in expected.types.items())
    else:
        assert types == expected.types
    if path.suffix == ".log" and expected.offsets:
        assert found["offsets"]["first"] <= expected.offsets[0]
        assert found["offsets"]["last"] >= expected.offsets[-1]


# Parts


@cache
def whole(path: Path, *, salvage: bool = False) -> dict[str, Any]:
    return as_dict(summarised(str(path), decoder_of(path), salvage=salvage))


@given(data=st.data())
@pytest.mark.parametrize(
    "path", long_but(LOGS[::3], LOGS), ids=lambda path: "/".join(path.parts[-3:])
)
def test_merged_summaries_equal_one_of_the_whole_log(path: Path, data: st.DataObject) -> None:
    starts = sorted({0, *(batch.position for batch in batches_of(path.read_bytes()))})
    cuts = sorted(data.draw(st.lists(st.sampled_from(starts), max_size=5)))

    together = empty_summary(decoder_of(path))
    for start, stop in zip([0, *cuts], [*cuts, None], strict=True):
        part = summarised(str(path), decoder_of(path), start=start, stop=stop)
        together.merge(pickle.loads(pickle.dumps(part)))

    assert as_dict(together) == whole(path)


def test_segments_of_a_log_are_like_one_segment(tmp_path: Path) -> None:
    """Transactions continue from one segment to the next."""
    one = tmp_path / "0.log"
    one.write_bytes(b"".join(path.read_bytes() for path in TXN))
    together = empty_summary()
    for path in TXN:
        together.merge(summarised(str(path)))

    found, expected = as_dict(together), as_dict(summarised(str(one)))

    assert found.pop("files") == {
        "count": len(TXN),
        "bytes": expected.pop("files")["bytes"],
        "paths": list(map(str, TXN)),
    }
    assert (found.pop("segments"), expected.pop("segments")) == (len(TXN), 1)
    for one in (found, expected):  # places in files
        for entry in (*one["largest"]["records"], *one["largest"]["batches"]):
            del entry["file"], entry["position"]
    assert found == expected
    assert found["transactions"]["committed"] + found["transactions"]["aborted"] == sum(
        one["count"] for one in found["control"]
    )


def test_transactions_are_those_in_the_text() -> None:
    """Markers of a producer end its own transactions."""
    summary = empty_summary()
    began: dict[str, int] = {}
    for number, path in enumerate(TXN):
        summary.merge(summarised(str(path)))
        case = next(one for one in cases(DUMPS, "dump-log") if one.name == f"txn-{number}-plain")
        for line in (case.expected or "").splitlines():
            match = re.match(
                r"baseOffset: (\d+) .*producerId: (\d+) .*Transactional: true isControl: (\w+)",
                line,
            )
            if match and match[3] == "true":
                began.pop(match[2], None)
            elif match:
                began.setdefault(match[2], int(match[1]))

    found = as_dict(summary)["transactions"]["open"]

    assert {str(one["producerId"]): one["firstOffset"] for one in found} == began


def test_open_log_is_read_and_left_open() -> None:
    path = str(LOGS[0])
    with LogFile(path) as log:
        assert as_dict(summarised(log)) == as_dict(summarised(path))
        assert log.read_at(0, 1)


# Damage


def summary_of(
    data: bytes, tmp_path: Path, decoder: str = "user", **options: Any
) -> dict[str, Any]:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(data)
    return as_dict(summarised(str(path), decoder, **options))


ONE = batch_bytes([Record(0, 1_000, b"k", b"v"), Record(1, 2_000, None, None)])
TWO = batch_bytes([Record(2, 3_000, b"k", b"v" * 100)], attributes=1)
CONTROL_TOO_FEW = batch_around(b"", 1, attributes=CONTROL)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param(patched(ONE, 70, b"?"), "a wrong checksum", id="crc"),
        pytest.param(
            resealed(patched(ONE, COUNT_AT, b"\0\0\0\x09")), "9 records in 17 bytes", id="count"
        ),
        pytest.param(
            resealed(patched(ONE, COUNT_AT, b"\xff\xff\xff\xff")),
            "-1 records in 17 bytes",
            id="neg",
        ),
        pytest.param(resealed(patched(ONE, 22, b"\x05")), "unknown codec 5", id="codec"),
        pytest.param(resealed(patched(ONE, 22, b"\x01")), "gzip: ", id="gzip"),
        pytest.param(batch_around(b"", 0, attributes=7), "unknown codec 7", id="codec-of-nothing"),
        pytest.param(CONTROL_TOO_FEW, "1 records in 0 bytes", id="control"),
        pytest.param(
            patched(message_bytes(Record(0, 5, b"k", b"v"), 1), 30, b"?"), "a wrong", id="legacy"
        ),
        pytest.param(
            message_bytes(Record(0, 5, None, b"no gzip"), 1, 1), "gzip: ", id="legacy-wrapper"
        ),
    ],
)
def test_damaged_batch_is_counted_as_that_and_nothing_else(
    bad: bytes, reason: str, tmp_path: Path
) -> None:
    found = summary_of(ONE + bad + TWO, tmp_path)

    (place,) = found["damage"]["first"]
    assert reason in place["reason"]
    assert (place["position"], place["bytes"]) == (len(ONE), len(bad))
    assert found["damage"]["bytes"] == len(bad)
    assert found["batches"]["count"] == 2
    assert found["records"]["count"] == 3
    assert found["files"]["bytes"] == len(ONE + bad + TWO)


@pytest.mark.parametrize("decoder", ["metadata", "offsets"])
def test_records_that_do_not_fill_their_batch_are_damage(decoder: str, tmp_path: Path) -> None:
    bad = batch_around(plain_record(0, b"\1\2\0") + b"??", 1)

    found = summary_of(ONE + bad, tmp_path, decoder)

    assert [one["position"] for one in found["damage"]["first"]] == [len(ONE)]
    assert sum(one["count"] for one in found["types"]) == 2


def test_bytes_after_the_last_batch_are_damage_or_padding(tmp_path: Path) -> None:
    cut = summary_of(ONE + TWO[:50], tmp_path)
    garbage = summary_of(ONE + bytes(8) + b"\0\0\0\1" + b"?" * 30, tmp_path)
    zeros = summary_of(ONE + bytes(4_000), tmp_path)

    assert [(one["position"], one["bytes"]) for one in cut["damage"]["first"]] == [(len(ONE), 50)]
    assert garbage["damage"]["bytes"] == 42
    assert (zeros["damage"]["count"], zeros["paddingBytes"]) == (0, 4_000)


def test_salvage_goes_on_behind_damage(tmp_path: Path) -> None:
    data = ONE + patched(ONE, 8, b"??") + TWO + bytes(5_000)

    without, found = summary_of(data, tmp_path), summary_of(data, tmp_path, salvage=True)

    assert (without["records"]["count"], found["records"]["count"]) == (2, 3)
    assert (found["damage"]["count"], found["damage"]["bytes"]) == (1, len(ONE))
    assert found["paddingBytes"] == 5_000
    assert found["files"]["bytes"] == len(data)


@pytest.mark.parametrize(
    "path", long_but(LOGS[::3], LOGS), ids=lambda path: "/".join(path.parts[-3:])
)
def test_salvage_of_an_undamaged_log_changes_nothing(path: Path) -> None:
    if whole(path)["damage"]["count"]:
        assert whole(path, salvage=True)["batches"]["count"] >= whole(path)["batches"]["count"]
    else:
        assert whole(path, salvage=True) == whole(path)


def test_batch_that_inflates_too_far_is_damage(tmp_path: Path) -> None:
    inflating = batch_bytes([Record(0, 0, None, bytes(100_000))], attributes=1)

    found = summary_of(inflating, tmp_path, budget=Budget(4000))

    assert "inflates beyond 1000 bytes" in found["damage"]["first"][0]["reason"]


@each_engine
@pytest.mark.parametrize("decoder", ["metadata", "offsets", "remote"])
@pytest.mark.parametrize("codec", [0, 4], ids=["plain", "zstd"])
def test_record_too_large_for_its_decoder_is_counted(
    engine: str, decoder: str, codec: int, tmp_path: Path
) -> None:
    """Key and value have one byte more than 8 MiB; the type is counted."""
    key = b"\0\1\0\1g\0\1t\0\0\0\0"
    most = (8 << 20) - len(key)
    values = [bytes(most - 1), bytes(most), bytes(most + 1), b"\0\0"]
    records = [Record(number, 0, key, value) for number, value in enumerate(values)]

    with using(engine):
        found = summary_of(batch_bytes(records, attributes=codec), tmp_path, decoder)

    large = [
        one for one in found["undecodable"]["first"] if one["reason"].endswith("up to 8388608")
    ]
    assert [one["reason"] for one in large] == [
        "offset 2: a record of 8388609 bytes, decoded up to 8388608"
    ]
    assert 8388609 < large[0]["bytes"] < 8388609 + 30
    assert found["records"]["count"] == len(values)
    assert sum(one["count"] for one in found["types"]) == len(values)


def test_records_that_no_decoder_reads_are_counted(tmp_path: Path) -> None:
    """The other records of their batch are counted."""
    good = b"\0\1\0\1g\0\1t\0\0\0\0"
    records = [
        Record(0, 0, None, b"x"),
        Record(1, 0, b"\0\x63", b"\0\0"),
        Record(2, 0, good, b"\0\x63"),
        Record(3, 0, good, None),
    ]

    found = summary_of(batch_bytes(records), tmp_path, "offsets")

    assert found["undecodable"]["count"] == 3
    assert [one["reason"] for one in found["undecodable"]["first"]] == [
        "offset 0: a record without a key",
        "offset 1: a key that is cut short",
        "offset 2: unknown version 99 of OffsetCommitValue",
    ]
    assert {(one["type"], one["version"]) for one in found["types"]} == {
        ("UNKNOWN", None),
        ("UNKNOWN(99)", 0),
        ("OFFSET_COMMIT", 99),
        ("OFFSET_COMMIT", None),
    }


def test_snapshot_has_no_offsets_of_the_log() -> None:
    path = IN / "meta/00000000000000000137-0000000001.checkpoint"

    found = as_dict(summarised(str(path), "metadata"))

    assert found["offsets"]["first"] is None
    assert found["records"]["count"] == 63
    assert [one["type"] for one in found["control"]][-2:] == ["SNAPSHOT_FOOTER", "SNAPSHOT_HEADER"]


def test_old_formats_are_counted_message_by_message(tmp_path: Path) -> None:
    records = [Record(number, 1_000 + number, b"k", b"v" * 50) for number in range(4)]
    wrapper = wrapper_bytes(records, 1, 1)
    single = message_bytes(Record(9, -1, None, b"v"), 0)

    found = summary_of(wrapper + single, tmp_path)

    assert found["batches"]["byMagic"] == {"0": 1, "1": 1}
    assert found["records"] == {"count": 5, "bytes": 4 * (34 + 51) + 26 + 1}
    assert (found["offsets"]["first"], found["offsets"]["last"]) == (0, 9)
    assert (found["times"]["firstMs"], found["times"]["lastMs"]) == (1_000, 1_003)
    assert sum(found["times"]["histogram"]["counts"]) == 4


def test_batch_too_large_to_hold_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraftops.log.reader.LARGEST_BATCH", 200)
    monkeypatch.setattr("kraftops.log.reader.BLOCK", 64)
    large = batch_bytes([Record(3, 5, None, bytes(1_000))])

    summary = summary_of(ONE + large, tmp_path, "metadata")

    assert [site["reason"] for site in summary["damage"]["first"]] == [
        f"a batch of {len(large)} bytes is more than a quarter of --max-memory"
    ]
    assert summary["records"]["count"] == 2
    assert (summary["offsets"]["last"], summary["offsets"]["end"]) == (1, 4)


def test_log_in_an_archive_and_in_none_have_the_same_numbers(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "00000000000000000000.log.gz"
    path.write_bytes(gzip.compress(ONE + TWO))

    packed = as_dict(summarised(str(path), salvage=True))
    plain = summary_of(ONE + TWO, tmp_path)

    assert packed.pop("files")["bytes"] == plain.pop("files")["bytes"] == len(ONE + TWO)
    assert [one["file"] for one in packed["largest"]["batches"]] == [str(path)] * 2
    assert str(path) in json.dumps(packed)
    assert json.loads(json.dumps(packed).replace(".log.gz", ".log")) == plain


def test_missing_file_and_unknown_dialect_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        summarised(str(tmp_path / "0.log"))
    with pytest.raises(UsageError, match="no dialect"):
        summarised(str(LOGS[0]), "metadata", dialect="klingon")
