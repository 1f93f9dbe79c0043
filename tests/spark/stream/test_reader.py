"""Streams of growing directories, asked as Spark asks them, without a JVM."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.log.heads import heads
from kraftops.log.log_file import LogFile
from kraftops.log.remote import filesystem
from tests.helpers.logs.log_directories import SNAPSHOT, snapshot
from tests.helpers.logs.segments import IN
from tests.helpers.spark.streams import GrowingLog, Stream, table

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["limits", "before-4.2"])


@pytest.fixture
def log(tmp_path: Path) -> GrowingLog:
    """A log of three batches: offsets 0 to 5."""
    found = GrowingLog(tmp_path / "orders-0")
    for count in (1, 2, 3):
        found.append(count)
    return found


@BOTH
def test_each_record_comes_once_over_rolls_and_starts(log: GrowingLog, *, is_old: bool) -> None:
    stream = Stream(str(log.folder), is_old=is_old)

    found = [stream.offsets(), stream.offsets()]
    log.append(2)
    found.append(stream.offsets())
    log.roll()
    found.append(stream.offsets())
    log.append(1)
    log.roll()
    log.append(1)
    found += [stream.offsets(), stream.offsets()]

    assert found == [[0, 1, 2, 3, 4, 5], [], [6, 7], [], [8, 9], []]
    assert stream.rows == table(str(log.folder))


@BOTH
def test_a_log_directory_may_have_no_log_yet_and_get_more(tmp_path: Path, *, is_old: bool) -> None:
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=c\nnode.id=1\n")
    stream = Stream(str(tmp_path), {"decoder": "user"}, is_old=is_old)

    assert stream.offsets() == []
    first = GrowingLog(tmp_path / "orders-0")
    first.append(2)
    assert stream.offsets() == [0, 1]
    second = GrowingLog(tmp_path / "orders-1", next=7)
    second.append(1)
    first.append(1)
    assert stream.offsets() == [2, 7]
    assert sorted(map(str, stream.rows)) == sorted(map(str, table(str(tmp_path), decoder="user")))


@BOTH
def test_a_path_that_holds_no_log_is_refused_as_by_the_table(
    tmp_path: Path, *, is_old: bool
) -> None:
    GrowingLog(tmp_path / "disk1/orders-0").append(2)

    for path in (tmp_path, tmp_path / "*" / "nothing-*"):
        with pytest.raises((UsageError, SourceError)) as refusal:
            Stream(str(path), {"decoder": "user"}, is_old=is_old).offsets()
        with pytest.raises(type(refusal.value), match=re.escape(str(refusal.value))):
            table(str(path), decoder="user")


def test_only_whole_batches_are_read(log: GrowingLog) -> None:
    stream = Stream(str(log.folder))
    stream.step()
    data = log.append(3)
    whole = log.path.read_bytes()

    for written in (1, 20, 60, len(data) - 1):
        log.path.write_bytes(whole[: len(whole) - len(data) + written])
        assert stream.offsets() == []
    log.path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert stream.offsets() == []
    log.path.write_bytes(whole)
    assert stream.offsets() == [6, 7, 8]


def test_damage_in_a_rolled_segment_is_a_row_as_in_the_table(log: GrowingLog) -> None:
    data = bytearray(log.path.read_bytes())
    data[-1] ^= 1
    log.path.write_bytes(bytes(data) + b"\x01" * 40)
    log.roll()
    log.append(1)

    stream = Stream(str(log.folder))
    stream.step()

    assert stream.rows == table(str(log.folder))
    assert [row["crcValid"] for row in stream.rows].count(False) == 3
    assert "damage" in [row["kind"] for row in stream.rows]


def test_a_stream_waits_at_damage_until_there_is_a_newer_segment(log: GrowingLog) -> None:
    log.path.write_bytes(log.path.read_bytes() + b"\x01" * 40)
    log.append(2)
    stream = Stream(str(log.folder))

    assert stream.offsets() == [0, 1, 2, 3, 4, 5]
    log.roll()
    log.append(1)
    stream.step()
    assert stream.rows == table(str(log.folder))
    assert [row["kind"] for row in stream.rows[-2:]] == ["damage", "user"]


def test_nothing_beyond_the_high_watermark_of_the_broker(log: GrowingLog) -> None:
    checkpoint = log.folder.parent / "replication-offset-checkpoint"
    stream = Stream(str(log.folder.parent))

    found = []
    for watermark in (0, 1, 4, 3, 6):
        checkpoint.write_text(f"0\n1\norders 0 {watermark}\n")
        found.append(stream.offsets())

    assert found == [[], [0], [1, 2], [], [3, 4, 5]]


def test_a_damaged_checkpoint_of_high_watermarks_ends_the_stream(log: GrowingLog) -> None:
    checkpoint = log.folder.parent / "replication-offset-checkpoint"
    checkpoint.write_text("0\n2\norders 0 3\n")

    with pytest.raises(SourceError, match="1 entries, where line 2 has 2"):
        Stream(str(log.folder.parent)).step()


def _log_directories(parent: Path, nodes: list[int]) -> list[Path]:
    found = [parent / f"disk-{number}" for number in range(len(nodes))]
    for directory, node in zip(found, nodes, strict=True):
        directory.mkdir()
        text = f"version=1\ncluster.id=c\nnode.id={node}\n"
        (directory / "meta.properties").write_text(text)
    return found


@BOTH
@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_a_partition_that_moves_to_another_log_directory_is_read_on(
    tmp_path: Path, back: bool, *, is_old: bool
) -> None:
    """The broker first names the new directory, then renames the old one."""
    one, other = _log_directories(tmp_path, [1, 1])[:: -1 if back else 1]
    log = GrowingLog(one / "orders-0")
    log.append(2)
    log.roll()
    log.append(1)
    paths = f'["{one}", "{other}"]'
    stream = Stream(None, {"paths": paths, "decoder": "user"}, is_old=is_old)
    assert stream.offsets() == [0, 1, 2]

    future = GrowingLog(other / f"orders-0.{'0' * 32}-future")
    for count in (2, 1):  # in one segment
        future.append(count)
    assert stream.offsets() == []
    moved = GrowingLog(future.folder.rename(other / "orders-0"), next=3)
    moved.path.unlink()
    moved.segment = 0
    moved.append(1)
    while_both = stream.offsets()
    log.folder.rename(one / f"orders-0.{'0' * 32}-delete")
    found = [*while_both, *stream.offsets()]
    moved.append(1)

    assert found == [3]
    assert stream.offsets() == [4]
    assert stream.offsets() == []


def test_a_moved_log_of_another_history_is_a_loss(tmp_path: Path) -> None:
    one, other = _log_directories(tmp_path, [1, 1])
    log = GrowingLog(one / "orders-0")
    log.append(3)
    stream = Stream(None, {"paths": f'["{one}", "{other}"]', "decoder": "user"})
    stream.step()

    shutil.rmtree(log.folder)
    GrowingLog(other / "orders-0").append(2)

    with pytest.raises(SourceError, match="it ends at offset 2, and was read up to 3"):
        stream.step()


def test_replicas_of_several_brokers_are_logs_of_their_own(tmp_path: Path) -> None:
    one, other = _log_directories(tmp_path, [1, 2])
    GrowingLog(one / "orders-0").append(2)
    stream = Stream(None, {"paths": f'["{one}", "{other}"]', "decoder": "user"})
    stream.step()

    GrowingLog(other / "orders-0").append(2)

    assert stream.offsets() == [0, 1]


def test_logs_without_change_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = [GrowingLog(tmp_path / f"orders-{number}") for number in range(3)]
    for log in logs:
        log.append(1)
    stream = Stream(str(tmp_path), {"decoder": "user"})
    reader = stream.reader()
    stream.step(reader)
    opened: list[str] = []

    def spy(file: Any, path: str) -> None:
        opened.append(path)
        init(file, path)

    init = LogFile.__init__
    monkeypatch.setattr(LogFile, "__init__", spy)
    assert stream.step(reader) == []
    assert opened == []
    logs[1].append(1)
    assert [row["offset"] for row in stream.step(reader)] == [1]
    assert {Path(path).parent.name for path in opened} == {"orders-1"}


def test_batches_have_about_the_bytes_of_the_limit_and_one_batch_at_least(tmp_path: Path) -> None:
    logs = [GrowingLog(tmp_path / f"orders-{number}") for number in range(2)]
    for log in logs:
        for _ in range(10):
            size = len(log.append(1))
        log.roll()
        log.append(1)
    stream = Stream(str(tmp_path), {"maxBytesPerTrigger": str(size * 6)})

    found = []
    while rows := stream.step():
        found.append(len(rows))

    assert sum(found) == 22
    assert max(found) <= 6
    assert len(found) == 4
    small = Stream(str(tmp_path), {"maxBytesPerTrigger": "1"})
    assert len(small.step()) == 2


def test_available_now_ends_where_the_logs_ended(log: GrowingLog) -> None:
    stream = Stream(str(log.folder), {"maxBytesPerTrigger": "100"})
    reader = stream.reader()
    reader.prepareForTriggerAvailableNow()
    log.append(4)
    GrowingLog(log.folder.parent / "orders-1").append(1)

    found = []
    while rows := stream.step(reader):
        found.append([row["offset"] for row in rows])

    assert found == [[0], [1, 2], [3, 4, 5]]


@BOTH
@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ("latest", []),
        ("earliest", [0, 1, 2, 3, 4, 5]),
        ('{"orders": {"0": 2}}', [2, 3, 4, 5]),
        ('{"orders": {"0": 3}}', [3, 4, 5]),
        ('{"orders": {"0": -2}}', [0, 1, 2, 3, 4, 5]),
        ('{"orders": {"0": -1}}', []),
        ('{"orders": {"0": 6}}', []),
    ],
)
def test_starting_offsets(
    log: GrowingLog, starts: str, expected: list[int], *, is_old: bool
) -> None:
    stream = Stream(str(log.folder), {"startingOffsets": starts}, is_old=is_old)

    assert stream.offsets() == expected
    log.append(1)
    assert stream.offsets() == [6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingOffsets": "middle"}, "startingOffsets is earliest, latest or"),
        ({"startingOffsets": '{"orders": {"0": "x"}}'}, "startingOffsets is earliest"),
        ({"startingOffsets": '{"orders": {"1": 0}}'}, "startingOffsets has orders-1"),
        ({"startingOffsets": "{}"}, "startingOffsets has no offset of"),
        ({"startingOffsets": '{"orders": {"0": 7}}'}, "it ends at offset 6, before 7"),
        ({"maxBytesPerTrigger": "0"}, "maxBytesPerTrigger is a number of bytes"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss is true or false"),
        ({"pushdown": "true"}, "pushdown has no effect in a stream"),
    ],
)
def test_wrong_options_are_refused_by_name(
    log: GrowingLog, options: dict[str, str], message: str
) -> None:
    with pytest.raises((UsageError, SourceError), match=message.replace("[", r"\[")):
        Stream(str(log.folder), options).step()


def test_options_of_streams_are_refused_by_the_table(log: GrowingLog) -> None:
    with pytest.raises(UsageError, match="maxBytesPerTrigger is an option"):
        table(str(log.folder), maxBytesPerTrigger="1m")


def test_a_limit_is_refused_by_releases_that_have_none(
    log: GrowingLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kraftops.spark.stream.options.HAS_LIMITS", False)

    with pytest.raises(UsageError, match=r"maxBytesPerTrigger needs pyspark 4\.2"):
        Stream(str(log.folder), {"maxBytesPerTrigger": "1m"}).step()


def _delete_unread(log: GrowingLog) -> None:
    log.append(1)
    log.roll()
    log.append(1)
    shutil.move(log.folder / f"{0:020}.log", log.folder / f"{0:020}.log.deleted")


def _delete_log(log: GrowingLog) -> None:
    shutil.rmtree(log.folder)


def _cut_off(log: GrowingLog) -> None:
    data = log.path.read_bytes()
    log.path.write_bytes(data[: -len(log.append(1)) - 1])
    log.path.write_bytes(data[: len(data) // 2])


def _write_anew(log: GrowingLog) -> None:
    """Cut off the last batch, and write one of the same size, offsets and position."""
    data = log.path.read_bytes()
    log.next, log.epoch = 3, 2
    new = log.append(3)
    log.path.write_bytes(data[: -len(new)] + new)
    log.append(1)


LOSSES: list[Any] = [
    pytest.param(_delete_unread, "the records from offset 6 to 6 are deleted", [7], id="deleted"),
    pytest.param(_delete_log, "the log is gone", [], id="gone"),
    pytest.param(_cut_off, "it ends at offset 1, and was read up to 6", [], id="cut"),
    pytest.param(_write_anew, "other records from 3 on", [3, 4, 5, 6], id="epoch"),
]


@BOTH
@pytest.mark.parametrize(("lose", "message", "after"), LOSSES)
def test_a_loss_ends_the_stream_or_is_a_line(
    log: GrowingLog,
    capfd: pytest.CaptureFixture[str],
    lose: Any,
    message: str,
    after: list[int],
    *,
    is_old: bool,
) -> None:
    GrowingLog(log.folder.parent / "other-0")
    stream = Stream(str(log.folder.parent), {"decoder": "user"}, is_old=is_old)
    lenient = Stream(stream.path, {"decoder": "user", "failOnDataLoss": "false"}, is_old=is_old)
    stream.step()
    lenient.step()

    lose(log)

    with pytest.raises(SourceError, match=message) as failure:
        stream.step()
    assert "failOnDataLoss" in str(failure.value.hint)
    assert lenient.offsets() == after
    assert message in capfd.readouterr().err
    assert lenient.offsets() == []


@BOTH
def test_segments_that_were_read_may_be_deleted(log: GrowingLog, *, is_old: bool) -> None:
    stream = Stream(str(log.folder), is_old=is_old)
    stream.step()
    log.roll()
    log.append(2)

    (log.folder / f"{0:020}.log").unlink()

    assert stream.offsets() == [6, 7]


def test_compaction_of_what_was_read_is_no_loss(log: GrowingLog) -> None:
    """The cleaner leaves out batches of old segments, so that positions are others."""
    stream = Stream(str(log.folder), {"maxBytesPerTrigger": "1"})
    assert stream.offsets() == [0]
    assert stream.offsets() == [1, 2]
    path = log.path
    log.roll()
    log.append(1)

    data = path.read_bytes()
    path.write_bytes(data[int.from_bytes(data[8:12]) + 12 :])

    assert stream.offsets() == [3, 4, 5]
    assert stream.offsets() == [6]


@BOTH
@pytest.mark.parametrize("watermark", [3, 6], ids=["amid a segment", "behind a segment"])
def test_compaction_of_the_last_batch_below_the_high_watermark_is_no_loss(
    log: GrowingLog, watermark: int, *, is_old: bool
) -> None:
    checkpoint = log.folder.parent / "replication-offset-checkpoint"
    checkpoint.write_text(f"0\n1\norders 0 {watermark}\n")
    stream = Stream(str(log.folder.parent), is_old=is_old)
    stream.step()
    path = log.path
    log.roll()
    log.append(1)

    with LogFile(str(path)) as file:
        data = file.read_at(0, file.size)
        found = [*heads(file, 0, file.size)]
    kept = [head for head in found if head.last_offset != watermark - 1]
    path.write_bytes(b"".join(data[head.position : head.end] for head in kept))

    assert stream.offsets() == []
    assert stream.offsets() == []
    checkpoint.write_text("0\n1\norders 0 7\n")
    assert stream.offsets() == [*range(watermark, 7)]
    assert stream.offsets() == []


@BOTH
def test_a_high_watermark_that_goes_back_gives_no_record_twice(
    log: GrowingLog, *, is_old: bool
) -> None:
    checkpoint = log.folder.parent / "replication-offset-checkpoint"
    checkpoint.write_text("0\n1\norders 0 6\n")
    stream = Stream(str(log.folder.parent), is_old=is_old)
    stream.step()

    checkpoint.write_text("0\n1\norders 0 3\n")

    if is_old:  # whoever tells the end is not told where the query was
        with pytest.raises(UsageError, match="its end has gone back from offset 6 to 3"):
            stream.step()
    else:
        assert stream.offsets() == []
    checkpoint.write_text("0\n1\norders 0 6\n")
    assert stream.offsets() == []


def test_logs_of_metadata_begin_with_the_snapshot_as_the_table_does(tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "__cluster_metadata-0", next=2)
    log.append(3)
    log.roll()
    log.append(1)
    (log.folder / snapshot(4)).write_bytes(SNAPSHOT)
    for options in ({}, {"maxBytesPerTrigger": "1"}, {"fromStart": "true"}):
        stream = Stream(str(tmp_path), options)
        while stream.step():
            pass

        assert stream.rows == table(
            str(tmp_path), **{k: v for k, v in options.items() if k[0] == "f"}
        )
        assert len(stream.rows) == (4 if "fromStart" in options else 7)


@pytest.fixture
def metadata(tmp_path: Path) -> GrowingLog:
    """A log of metadata from offset 2 to 4."""
    found = GrowingLog(tmp_path / "__cluster_metadata-0", next=2)
    found.append(3)
    return found


def snapshot_rows(log: GrowingLog) -> list[tuple[str, str]]:
    """Return the file and the types of the rows of the snapshot at the end of a log."""
    path = log.folder / snapshot(log.next)
    return [(str(path), row["type"]) for row in table(str(path))]


@BOTH
def test_a_query_that_died_in_its_first_batch_reads_it_again_beside_a_newer_snapshot(
    metadata: GrowingLog, *, is_old: bool
) -> None:
    died = Stream(str(metadata.folder), is_old=is_old)
    died.step()
    metadata.append(2)
    (metadata.folder / snapshot(7)).write_bytes(SNAPSHOT)
    stream = Stream(str(metadata.folder), is_old=is_old)

    assert stream.begin_again(died.offset or {}) == died.rows
    assert stream.offsets() == [5, 6]
    metadata.append(1)
    assert stream.offsets() == [7]


@BOTH
def test_a_snapshot_that_is_gone_after_the_first_batch_died_gives_way_to_the_newer_one(
    metadata: GrowingLog, *, is_old: bool
) -> None:
    (metadata.folder / snapshot(4)).write_bytes(SNAPSHOT)
    died = Stream(str(metadata.folder), is_old=is_old)
    died.step()
    metadata.append(2)
    (metadata.folder / snapshot(4)).rename(metadata.folder / snapshot(7))
    stream = Stream(str(metadata.folder), is_old=is_old)

    rows = stream.begin_again(died.offset or {})

    assert [(row["file"], row["type"]) for row in rows] == snapshot_rows(metadata)
    assert stream.offsets() == [5, 6]


@BOTH
@pytest.mark.parametrize("starts", ["earliest", "latest"])
def test_a_query_that_died_in_its_first_batch_goes_on_beside_new_partitions(
    log: GrowingLog, starts: str, *, is_old: bool
) -> None:
    options = {"decoder": "user", "startingOffsets": starts}
    died = Stream(str(log.folder.parent), options, is_old=is_old)
    reader = died.reader()
    if starts == "latest" and not is_old:
        died.offset = json.loads(json.dumps(reader.initialOffset()))
    log.append(1)
    first_rows = died.step(reader)
    GrowingLog(log.folder.parent / "orders-1").append(2)
    log.append(1)
    stream = Stream(str(log.folder.parent), options, is_old=is_old)

    assert stream.begin_again(died.offset or {}) == first_rows
    assert sorted(stream.offsets()) == [0, 1, 7]
    assert stream.offsets() == []


@pytest.mark.parametrize("options", [{}, {"maxBytesPerTrigger": "1"}], ids=["all", "limit"])
def test_available_now_reads_a_snapshot_that_is_newer_than_the_end(
    metadata: GrowingLog, options: dict[str, str]
) -> None:
    stream = Stream(str(metadata.folder), options)
    reader = stream.reader()
    reader.prepareForTriggerAvailableNow()
    metadata.append(2)
    (metadata.folder / snapshot(7)).write_bytes(SNAPSHOT)

    rows = stream.step(reader)
    assert [(row["file"], row["type"]) for row in rows] == snapshot_rows(metadata)
    assert stream.step(reader) == []
    metadata.append(1)
    assert stream.offsets()[-1:] == [7]


def test_limited_batches_go_on_behind_a_snapshot_amid_a_segment() -> None:
    """Its offset is 391, and the segment begins at 0."""
    stream = Stream(str(IN / "meta"), {"maxBytesPerTrigger": "4096"})
    while stream.step():
        pass

    assert stream.rows == table(str(IN / "meta"))


def test_filters_and_columns_are_those_of_the_table(log: GrowingLog) -> None:
    options = {"where": "offset >= 2", "columns": "offset,value", "mode": "FAILFAST"}
    stream = Stream(str(log.folder), options)
    stream.step()

    assert stream.rows == table(str(log.folder), **options)
    assert [*stream.rows[0]] == ["offset", "value"]


def test_a_log_of_another_kind_may_come(tmp_path: Path) -> None:
    GrowingLog(tmp_path / "__consumer_offsets-0").append(1)
    stream = Stream(str(tmp_path))
    reader = stream.reader()
    stream.step(reader)
    GrowingLog(tmp_path / "orders-0").append(1)

    (row,) = stream.step(reader)

    assert (row["value"], row["valueJson"]) == (b"v0", None)


def test_a_file_that_nobody_can_read_is_no_row(log: GrowingLog) -> None:
    stream = Stream(str(log.folder))
    reader = stream.reader()
    start = reader.initialOffset()
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    (partition,) = reader.partitions(start, end)
    log.path.unlink()

    with pytest.raises(SourceError, match="No such file"):
        list(reader.read(partition))


@pytest.mark.parametrize("options", [{}, {"maxBytesPerTrigger": "1"}], ids=["all", "limit"])
def test_objects_of_a_bucket_are_followed(
    store: str, tmp_path: Path, options: dict[str, str], request: pytest.FixtureRequest
) -> None:
    """Segments are put there when they are closed, the last one again and again."""
    log = GrowingLog(tmp_path / "orders-0")
    prefix = f"{store}/stream-{request.node.callspec.id}"
    stream = Stream(prefix, {"decoder": "user", **options})

    def put() -> list[int]:
        system, path = filesystem(f"{prefix}/orders-0")
        for file in log.folder.iterdir():
            with system.open_output_stream(f"{path}/{file.name}") as out:
                out.write(file.read_bytes())
        found = []
        while rows := stream.step():
            found += [row["offset"] for row in rows]
        return found

    log.append(2)
    found = [put()]
    log.append(3)
    found += [put(), put()]
    log.append(1)
    log.roll()
    log.append(1)
    found.append(put())

    assert found == [[0, 1], [2, 3, 4], [], [5, 6]]
    assert stream.rows == table(prefix, decoder="user")
    system, path = filesystem(prefix)
    for watermark, expected in ((7, []), (8, [7])):
        with system.open_output_stream(f"{path}/replication-offset-checkpoint") as out:
            out.write(b"0\n1\norders 0 %d\n" % watermark)
        log.append(1)
        assert put() == expected


def test_a_log_that_has_grown_is_opened_once_on_the_driver(
    log: GrowingLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 10,000 logs that have all grown, each open takes a fifth of a second."""
    stream = Stream(str(log.folder))
    reader = stream.reader()
    stream.step(reader)
    appended = log.append(2)
    opened: list[str] = []
    open_file = LogFile.__init__
    monkeypatch.setattr(
        LogFile, "__init__", lambda file, path: opened.append(path) or open_file(file, path)
    )

    end = reader.latestOffset(stream.offset, reader.getDefaultReadLimit())
    (partition,) = reader.partitions(stream.offset, end)

    assert opened == [str(log.path)]
    (labelled,) = partition.split.ranges
    assert labelled.range.stop == log.path.stat().st_size
    assert labelled.range.stop - labelled.range.start == len(appended)
