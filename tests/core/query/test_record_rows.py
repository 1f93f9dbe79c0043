"""The rows of records have the fields of their batch, and None for what is not there."""

from pathlib import Path

import pytest

from kraftops.log.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, Record
from kraftops.log.streams import OpenName, open_log
from kraftops.query.record_rows import Origin, damage_row, origin_of, record_row, row_head
from kraftops.query.row import Row
from kraftops.records.meaning import Meaning
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes

MEANING = Meaning("user", value="v")
ORIGIN = Origin("f", "t", 3)
ID = "LWgrMmVrT0a__7a4SasuPA"
TIERED = f"00000000000000000011-{ID}.log"


def row(record: Record, *, position: int = 5, sequence: int = -1, **batch: int) -> Row:
    """Return the row of the only record of a batch with these fields."""
    (found,) = batches_of(batch_bytes([record], **batch))
    header = found.header
    return record_row(
        row_head(ORIGIN, position, header, is_valid=True), header, record, sequence, MEANING
    )


def test_row_has_offset_time_sizes_and_headers() -> None:
    found = row(Record(7, 1000, b"key", b"", ((b"h\xff", b"\xff"), (b"i", None))))

    assert (found.file, found.position, found.base_offset, found.offset) == ("f", 5, 7, 7)
    assert (found.timestamp, found.timestamp_type) == (1000, "CreateTime")
    assert (found.key_size, found.value_size) == (3, 0)
    assert found.headers == (("h\ufffd", b"\xff"), ("i", None))
    assert (found.kind, found.value, found.codec) == ("user", "v", "none")


def test_batch_with_the_append_time_gives_it_to_all_records() -> None:
    (batch,) = batches_of(
        batch_bytes(
            [Record(0, 1000, None, None), Record(1, 3000, None, None)], attributes=LOG_APPEND_TIME
        )
    )
    header = batch.header
    head = row_head(ORIGIN, 0, header, is_valid=True)

    found = record_row(head, header, Record(0, 1000, None, None), -1, MEANING)

    assert (found.timestamp, found.timestamp_type) == (header.max_timestamp, "LogAppendTime")
    assert header.max_timestamp == 3000


def test_negative_numbers_are_not_there() -> None:
    found = row(Record(0, 0, None, None), position=-1, leader_epoch=-1)

    absent = (
        found.position,
        found.leader_epoch,
        found.producer_id,
        found.producer_epoch,
        found.sequence,
        found.key_size,
        found.value_size,
    )
    assert absent == (None,) * 7


@pytest.mark.parametrize(
    ("attributes", "flags"),
    [
        (0, (False, False)),
        (TRANSACTIONAL, (True, False)),
        (CONTROL, (False, True)),
    ],
)
def test_flags_are_those_of_the_attributes(attributes: int, flags: tuple[bool, bool]) -> None:
    found = row(Record(0, 0, bytes(4), b""), attributes=attributes)

    assert (found.transactional, found.control) == flags


def test_unknown_codec_is_not_named() -> None:
    (batch,) = batches_of(batch_bytes([Record(0, 0, None, None)]))
    header = batch.header._replace(attributes=7)

    assert row_head(ORIGIN, 0, header, is_valid=True).after_sequence == (False, False, None)


def test_row_of_damage_has_no_position_outside_files() -> None:
    assert damage_row("f", -1, "bad") == Row("f", None, kind="damage", error="bad")


def test_log_that_is_no_file_is_named_by_its_place() -> None:
    name = OpenName("spool.log", "controller:9093", open_log, ("__cluster_metadata", 0))

    assert origin_of(name) == ("controller:9093", "__cluster_metadata", 0)


@pytest.mark.parametrize(
    ("path", "log"),
    [
        ("/d/orders-3/00000000000000000000.log", ("orders", 3)),
        ("/d/a-b-0/00000000000000000000.log.gz", ("a-b", 0)),
        ("/d/orders-3.0123456789abcdef0123456789abcdef-delete/0.log", ("orders", 3)),
        ("/d/orders-2147483648/0.log", (None, None)),
        ("/d/orders/0.log", (None, None)),
        ("-", (None, None)),
        ("s3://bucket/orders-3/0.log", ("orders", 3)),
        (f"/tiers/orders-3-{ID}/{TIERED}", ("orders", 3)),
        (f"/tiers/orders-{ID}/3/{TIERED}", ("orders", 3)),
        (f"s3://bucket/orders-{ID}/3/{TIERED}", ("orders", 3)),
        (f"/d/orders-3-{ID}/00000000000000000000.log", (None, None)),
    ],
)
def test_topic_and_partition_are_those_of_the_directory(
    path: str, log: tuple[str | None, int | None]
) -> None:
    assert origin_of(path) == (path, *log)


def test_file_of_this_directory_belongs_to_its_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "orders-3").mkdir()
    monkeypatch.chdir(tmp_path / "orders-3")

    assert origin_of("0.log") == ("0.log", "orders", 3)


def test_row_has_the_log_and_its_batch_the_validity() -> None:
    found = row(Record(7, 1000, None, None))

    assert (found.topic, found.partition, found.crc_valid) == ("t", 3, True)
