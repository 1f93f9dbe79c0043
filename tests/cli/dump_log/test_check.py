"""`kafka-dump-log --check`: damage and its exit codes; the output stays the same."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.metadata_logs import no_ops
from tests.helpers.logs.segments import IN, batch_around, patched, resealed
from tests.helpers.logs.written import batch_bytes, message_bytes
from tests.helpers.tools.console import run_command, run_here

LOG_NAME = "00000000000000000000.log"
GOOD = batch_bytes([Record(0, 10, b"k", b"good")])
NEXT = batch_bytes([Record(1, 20, b"k", b"next")])
META = "--cluster-metadata-decoder"
each_form = pytest.mark.parametrize("form", ["text", "json", "csv"])


def flipped(batch: bytes, at: int = -3) -> bytes:
    return batch[:at] + bytes([batch[at] ^ 1]) + batch[at + 1 :]


UNKNOWN = batch_bytes([Record(1, 0, None, b"\1\x63\0")])

FOUND = [
    pytest.param(GOOD, [], [], id="sound"),
    pytest.param(b"", [], [], id="empty"),
    pytest.param(GOOD + bytes(100), [], [], id="padding"),
    pytest.param(GOOD + flipped(NEXT), [], ["the CRC does not match"], id="CRC"),
    pytest.param(
        GOOD + flipped(message_bytes(Record(1, 5, b"k", b"value"), 1)),
        [],
        ["the CRC does not match"],
        id="CRC of magic 1",
    ),
    pytest.param(GOOD + NEXT[:-5], [], ["bytes that are not a whole batch"], id="tail"),
    pytest.param(GOOD + b"x", [], ["bytes that are not a whole batch"], id="one byte"),
    pytest.param(
        GOOD + b"\0" * 11 + b"\1" + b"garbage" * 9, [], ["a batch length of 1, "], id="garbage"
    ),
    pytest.param(
        GOOD + batch_around(b"\xff" * 20, 1), ["--print-data-log"], ["record 1 of 1: "], id="record"
    ),
    pytest.param(
        GOOD + resealed(patched(NEXT, 22, b"\6")), [], ["unknown codec 6"], id="unknown codec"
    ),
    pytest.param(
        GOOD + batch_around(b"\xff" * 20, 1) + NEXT,
        [],
        ["record 1 of 1: "],
        id="record of which no line is printed",
    ),
    pytest.param(
        GOOD + batch_around(b"", 4), [], ["record 1 of 4: "], id="fewer records than are counted"
    ),
    pytest.param(GOOD + patched(NEXT, 16, b"\3"), [], ["magic 3 is not known"], id="magic 3"),
    pytest.param(  # what compaction leaves
        GOOD + batch_bytes([Record(5, 20, b"k", b"far")]), [], [], id="gap in the offsets"
    ),
    pytest.param(
        no_ops(0, 1) + UNKNOWN, [META], ["Unknown metadata id 99"], id="undecodable record"
    ),
    pytest.param(
        flipped(GOOD) + flipped(NEXT) + b"x",
        [],
        ["the CRC does not match"] * 2 + ["bytes that are not a whole batch"],
        id="several",
    ),
]


@each_form
@pytest.mark.parametrize(("data", "arguments", "findings"), FOUND)
def test_damage_is_code_2_and_a_line_each(
    form: str, data: bytes, arguments: list[str], findings: list[str], tmp_path: Path
) -> None:
    (tmp_path / "0.log").write_bytes(data)
    given = ["--files", "0.log", "--format", form, *arguments]

    plain = run_here(*given, cwd=tmp_path)
    done = run_here(*given, "--check", cwd=tmp_path)

    assert done.code == (2 if findings else 0)
    assert done.out == plain.out
    told = [line for line in done.errors if " of zero padding" not in line and line[:5] == "0.log"]
    assert len(told) == len(findings)
    for line, reason in zip(told, findings, strict=True):
        assert line.startswith("0.log: position ")
        assert reason in line


@each_form
def test_jobs_change_nothing_of_a_check(form: str, tmp_path: Path) -> None:
    batches = [no_ops(n * 500, 500) for n in range(200)]
    for number in (20, 120, 121):
        batches[number] = flipped(batches[number])
    (tmp_path / "0.log").write_bytes(b"".join([*batches * 2, b"tail"]))
    given = ["--files", "0.log", META, "--format", form, "--check"]

    # As programs of their own: the terminal in memory is not to be shared by processes.
    done, *others = (run_command(*given, "--jobs", jobs, cwd=tmp_path) for jobs in "124")

    assert others == [done, done]
    assert done.code == 2
    assert sum("CRC" in line for line in done.errors) == 6


def test_wrong_index_is_damage(tmp_path: Path) -> None:
    shutil.copytree(IN / "idx/pos+1", tmp_path / "x")
    names = ",".join(sorted(path.name for path in (tmp_path / "x").iterdir()))

    plain = run_here("--files", names, cwd=tmp_path / "x")
    done = run_here("--files", names, "--check", cwd=tmp_path / "x")

    assert done.code == 2
    assert done.out == plain.out
    assert done.errors


INDEXES = [
    ("idx/swapped", "index", "is not beyond 44, that of the entry before"),
    ("idx/cut3", "index", "bytes are not an entry"),
    ("idx/cut3", "timeindex", "bytes are not an entry"),
]


@pytest.mark.parametrize(("case", "suffix", "reason"), INDEXES)
def test_damage_that_kafka_passes_over_in_an_index_is_found(
    case: str, suffix: str, reason: str
) -> None:
    name = f"{'0' * 20}.{suffix}"

    plain = run_here("--files", name, cwd=IN / case)
    done = run_here("--files", name, "--check", cwd=IN / case)

    assert (plain.code, plain.errors) == (0, [])
    assert (done.code, done.out) == (2, plain.out)
    assert len(done.errors) == 1
    assert reason in done.errors[0]


def test_damaged_transaction_index_is_found(tmp_path: Path) -> None:
    (tmp_path / "0.txnindex").write_bytes(bytes(34 + 5))

    assert run_here("--files", "0.txnindex", cwd=tmp_path).code == 0
    done = run_here("--files", "0.txnindex", "--check", cwd=tmp_path)

    assert done.code == 2
    assert done.errors == ["0.txnindex: position 34: 5 bytes are not an entry"]


@pytest.mark.parametrize("change", [flipped, lambda data: data[:7]])
def test_damaged_producer_snapshot_is_found(
    change: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    source = IN / "user/txn/00000000000000000018.snapshot"
    (tmp_path / source.name).write_bytes(change(source.read_bytes()))

    plain = run_here("--files", source.name, cwd=tmp_path)
    done = run_here("--files", source.name, "--check", cwd=tmp_path)

    assert (plain.code, done.code) == (0, 2)
    assert (done.out, done.errors) == (plain.out, plain.errors)
    assert len(done.errors) == 1


@pytest.mark.parametrize("suffix", ["index", "timeindex", "snapshot", "txnindex"])
def test_sound_index_is_no_damage(suffix: str, tmp_path: Path) -> None:
    source = IN / "user/txn"
    names = sorted(path.name for path in source.glob(f"*.{suffix}"))

    done = run_here("--files", ",".join(names), "--check", cwd=source)

    assert (done.code, done.errors) == (0, [])


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["no.log"], 1),
        (["no.log", "none.log"], 1),
        (["no.log", "good.log"], 0),
        (["no.log", "bad.log"], 2),
        (["good.log", "bad.log"], 2),
        (["bad.log", "no.log"], 2),
    ],
)
def test_file_that_cannot_be_read_counts_only_if_none_can(
    names: list[str], code: int, tmp_path: Path
) -> None:
    (tmp_path / "good.log").write_bytes(GOOD)
    (tmp_path / "bad.log").write_bytes(flipped(GOOD))

    done = run_here("--files", ",".join(names), "--check", cwd=tmp_path)

    assert done.code == code
    missing = sum("No such file or directory" in line for line in done.errors)
    assert missing == sum(name.startswith("no") for name in names)


@pytest.mark.parametrize(
    ("names", "code"), [(["typo"], 1), (["typo", "none.log"], 1), (["typo", "good.log"], 0)]
)
def test_name_of_no_known_file_is_nothing_that_was_read(
    names: list[str], code: int, tmp_path: Path
) -> None:
    (tmp_path / "good.log").write_bytes(GOOD)

    done = run_here("--files", ",".join(names), "--check", cwd=tmp_path)

    assert done.code == code
    assert "Ignoring unknown file typo" in done.errors


def test_parquet_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(GOOD + flipped(NEXT))
    given = ["--files", "0.log", "--format", "parquet", "--output", "rows.parquet", "--check"]

    done = run_here(*given, cwd=tmp_path)

    assert done.code == 2
    assert done.errors == [f"0.log: position {len(GOOD)}: the CRC does not match"]
    assert (tmp_path / "rows.parquet").exists()


@each_form
def test_archive_is_checked_as_the_log_in_it(form: str, tmp_path: Path) -> None:
    raw = gzip.compress(GOOD + flipped(NEXT))
    for name, data in (
        ("0.log.gz", raw),
        ("1.log.gz", gzip.compress(GOOD)),
        ("2.log.gz", raw[:-9]),
    ):
        (tmp_path / name).write_bytes(data)
    codes = {}
    for name in ("0.log.gz", "1.log.gz", "2.log.gz"):
        codes[name] = run_here("--files", name, "--check", "--format", form, cwd=tmp_path).code

    assert codes == {"0.log.gz": 2, "1.log.gz": 0, "2.log.gz": 2}


@each_form
def test_filter_leaves_the_check_of_what_is_read(form: str, tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(flipped(GOOD) + NEXT)

    for arguments in (["--offset", "1"], ["--limit", "5"], ["--where", "key='k'"]):
        done = run_here("--files", "0.log", "--format", form, "--check", *arguments, cwd=tmp_path)

        assert done.code == 2
        assert done.errors == ["0.log: position 0: the CRC does not match"]


@each_form
def test_finding_is_reported_once(form: str, tmp_path: Path) -> None:
    """Also with a filter and Kafka's text, where a record is read in two ways."""
    (tmp_path / "0.log").write_bytes(no_ops(0, 1) + UNKNOWN)

    done = run_here(
        "--files", "0.log", META, "--format", form, "--check", "--offset", "0..9", cwd=tmp_path
    )

    assert done.code == 2
    assert len(done.errors) == 1


@pytest.mark.parametrize(
    ("change", "code", "checked"),
    [
        (flipped, 0, 2),
        (lambda data: data + b"tail", 0, 2),
        (lambda data: data + bytes(50), 0, 0),
        (lambda data: data + batch_around(b"\xff" * 9, 1), 1, 2),
        (lambda data: data, 0, 0),
    ],
)
def test_codes_of_a_check_win_over_kafkas(
    change: Callable[[bytes], bytes], code: int, checked: int, tmp_path: Path
) -> None:
    (tmp_path / "0.log").write_bytes(change(GOOD))
    given = ["--files", "0.log", "--deep-iteration"]

    assert run_here(*given, cwd=tmp_path).code == code
    assert run_here(*given, "--check", cwd=tmp_path).code == checked


@each_form
@pytest.mark.parametrize(
    ("arguments", "code"), [([], 0), (["--check"], 2), (["--offset", "0..9"], 0)]
)
def test_half_a_batch_at_the_end_has_the_same_code_in_every_form(
    form: str, arguments: list[str], code: int, tmp_path: Path
) -> None:
    (tmp_path / "0.log").write_bytes(GOOD + NEXT[:-5])

    done = run_here("--files", "0.log", "--format", form, *arguments, cwd=tmp_path)

    assert done.code == code


def test_filtered_batches_are_checked_with_their_records(tmp_path: Path) -> None:
    """Also if only the lines of batches are printed."""
    bad = batch_around(b"\xff" * 9, 1)
    (tmp_path / "0.log").write_bytes(GOOD + NEXT + patched(bad, 0, (2).to_bytes(8)))

    for asked, code in (("0..1", 0), ("1..2", 2)):
        done = run_here("--files", "0.log", "--check", "--offset", asked, cwd=tmp_path)

        assert done.code == code
        assert len(done.errors) == bool(code)
