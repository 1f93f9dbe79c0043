"""Streams of a running quorum's metadata log, from fake controllers, without a JVM."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import ConfigError, SourceError, UsageError
from tests.helpers.spark.streams import Stream, table
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.quorums import Controllers, quorum

pytest.importorskip("pyspark")
pytest.importorskip("kafka")
pytestmark = pytest.mark.spark

TYPES = ["FEATURE_LEVEL_RECORD", "TOPIC_RECORD", "PARTITION_RECORD"]
BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["limits", "before-4.2"])


def stream_of(controllers: Controllers, *, is_old: bool = False, **options: str) -> Stream:
    addresses = ",".join(str(controllers.address(node)) for node in controllers.peers)
    return Stream(None, {"controllers": addresses, **options}, is_old=is_old)


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without what a controller does not tell: the file and the position."""
    return [{**row, "file": None, "position": None, "baseOffset": None} for row in rows]


@BOTH
def test_rows_are_those_of_the_same_log_in_files(tmp_path: Path, *, is_old: bool) -> None:
    log = MetadataLog()
    log.add(*topic(1))
    with quorum(log, 1, 2) as controllers:
        stream = stream_of(controllers, is_old=is_old)
        found = [len(stream.step()), len(stream.step())]
        log.elect(2)
        log.add(*topic(2))
        found += [len(stream.step()), len(stream.step())]

    assert found == [4, 0, 3, 0]
    assert plain(stream.rows) == plain(table(str(log.write(tmp_path))))


@BOTH
def test_only_records_below_the_high_watermark_come(*, is_old: bool) -> None:
    log = MetadataLog()
    with quorum(log) as controllers:
        stream = stream_of(controllers, is_old=is_old)
        stream.step()
        end = log.high_watermark
        log.add(*topic(1))
        log.high_watermark = end
        assert stream.offsets() == []
        log.high_watermark = end + 2
        assert stream.offsets() == [end, end + 1]


@BOTH
def test_a_log_without_its_beginning_begins_with_the_snapshot(
    tmp_path: Path, *, is_old: bool
) -> None:
    log = MetadataLog()
    log.add(*topic(1))
    log.snapshot(drop=True)
    log.add(*topic(2))
    with quorum(log) as controllers:
        stream = stream_of(controllers, is_old=is_old)
        rows = stream.step()
        assert stream.step() == []

    assert plain(rows) == plain(table(str(log.write(tmp_path))))


def test_a_snapshot_is_a_batch_of_its_own_where_there_is_a_limit() -> None:
    log = MetadataLog()
    log.add(*topic(1))
    log.snapshot(drop=True)
    for number in range(2, 5):
        log.add(*topic(number))
    with quorum(log) as controllers:
        stream = stream_of(controllers, maxBytesPerTrigger="1")
        found = [len(stream.step()) for _ in range(5)]

    assert found == [len(log.records) - 6 + 2, 2, 2, 2, 0]


@BOTH
def test_a_query_that_died_in_its_first_batch_begins_with_a_newer_snapshot(*, is_old: bool) -> None:
    log = MetadataLog()
    log.add(*topic(1))
    with quorum(log) as controllers:
        died = stream_of(controllers, is_old=is_old)
        died.step()
        end = died.offset
        assert end
        log.add(*topic(2))
        log.snapshot(drop=False)
        log.add(*topic(3))
        stream = stream_of(controllers, is_old=is_old)
        snapshot = [row["type"] for row in stream.begin_again(end)]
        offsets = stream.offsets()

    assert snapshot == ["SNAPSHOT_HEADER", *TYPES, *TYPES[1:], "SNAPSHOT_FOOTER"]
    assert offsets == [4, 5, 6, 7]
    assert [row["offset"] for row in died.rows] == [0, 1, 2, 3]


def test_available_now_reads_a_snapshot_that_is_newer_than_the_end() -> None:
    log = MetadataLog()
    log.add(*topic(1))
    with quorum(log) as controllers:
        stream = stream_of(controllers)
        reader = stream.reader()
        reader.prepareForTriggerAvailableNow()
        log.add(*topic(2))
        log.snapshot(drop=True)
        found = [len(stream.step(reader)), len(stream.step(reader))]
        reader.stop()
        log.add(*topic(3))

        assert found == [len(log.records) - 2 + 2, 0]
        assert stream.offsets() == [6, 7]


def test_a_query_from_latest_on_that_died_in_its_first_batch_reads_it_again() -> None:
    log = MetadataLog()
    with quorum(log) as controllers:
        died = stream_of(controllers, startingOffsets="latest")
        reader = died.reader()
        died.offset = reader.initialOffset()
        log.add(*topic(1))
        assert [row["offset"] for row in died.step(reader)] == [2, 3]
        reader.stop()
        log.add(*topic(2))
        stream = stream_of(controllers, startingOffsets="latest")

        assert stream.begin_again(died.offset or {}) == died.rows
        assert stream.offsets() == [4, 5]


@BOTH
def test_the_end_is_a_beginning_too(*, is_old: bool) -> None:
    log = MetadataLog()
    with quorum(log) as controllers:
        stream = stream_of(controllers, is_old=is_old, startingOffsets="latest")
        assert stream.offsets() == []
        log.add(*topic(1))
        assert stream.offsets() == [2, 3]


def _drop(log: MetadataLog) -> None:
    log.add(*topic(2))
    log.snapshot(drop=True)


def _diverge(log: MetadataLog) -> None:
    log.batches.pop()
    log.high_watermark = log.end
    log.elect(1)


@BOTH
@pytest.mark.parametrize(
    ("lose", "message", "after"),
    [
        pytest.param(_drop, "from offset 4 on is gone; the snapshot", 7, id="deleted"),
        pytest.param(_diverge, "another history since offset 3", 0, id="diverged"),
    ],
)
def test_a_loss_ends_the_stream_or_is_a_line(
    capfd: pytest.CaptureFixture[str], lose: Any, message: str, after: int, *, is_old: bool
) -> None:
    log = MetadataLog()
    log.add(*topic(1))
    with quorum(log) as controllers:
        stream = stream_of(controllers, is_old=is_old)
        lenient = stream_of(controllers, is_old=is_old, failOnDataLoss="false")
        stream.step()
        lenient.step()
        lose(log)

        with pytest.raises((SourceError, UsageError), match=message):
            stream.step()
        assert len(lenient.step()) == after

    assert message in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingOffsets": '{"__cluster_metadata": {"0": 5}}'}, "earliest or latest"),
        ({"topics": "orders"}, "topics cannot be chosen by name"),
        ({"kafka.security": "x"}, "no option kafka.security"),
        ({"kafka.security.protocol": "x"}, "options: Invalid value x for configuration"),
        ({"commandConfig": "missing.properties"}, "cannot read missing.properties"),
        ({"kafka.ssl.keystore.key": "-----BEGIN"}, "would be readable in plans"),
        ({"kafka.sasl.jaas.config": "Login required user=x;"}, "would be readable in plans"),
        ({"path": "logs"}, "controllers have the log of a quorum"),
    ],
)
def test_wrong_options_are_refused_by_name(options: dict[str, str], message: str) -> None:
    with pytest.raises((UsageError, ConfigError), match=message):
        Stream(None, {"controllers": "127.0.0.1:1", **options}).step()


def test_client_properties_need_controllers(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="commandConfig is for a running quorum"):
        Stream(str(tmp_path), {"decoder": "metadata", "commandConfig": "x"}).step()
