"""The text of files."""

import os
from pathlib import Path

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import text_chunks
from kraftops.log.batch import Record
from kraftops.memory import Budget
from kraftops.query.query import Query
from tests.helpers.engine.choice import using
from tests.helpers.logs.segments import IN
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.dump_file import LOG_NAME, QUERIES, dump, dump_bytes

ONE = batch_bytes([Record(0, 10, b"k", b"first")])
TWO = batch_bytes([Record(1, 20, b"k", b"second"), Record(2, 30, None, b"third")])


def test_file_begins_with_its_path_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000004711.log"
    path.write_bytes(ONE)

    found = dump(path)

    first, second, third = found.text.splitlines()
    assert (first, second) == (f"Dumping {path}", "Log starting offset: 4711")
    assert third.startswith("baseOffset: 0 ")
    assert (found.notes, found.summary, found.has_failed) == ([], [], False)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("00000000000000000042-0000000007.checkpoint", "Snapshot end offset: 42, epoch: 7"),
        ("bootstrap.checkpoint", "KRaft bootstrap snapshot"),
    ],
)
def test_snapshots_begin_with_their_kind(name: str, line: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(ONE)

    assert dump(tmp_path / name).text.splitlines()[1] == line


@pytest.mark.parametrize("name", ["abc.log", "odd.checkpoint"])
def test_file_whose_name_has_no_offset_is_read_all_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(ONE)

    found = dump(path)

    assert found.text.splitlines()[1].endswith("in the name is not an offset>")
    assert len(found.lines) == 1
    assert found.has_failed
    assert found.notes[0].startswith(f"{path}: position 0: ")


@pytest.mark.parametrize("suffix", ["deleted", "swap", "cleaned"])
def test_renamed_file_is_read_as_what_it_is(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"{LOG_NAME}.{suffix}"
    path.write_bytes(ONE)

    found = dump(path)

    assert len(found.lines) == 1
    assert len(found.notes) == 1
    assert found.notes[0].startswith(f"{path}: this file ")
    assert not found.has_failed


@pytest.mark.parametrize("exists", [False, True])
def test_unknown_file_is_ignored_whether_it_is_there_or_not(exists: bool, tmp_path: Path) -> None:
    path = tmp_path / "quorum-state"
    if exists:
        path.touch()

    found = dump(path)

    missing = [] if exists else [f"{path}: No such file or directory"]
    assert found.text == f"Dumping {path}\n"
    assert found.notes == [f"Ignoring unknown file {path}", *missing]
    assert not found.has_failed


def test_empty_file_has_no_batches(tmp_path: Path) -> None:
    found = dump_bytes(b"", tmp_path)

    assert found.lines == []
    assert (found.notes, found.summary, found.has_failed) == ([], [], False)


@pytest.mark.parametrize("name", QUERIES)
def test_missing_file_is_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME

    found = dump(path, QUERIES[name])

    assert found.text == f"Dumping {path}\nLog starting offset: 0\n"
    assert found.notes == [f"cannot read {path}: No such file or directory"]
    assert found.has_failed


@pytest.mark.parametrize(
    "name", [LOG_NAME, "0.index", "0.timeindex", "0.snapshot", "0.txnindex", "1-2.checkpoint"]
)
def test_directory_is_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / "0.log").touch()

    found = dump(tmp_path / name)

    assert any(note.endswith("Is a directory") for note in found.notes)
    assert found.has_failed


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all files")
def test_file_without_permission_is_one_line(tmp_path: Path) -> None:
    (tmp_path / LOG_NAME).touch(mode=0)

    found = dump(tmp_path / LOG_NAME)

    assert found.notes == [f"cannot read {tmp_path / LOG_NAME}: Permission denied"]
    assert found.has_failed


# Limits


def test_max_bytes_shows_the_batches_that_lie_in_them(tmp_path: Path) -> None:
    for limit, count in ((0, 0), (17, 0), (len(ONE) - 1, 0), (len(ONE), 1), (len(ONE) + 1, 1)):
        found = dump_bytes(ONE + TWO, tmp_path, Query(max_bytes=limit))

        assert len(found.lines) == count
        assert not found.has_failed


def test_batch_that_inflates_too_much_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    inflating = batch_bytes([Record(0, 0, None, bytes(1_000_000))], attributes=1)
    query = Query(decoder="user", deep_iteration=True, budget=Budget(40000))

    found = dump_bytes(inflating + TWO, tmp_path, query)

    assert [line.split()[0] for line in found.lines] == ["baseOffset:", "baseOffset:", "|", "|"]
    path = tmp_path / LOG_NAME
    assert found.notes == [
        f"{path}: position 0: the batch inflates beyond 10000 bytes, a quarter of --max-memory"
    ]
    assert found.has_failed


# Gaps


def test_first_offset_follows_nothing(tmp_path: Path) -> None:
    """Kafka's tool reports a gap after -1 for every segment but the first."""
    data = batch_bytes([Record(100, 0, None, b"v"), Record(101, 0, None, b"v")])

    assert dump_bytes(data, tmp_path).summary == []


def test_gaps_within_and_between_batches_are_in_the_summary(tmp_path: Path) -> None:
    data = batch_bytes([Record(5, 0, None, b"v"), Record(8, 0, None, b"v")]) + batch_bytes(
        [Record(20, 0, None, b"v")]
    )

    found = dump_bytes(data, tmp_path)

    assert found.summary == [
        f"Non-consecutive offsets in {tmp_path / LOG_NAME}",
        "  5 is followed by 8",
        "  8 is followed by 20",
    ]
    assert not found.has_failed


def test_batches_alone_have_no_gaps(tmp_path: Path) -> None:
    data = ONE + batch_bytes([Record(20, 0, None, b"v")])

    assert dump_bytes(data, tmp_path, Query()).summary == []


# Files that change


MANY = b"".join(batch_bytes([Record(n, 0, None, bytes(500))]) for n in range(9_000))  # 5 MB
SIZE = len(MANY) // 9_000


@pytest.mark.parametrize("left", [0, SIZE * 4_000 + 30, SIZE * 6_000, SIZE * 8_000 + 7])
def test_file_that_shrinks_ends_earlier(left: int, tmp_path: Path) -> None:
    """All remaining batches are read, and nothing else changes."""
    path = tmp_path / LOG_NAME
    path.write_bytes(MANY)
    report = Report()
    chunks = text_chunks(str(path), Query(), report)
    text = next(chunks) + next(chunks) + next(chunks)

    os.truncate(path, left)
    text += b"".join(chunks)

    offsets = [int(line.split()[1]) for line in text.splitlines() if line.startswith(b"base")]
    assert offsets == list(range(len(offsets)))
    assert len(offsets) >= left // SIZE
    assert not report.has_failed


def test_file_that_grows_is_read_to_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(MANY)
    report = Report()
    chunks = text_chunks(str(path), Query(), report)
    text = next(chunks) + next(chunks) + next(chunks)

    with path.open("ab") as more:
        more.write(TWO)
    text += b"".join(chunks)

    assert text.count(b"baseOffset: ") == 9_000
    assert b"invalid bytes" not in text
    assert not report.has_failed


def test_text_comes_in_chunks(tmp_path: Path) -> None:
    """Memory does not grow with the file."""
    path = tmp_path / LOG_NAME
    path.write_bytes(MANY)

    sizes = [len(chunk) for chunk in text_chunks(str(path), Query(), Report())]

    assert len(sizes) > 3
    assert max(sizes) < 4 << 20


def test_nothing_is_written_next_to_what_is_read(tmp_path: Path) -> None:
    """Kafka's tool creates missing indexes and trims others."""
    path = tmp_path / LOG_NAME
    path.write_bytes(ONE)
    index = tmp_path / LOG_NAME.replace(".log", ".index")
    index.write_bytes(bytes(11))
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    for suffix in (".log", ".index", ".timeindex", ".txnindex", ".snapshot"):
        for query in (Query(), Query(index_sanity_check=True), Query(verify_index_only=True)):
            dump(path.with_suffix(suffix), query)

    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_real_files_without_damage_have_nothing_to_report() -> None:
    for path in sorted((IN / "user" / "none").glob("*.log")):
        found = dump(path, QUERIES["text"])

        assert (found.notes, found.has_failed) == ([], False)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_values_stay_on_one_line_on_demand(engine: str, tmp_path: Path) -> None:
    """Also long ones, which are written in pieces, and the path."""
    path = tmp_path / "a\nb-0" / LOG_NAME
    path.parent.mkdir()
    long = b"a\nb" * 120_000
    path.write_bytes(batch_bytes([Record(0, 0, b"k\n", long), Record(1, 0, None, b"\n\n")]))
    asked = Query(decoder="user", deep_iteration=True, is_one_line=True)

    with using(engine):
        text = b"".join(text_chunks(str(path), asked, Report())).decode()

    dumping, _, _, first, second = text.splitlines()
    assert dumping.endswith(f"/a\\nb-0/{LOG_NAME}")
    assert first.endswith(r" key: k\n payload: " + long.decode().replace("\n", r"\n"))
    assert second.endswith(r" payload: \n\n")
