"""Limits of `kafka-dump-log` for batches and records, and the memory of a refusal."""

import json
from pathlib import Path

import pytest

from kraftops.engine.choice import why_not_native
from kraftops.log.batch import CONTROL, Record
from kraftops.log.codecs import CODECS, zstd_module
from tests.helpers.engine.choice import VARIABLE, using
from tests.helpers.logs.corpus_rows import logs_of
from tests.helpers.logs.costly_files import (
    LEADER_CHANGE,
    MIB,
    UNKNOWN_CONTROL,
    broker_with_endpoints,
    control_key,
    inflating_to,
    leader_with_voters,
    measured,
    packed,
)
from tests.helpers.logs.segments import batch_around, plain_record
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import DUMP_LOG, Done, run_command, run_here
from tests.helpers.tools.distribution import long_after

LOG_NAME = "00000000000000000000.log"
META = "--cluster-metadata-decoder"
NO_OP = b"\x01\x14\0\0"
NEXT = batch_bytes([Record(1, 0, None, NO_OP)])
ZSTD = CODECS.index("zstd")
MOST_RESIDENT = 160 * MIB  # 150 here, and some for another allocator
"""The inflated 64 MiB up to the limit, the compressed bytes, and Python itself."""
FORMS = ([], ["--format", "json"], ["--format", "csv"], ["--check"], ["--summary"])

each_engine = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(
            "native", marks=pytest.mark.skipif(bool(why_not_native()), reason="there is none")
        ),
        "reference",
    ],
)


@each_engine
@pytest.mark.parametrize("codec", long_after(2, ["zstd", "gzip", "snappy", "lz4"]))
def test_batch_that_inflates_too_far_costs_no_more_than_the_limit(
    codec: str, engine: str, tmp_path: Path
) -> None:
    """A batch of 7 KB that inflates to 200 MB is refused, and the next batch is read."""
    path = tmp_path / LOG_NAME
    path.write_bytes(inflating_to(200 * MIB, codec) + NEXT)
    arguments = (META, "--files", str(path))
    refused = "the batch inflates beyond 67108864 bytes, a quarter of --max-memory"

    text, text_peak = measured(engine, DUMP_LOG, *arguments)
    rows, rows_peak = measured(engine, DUMP_LOG, *arguments, "--format", "json")
    checked, checked_peak = measured(engine, DUMP_LOG, *arguments, "--check")
    summary, summary_peak = measured(engine, DUMP_LOG, *arguments, "--summary", "--format", "json")

    assert (text.code, rows.code, checked.code, summary.code) == (2, 2, 2, 2)
    assert text.errors == rows.errors == [f"{path}: position 0: {refused}"]
    assert text.errors[0] in checked.errors
    assert "NO_OP_RECORD" in text.text.splitlines()[-1]
    assert checked.out == text.out
    damage, row = map(json.loads, rows.text.splitlines())
    assert refused in damage["error"]
    assert row["type"] == "NO_OP_RECORD"
    assert logs_of(summary.text)[0]["damage"]["first"][0]["reason"] == refused
    assert max(text_peak, rows_peak, checked_peak, summary_peak) < MOST_RESIDENT


def test_window_of_zstd_counts_too(tmp_path: Path) -> None:
    """A frame may ask for a window of 128 MiB, in addition to the output: Kafka's tool reads it."""
    path = tmp_path / LOG_NAME
    zstd = zstd_module()
    frame = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    packed = frame.compress(plain_record(0, bytes(200 * MIB))) + frame.flush()
    path.write_bytes(batch_around(packed, 1, attributes=ZSTD) + NEXT)

    done, peak = measured("reference", DUMP_LOG, META, "--files", str(path))

    assert done.code == 2
    assert done.errors[0].endswith("position 0: zstd: a window too large for --max-memory")
    assert "NO_OP_RECORD" in done.text
    assert peak < MOST_RESIDENT


@each_engine
def test_limit_is_a_quarter_of_the_budget(engine: str, tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(inflating_to(65 * MIB, "zstd"))

    def is_refused(*args: str) -> bool:
        with using(engine):
            done = run_here(*args, str(path), "--summary", "--format", "json")
        first: list[dict[str, str]] = logs_of(done.text)[0]["damage"]["first"]
        return ["the batch inflates beyond" in one["reason"] for one in first] == [True]

    assert is_refused()
    assert is_refused(META)
    assert not is_refused("--max-memory", "264m")
    assert not is_refused(META, "--max-memory", "1g")


@each_engine
@pytest.mark.parametrize(
    "form",
    [
        ("--files",),
        ("--salvage", "--files"),
        ("--format", "json", "--where", "valueSize < 9", "--files"),
        ("--check", "--files"),
        ("--check",),
        ("--summary", "--format", "json"),
        ("--summary",),
    ],
    ids=" ".join,
)
def test_file_that_spends_its_budget_is_one_line_and_the_next_is_read(
    engine: str, form: tuple[str, ...], tmp_path: Path
) -> None:
    """Nine batches inflate to 135 MB, where --max-memory is 64 MiB."""
    spent, sound = tmp_path / "spent-0" / LOG_NAME, tmp_path / "sound-0" / LOG_NAME
    for path in (spent, sound):
        path.parent.mkdir()
    record = plain_record(0, bytes(15 * MIB))
    spent.write_bytes(b"".join(packed(record, first=number) for number in range(9)))
    sound.write_bytes(NEXT)

    with using(engine):
        files = (f"{spent},{sound}",) if "--files" in form else (str(spent), str(sound))
        done = run_here("--deep-iteration", "--max-memory", "64m", *form, *files)

    reason = "the batches up to here inflate to more than 1100 times their size and 67108864 bytes"
    is_document = form[-1] == "json"
    assert (done.code, (done.text if is_document else done.err).count(reason)) == (2, 1)
    assert "no more are read; --max-memory allows more" in done.err + done.text
    assert ("\nsound " if form == ("--summary",) else str(sound)) in done.text


@each_engine
@pytest.mark.parametrize("codec", [0, ZSTD], ids=["plain", "zstd"])
def test_record_that_is_too_large_is_a_finding(engine: str, codec: int, tmp_path: Path) -> None:
    """A record of 8 MiB and a byte in the middle of a batch; the other records are read."""
    values = (NO_OP, NO_OP + bytes(8 * MIB - 3), NO_OP)
    records = [Record(number, 0, None, value) for number, value in enumerate(values)]
    path = tmp_path / LOG_NAME
    path.write_bytes(batch_bytes(records, attributes=codec))

    def run(*args: str) -> Done:
        with using(engine):
            return run_here(META, "--files", str(path), *args)

    text, rows, checked = run(), run("--format", "json"), run("--format", "json", "--check")
    (summary,) = logs_of(run("--summary", "--format", "json").text)

    reason = "a record of 8388609 bytes is not decoded, only up to 8388608"
    assert text.code == 1
    assert text.errors == [f"{path}: position 0: offset 1: {reason}"]
    assert text.text.count("NO_OP_RECORD") == 2
    assert f"<undecodable: {reason}>" in text.text
    error = "a record of 8388609 bytes, decoded up to 8388608"
    found = [json.loads(line) for line in rows.text.splitlines()]
    assert [row["error"] for row in found] == [None, error, None]
    assert found[1]["value"] is None
    assert (rows.code, checked.code, checked.out) == (0, 2, rows.out)
    assert checked.errors == [f"{path}: position 0: {error}"]
    assert [one["reason"] for one in summary["undecodable"]["first"]] == [f"offset 1: {error}"]


@each_engine
@pytest.mark.parametrize("form", FORMS)
def test_control_record_that_is_too_large_is_a_finding(
    engine: str, form: list[str], tmp_path: Path
) -> None:
    """4.9 KB that inflate to 50 MiB of voters."""
    path = tmp_path / LOG_NAME
    record = plain_record(0, leader_with_voters(50 * MIB), control_key(LEADER_CHANGE))
    path.write_bytes(packed(record, attributes=CONTROL) + NEXT)
    size = len(leader_with_voters(50 * MIB)) + len(control_key(LEADER_CHANGE))

    done, peak = measured(engine, DUMP_LOG, META, "--files", str(path), *form)

    refused = f"a record of {size} bytes is not decoded, only up to 8388608"
    if "--format" in form:
        assert done.code == 0
        assert f"a record of {size} bytes, decoded up to 8388608" in done.text
        assert "NO_OP_RECORD" in done.text
    elif "--summary" in form:
        assert (done.code, done.err) == (0, "")
        assert f"a record of {size} bytes, decoded up to 8388608" in done.text
    else:
        assert done.code == (2 if form else 1)
        assert f"{path}: position 0: offset 0: {refused}" in done.errors
        assert f"<undecodable: {refused}>" in done.text
        assert "NO_OP_RECORD" in done.text
    assert peak < MOST_RESIDENT


@pytest.mark.skipif(bool(why_not_native()), reason="there is none")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["endpoints", "voters"])
def test_record_within_the_bound_costs_little_more_than_its_text(
    kind: str, form: list[str], tmp_path: Path
) -> None:
    """A million endpoints, or voters, in 7 MiB; the reference needs half a gigabyte for them."""
    path = tmp_path / LOG_NAME
    if kind == "endpoints":
        batch = packed(plain_record(0, broker_with_endpoints(7 * MIB)))
    else:
        value = leader_with_voters(7 * MIB)
        batch = packed(plain_record(0, value, control_key(LEADER_CHANGE)), attributes=CONTROL)
    path.write_bytes(batch)

    done, peak = measured("native", DUMP_LOG, META, "--files", str(path), *form)

    assert (done.code, done.err) == (0, "")
    if "--summary" not in form:
        field = b"securityProtocol" if kind == "endpoints" else b"voterId"
        assert done.out.count(field) == 7 * MIB // (7 if kind == "endpoints" else 5)
    assert peak < MOST_RESIDENT


@each_engine
def test_summary_holds_no_list_of_control_records(engine: str, tmp_path: Path) -> None:
    """With 300,000 control records of 4 MB."""
    path = tmp_path / LOG_NAME
    record, count = plain_record(0, b"", control_key(UNKNOWN_CONTROL)), 300_000
    path.write_bytes(packed(record * count, "none", count=count, attributes=CONTROL))

    done, peak = measured(engine, DUMP_LOG, META, "--summary", "--format", "json", str(path))

    assert done.code == 0
    assert logs_of(done.text)[0]["records"]["count"] == count
    assert peak < 64 * MIB


@pytest.mark.parametrize("decoder", ["--offsets-decoder", "--transaction-log-decoder"])
def test_details_of_too_many_records_for_their_bytes_are_refused(
    decoder: str, tmp_path: Path
) -> None:
    """A log of 1 MB would take half a minute: details are read one by one."""
    path = tmp_path / "00000000000000000000.log"
    batch = packed(b"\x0c\0\0\0\x01\x01\0" * 2000, "gzip", count=2000)
    path.write_bytes(batch)

    done = run_here(decoder, "--summary", str(path))

    most = 64 + len(batch) // 2
    assert done.code == 2
    assert (
        f"2000 records in a compressed batch of {len(batch)} bytes, more than the {most} whose"
        " details are read" in done.text
    )


@each_engine
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_long_value_before_another_file_is_written_whole_and_the_next_is_read(
    codec: str, engine: str, tmp_path: Path
) -> None:
    """A small log whose text is larger than a call writes, which had no end."""
    long, sound = tmp_path / LOG_NAME, tmp_path / "00000000000000000001.log"
    long.write_bytes(inflating_to(2 * MIB, codec))
    sound.write_bytes(NEXT)

    environment = {VARIABLE: engine}
    both, first, second = (
        run_command("--print-data-log", "--files", files, environment=environment)
        for files in (f"{long},{sound}", str(long), str(sound))
    )

    assert (both.code, both.err, both.out) == (0, "", first.out + second.out)
    assert len(both.out) > 2 * MIB


@each_engine
@pytest.mark.parametrize("form", ["json", "csv"])
def test_rows_of_a_file_are_cut_where_they_are_too_many(
    form: str, engine: str, tmp_path: Path
) -> None:
    """Zeros take six bytes each in a row of JSON: 80 KB can be written as 1.5 GB."""
    hostile, sound = tmp_path / LOG_NAME, tmp_path / "00000000000000000009.log"
    hostile.write_bytes(inflating_to(MIB, "zstd") * 3)
    sound.write_bytes(NEXT)
    paths = ("--print-data-log", "--files", f"{hostile},{sound}")

    with using(engine):
        cut = run_here(*paths, "--format", form, "--max-output", "512k")
        whole = run_here(*paths, "--format", form)
        last = run_here("--files", str(sound), "--format", form, "--max-output", "0")
        text = run_here(*paths, "--max-output", "0")

    heads = form == "csv"
    assert cut.code == 2
    assert (len(cut.text.splitlines()), len(whole.text.splitlines())) == (2 + heads, 4 + heads)
    assert len(cut.errors) == 1
    assert cut.errors[0].endswith("and 524288 bytes; --max-output allows more")
    assert cut.errors[0].startswith(f"{hostile}: position {len(hostile.read_bytes()) // 3}: ")
    assert (whole.code, text.code, last.code) == (0, 0, 0)  # nothing is cut after the last row
    assert text.text.count("offset: 0 ") == 3
