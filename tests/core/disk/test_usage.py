"""What lies in log directories, by names and stat: of a real broker, with what Kafka leaves there."""

import os
import shutil
from pathlib import Path

import pytest

from kraftops.disk.totals import DiskUsage
from kraftops.disk.usage import Growth, SegmentFile, growth_of, read_usage, read_usages, told_usage
from kraftops.display.times import DAY_MS
from kraftops.errors import SourceError, UsageError
from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.placement import TopicPartition
from kraftops.server.loader.load_plan import FolderKind
from kraftops.server.log_directory import read_log_directory
from tests.helpers.logs.log_directories import REAL

ID = "0" * 32
HOUR = DAY_MS // 24


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """Return a copy of the directory of a broker that is stopped."""
    return Path(shutil.copytree(REAL / "stopped", tmp_path / "d"))


def write(path: Path, size: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return path


def test_every_file_is_counted_once(broker: Path) -> None:
    usage = read_usage(str(broker))

    files = [path for path in broker.rglob("*") if path.is_file()]
    assert usage.space.total == sum(path.stat().st_size for path in files)
    assert usage.space.allocated == sum(path.stat().st_blocks for path in files) * 512
    assert usage.space.segments == len(list(broker.rglob("*.log")))
    assert usage.broker == 1


def test_what_waits_for_its_deletion_is_of_its_topic(broker: Path) -> None:
    """A summary of logs said 4.8 KiB where 20 MB lay in a renamed segment."""
    write(broker / "plain-0" / f"{7:020}.log.deleted", 20_000_000)
    os.truncate(broker / "plain-0" / f"{0:020}.index", 10 << 20)  # sparse, as Kafka makes it

    usage = DiskUsage(read_usages([read_log_directory(str(broker))], 0))

    largest = usage.topics[0]
    assert largest.first.topic == "plain"
    assert largest.space.pending_deletion == 20_000_000
    assert (largest.space.index or 0) > 10 << 20
    assert largest.space.log < 10_000
    assert 20_000_000 < (largest.space.allocated or 0) < 25_000_000


def test_directories_that_a_broker_renamed_have_their_kind(broker: Path) -> None:
    write(broker / f"gone-0.{ID}-delete" / f"{0:020}.log", 1000)
    write(broker / f"odd-1.{ID}-stray" / f"{0:020}.log", 200)
    write(broker / f"plain-0.{ID}-future" / f"{0:020}.log", 30)

    usage = read_usage(str(broker))

    kinds = {replica.kind: replica for replica in usage.replicas}
    assert usage.space.pending_deletion == 1000
    assert usage.space.stray == 200
    assert kinds[FolderKind.FUTURE].space.log == 30
    assert kinds[FolderKind.DELETED].topic == "gone"


def test_what_is_not_a_partition_is_counted_too(broker: Path) -> None:
    write(broker / "remote-log-index-cache" / "0_x.index", 500)
    before = read_usage(str(broker)).rest.other or 0
    write(broker / "java_pid7.hprof", 4000)
    write(broker / "backup" / "deep" / "file", 50)

    rest = read_usage(str(broker)).rest

    assert rest.tier_cache == 500
    assert rest.other == before + 4050


def test_volume_has_room_and_what_is_elsewhere(broker: Path) -> None:
    (directory,) = read_usages([read_log_directory(str(broker))], 0)

    assert directory.volume.free
    assert directory.volume.size
    assert 0 < (directory.elsewhere or 0) < (directory.volume.size or 0)


def test_days_left_are_by_what_remains_after_retention(tmp_path: Path) -> None:
    hour = 3600
    for number in range(1, 49):
        segment = write(tmp_path / "t-0" / f"{number:020}.log", 1000)
        os.utime(segment, (number * hour, number * hour))
    created = write(tmp_path / "u-0" / "partition.metadata", 5)
    os.utime(created, (24 * hour, 24 * hour))
    segment = write(tmp_path / "u-0" / f"{0:020}.log", 24_000)
    os.utime(segment, (48 * hour, 48 * hour))

    usage = read_usage(str(tmp_path))

    by_topic = {replica.topic: replica.growth for replica in usage.replicas}
    assert by_topic["t"] == (24_000, 0)  # what comes is what goes
    assert by_topic["u"] == (24_000, 24_000)
    assert usage.net_growth == 24_000
    assert usage.days_left == pytest.approx((usage.volume.free or 0) / 24_000)


def test_brokers_tell_logs_and_room_alone() -> None:
    replicas = {TopicPartition("t", 3): DiskReplica(700)}
    told = told_usage(2, LogDirectory("/d", replicas, {}, total=9000, usable=2000))

    assert (told.space.log, told.space.index, told.space.pending_deletion) == (700, None, None)
    assert (*told.volume[:2], told.days_left) == (2000, 9000, None)
    assert told.elsewhere is None


def test_other_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read"):
        read_usage(str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="is not a log directory"):
        read_usage(str(tmp_path))


def segments(*times: int, first: int = 0) -> list[SegmentFile]:
    """Return segments of 2,400 bytes, written last at these hours."""
    return [SegmentFile(first + index, 2400, hour * HOUR) for index, hour in enumerate(times)]


@pytest.mark.parametrize(
    ("log", "created", "end", "growth"),
    [
        (segments(24), 0, 24, Growth(2400, 2400)),
        (segments(24), 12, 24, Growth(4800, 4800)),  # a log of half a day
        (segments(24, 48), 0, 48, Growth(2400, 2400)),
        (segments(24), 0, 72, Growth(0, 0)),  # nothing came lately
        (segments(24, 48), None, 48, Growth(2400, 2400)),  # the first one has no begin
        (segments(24, 48, 72, first=7), None, 72, Growth(2400, 0)),
        (segments(24, 48, 60, 72, first=7), None, 72, Growth(4800, 2400)),
        (segments(24, first=7), None, 24, None),
        (segments(24), None, 24, None),
        ([], 0, 24, None),
    ],
)
def test_last_day_counts(
    log: list[SegmentFile], created: int | None, end: int, growth: Growth | None
) -> None:
    begin = None if created is None else created * HOUR

    assert growth_of(log, begin, end * HOUR) == growth


def test_less_than_an_hour_is_no_rate() -> None:
    assert growth_of([SegmentFile(0, 2400, HOUR - 1)], 0, HOUR - 1) is None
    assert growth_of([SegmentFile(0, 2400, HOUR)], 0, HOUR) == Growth(57_600, 57_600)


def test_last_millisecond_of_a_segment_counts() -> None:
    assert growth_of([SegmentFile(0, 2400, 2)], 0, DAY_MS + 1) == Growth(1200, 1200)


def test_times_that_go_back_lose_no_bytes() -> None:
    log = [SegmentFile(0, 100, 20 * HOUR), SegmentFile(1, 100, 10 * HOUR)]

    assert growth_of(log, 0, 24 * HOUR) == Growth(200, 200)
