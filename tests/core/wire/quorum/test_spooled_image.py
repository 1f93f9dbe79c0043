"""Batches of a live log are kept in spools, and applied to an image."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.errors import SourceError, UsageError, WireError
from kraftops.image.load.loading import limits_of
from kraftops.image.replay.limits import Limits
from kraftops.image.state.findings import DAMAGE
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.streams import open_log
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.leader_record import voters_of
from kraftops.wire.quorum.live_log import CaughtUp, Event, LiveBatch, Started
from kraftops.wire.quorum.spooled_image import Spool, SpooledImage
from tests.helpers.logs.metadata_logs import feature, records_batch, snapshot_bytes
from tests.helpers.logs.random_logs import leader_change
from tests.helpers.logs.segments import batches_of
from tests.helpers.wire.metadata_quorums import topic
from tests.helpers.wire.quorums import batch

HERE, THERE = Address("one", 9093), Address("two", 9093)
SNAPSHOT = SnapshotId(5, 1)
LEVEL = feature("metadata.version", 20)


def of_log(*data: bytes) -> list[Event]:
    return [
        LiveBatch(HERE, Batch(-1, each.size, each.data), is_of_snapshot=False)
        for each in batches_of(b"".join(data))
    ]


def of_snapshot() -> list[Event]:
    batches = batches_of(snapshot_bytes(records_batch(0, LEVEL), records_batch(1, *topic(1))))
    return [LiveBatch(HERE, each, is_of_snapshot=True) for each in batches]


def caught_up(offset: int) -> CaughtUp:
    return CaughtUp(THERE, offset, 2, 3)


def new(snapshot: SnapshotId | None = None, limits: Limits | None = None) -> SpooledImage:
    return SpooledImage(Started(HERE, snapshot), limits or Limits(), MetadataImage(), None)


def read(image: SpooledImage, *events: Event) -> Started | CaughtUp | None:
    def live() -> Iterator[Event]:
        yield from events
        raise AssertionError("nothing is asked for after the end")

    return image.read(live())


def names(image: SpooledImage) -> list[str]:
    return list(image.image.fold.topic_names())


def test_log_is_applied_and_kept() -> None:
    log = of_log(leader_change(0, 1), records_batch(1, LEVEL), records_batch(2, *topic(1)))
    image = new()

    last = read(image, *log, caught_up(4))

    assert last == caught_up(4)
    assert names(image) == ["t1"]
    assert image.names == (f"one:9093/{0:020}.log",)
    with open_log(image.names[0]) as kept:
        assert [each.header.base_offset for each in kept.batches()] == [0, 1, 2]


def test_snapshot_comes_before_the_log() -> None:
    image = new(SNAPSHOT)

    read(image, *of_snapshot(), *of_log(records_batch(5, *topic(2))), caught_up(7))

    assert names(image) == ["t1", "t2"]
    assert image.names == (f"one:9093/{SNAPSHOT}.checkpoint", f"one:9093/{5:020}.log")


def test_later_batches_are_applied_to_the_same_image() -> None:
    image = new()
    read(image, *of_log(leader_change(0, 1), records_batch(1, LEVEL)), caught_up(2))
    before = image.image

    for event in of_log(records_batch(2, *topic(1))):
        assert isinstance(event, LiveBatch)
        image.add(event)
    assert names(image) == []
    image.apply()

    assert names(image) == ["t1"]
    assert image.image is before


def test_reading_ends_when_the_log_begins_anew() -> None:
    again = Started(HERE, SNAPSHOT)

    assert read(new(), *of_log(leader_change(0, 1), records_batch(1, LEVEL)), again) == again


def test_reading_ends_at_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraftops.wire.quorum.spooled_image._BLOCK_BYTES", 1)
    image = new(limits=limits_of(1, None))
    log = of_log(leader_change(0, 1), records_batch(1, LEVEL), records_batch(2, *topic(1)))

    assert read(image, *log) is None
    assert names(image) == []


def test_nothing_is_applied_after_damage() -> None:
    damaged = bytearray(records_batch(2, *topic(1)))
    damaged[-1] ^= 1
    image = new()

    log = of_log(leader_change(0, 1), records_batch(1, LEVEL), bytes(damaged))
    read(image, *log, *of_log(records_batch(4, *topic(2))), caught_up(6))

    assert DAMAGE in {finding.code for finding in image.image.log_findings}
    for event in of_log(records_batch(6, *topic(3))):
        assert isinstance(event, LiveBatch)
        image.add(event)
    image.apply()
    assert names(image) == []


@pytest.mark.parametrize(
    "limits",
    [pytest.param(limits_of(3, None), id="offset"), pytest.param(limits_of(None, -1), id="time")],
)
def test_snapshot_newer_than_the_limits_is_refused(limits: Limits) -> None:
    with pytest.raises(UsageError, match="is newer than that") as refused:
        read(new(SNAPSHOT, limits), *of_snapshot(), caught_up(5))

    assert "at offset 4" in (refused.value.hint or "")


def test_log_without_records_is_an_error() -> None:
    with pytest.raises(WireError, match="one:9093: there are no metadata records in its log"):
        read(new(), caught_up(0))


class TestLeader:
    def test_image_from_a_snapshot_gets_the_leader(self) -> None:
        image = new(SNAPSHOT)
        read(image, *of_snapshot(), caught_up(5))

        image.finish(caught_up(5), lambda: [2, 1])

        assert image.image.quorum.leader is not None
        assert image.image.record(image.image.quorum.leader).epoch == 3
        assert voters_of(image.image) == [1, 2]
        assert (image.endpoint, image.offset) == (THERE, 5)

    def test_leader_of_the_log_stays(self) -> None:
        image = new(SNAPSHOT)
        read(image, *of_snapshot(), *of_log(leader_change(5, 1, epoch=1)), caught_up(6))

        image.finish(caught_up(6), lambda: pytest.fail("nobody asks for the voters"))

        assert image.image.quorum.leader is not None
        assert image.image.read_control(image.image.quorum.leader)["leaderId"] == 1


def made(base: int) -> Batch:
    data = batch(base)
    return Batch(-1, len(data), data)


def offsets(spool: Spool) -> list[int]:
    with open_log(spool.name) as log:
        return [each.header.base_offset for each in log.batches()]


def test_batches_are_read_at_their_positions() -> None:
    spool = Spool("one:1", "x.log")
    added = [spool.add(made(offset)) for offset in range(3)]

    assert [each.position for each in added] == [0, added[0].size, 2 * added[0].size]
    assert spool.size == 3 * added[0].size
    assert str(spool.name) == "one:1/x.log"
    assert offsets(spool) == offsets(spool) == [0, 1, 2]


def test_growing_spool_is_read_to_its_end() -> None:
    spool = Spool("one:1", "x.log")
    coming = [made(offset) for offset in range(5)]

    def add_next() -> Batch | None:
        return spool.add(coming.pop(0)) if coming else None

    with spool.growing(add_next):
        assert offsets(spool) == [0, 1, 2, 3, 4]
    coming.append(made(5))
    assert offsets(spool) == [0, 1, 2, 3, 4]


def test_full_disk_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool("one:1", "x.log")

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", fail)
    with pytest.raises(SourceError, match="cannot keep what one:1 sends: No space") as failed:
        spool.add(made(0))

    assert failed.value.hint == "TMPDIR names a directory with more room"


def test_no_directory_of_temporary_files_is_an_error_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose root is read-only."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "absent")])

    with pytest.raises(SourceError, match="no directory of temporary files can be") as failed:
        Spool("one:1", "x.log")

    assert failed.value.hint == "TMPDIR names one"
