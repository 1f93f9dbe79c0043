"""Why segments stay, by the rules of UnifiedLog and of the log cleaner."""

import os
from pathlib import Path

import pytest

from kraftops.disk.retention import OpenTransaction, RetentionState, read_retention, reasons
from kraftops.disk.settings import topic_settings
from kraftops.disk.why import Broker, why_kept
from kraftops.errors import UsageError
from kraftops.image.verify.assignments import image_in
from kraftops.log.batch import Record
from kraftops.log.indexes import TimeEntry
from kraftops.log.producers import ProducerState
from kraftops.server.log_directory import read_log_directory
from kraftops.storage.config.server_config import load_config
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.random_logs import MetadataRecord, new_record
from tests.helpers.logs.written import batch_bytes, producers_bytes, time_index_bytes
from tests.helpers.nodes.assigned_partitions import D1, broker, topic
from tests.helpers.nodes.node_directories import PROPERTIES

DAY = 86_400_000
NOW = 100 * DAY
BROKER_RESOURCE, TOPIC_RESOURCE = 4, 2


def segment(folder: Path, base: int, day: float | None, size: int = 1000, *, tail: int = 0) -> None:
    """Write a segment whose largest timestamp is a day; without one, its time index is empty."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{base:020}.log"
    log.write_bytes(bytes(size))
    os.utime(log, (50 * DAY // 1000, 50 * DAY // 1000))
    entries = [] if day is None else [TimeEntry(1, base), TimeEntry(int(day * DAY), base + 1)]
    index = time_index_bytes(entries, base) + bytes(tail)
    (folder / f"{base:020}.timeindex").write_bytes(index)


def config(
    name: str, value: str, resource: str = "t", kind: int = TOPIC_RESOURCE
) -> MetadataRecord:
    return new_record(
        "ConfigRecord", resourceType=kind, resourceName=resource, name=name, value=value
    )


def state(folder: Path, *records: MetadataRecord, **keys: str) -> RetentionState:
    """Return the state of t-0 in the directory d1 of a broker with settings."""
    node = broker(folder, 1, {"d1": D1}, topic(), *records)
    loaded = load_config(str(node / PROPERTIES), [f"{key}={value}" for key, value in keys.items()])
    directory = read_log_directory(str(node / "d1"))
    settings = topic_settings("t", 1, image_in(directory.path), loaded)
    return read_retention(directory, "t", 0, settings, NOW)


def kinds(state: RetentionState, copied_to: int | None = None) -> list[str]:
    return [reason.kind for reason in reasons(state, copied_to)]


def test_oldest_segment_says_when_it_goes(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, 95)
    segment(tmp_path / "d1/t-0", 10, 97)

    partition = state(tmp_path)

    assert kinds(partition) == ["not-yet"]
    assert [fate.goes_at for fate in partition.segments] == [102 * DAY, 104 * DAY]


def test_timestamp_in_the_future_holds_up_all_later_segments(tmp_path: Path) -> None:
    for base, day in enumerate((80, 465, 81, 82)):
        segment(tmp_path / "d1/t-0", base, day)

    partition = state(tmp_path)

    future, due = reasons(partition)
    assert (future.kind, due.kind) == ("future-timestamp", "due")
    assert "segment 1 has a timestamp 365 d in the future" in future.text
    assert "2.9 KiB" in future.text
    assert [fate.goes_at for fate in partition.segments] == [87 * DAY, *[472 * DAY] * 3]
    assert "no broker runs on this directory" in due.text
    assert "rolled" not in due.text


def test_segment_without_timestamps_counts_from_its_last_write(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, None)

    assert state(tmp_path).segments[0].goes_at == 57 * DAY


def test_preallocated_index_is_read_before_its_zeros(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, 95, tail=1200)

    assert state(tmp_path).segments[0].largest_timestamp == 95 * DAY


def test_size_takes_whole_segments_only(tmp_path: Path) -> None:
    for base in range(3):
        segment(tmp_path / "d1/t-0", base, 99)

    kept = state(tmp_path, config("retention.bytes", "2500"), config("retention.ms", "-1"))
    assert kinds(kept) == ["below-limit"]

    cut = state(tmp_path, config("retention.bytes", "1500"), config("retention.ms", "-1"))
    assert [fate.goes_at for fate in cut.segments] == [NOW, None, None]


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"retention.ms": "-1"}, "no-limit"),
        ({"cleanup.policy": ""}, "no-policy"),
        ({"cleanup.policy": "compact"}, "never-compacted"),
        ({"retention.ms": str(1000 * DAY)}, "not-yet"),
    ],
)
def test_setting_of_the_topic_is_the_reason(
    tmp_path: Path, settings: dict[str, str], kind: str
) -> None:
    segment(tmp_path / "d1/t-0", 0, 95)

    assert kinds(state(tmp_path, *(config(*pair) for pair in settings.items())))[0] == kind


def test_topic_comes_before_broker_and_broker_before_file(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, 95)
    dynamic = config("log.retention.ms", "7000", "1", BROKER_RESOURCE)
    common = config("log.retention.ms", "9000", "", BROKER_RESOURCE)
    own = config("retention.ms", "5000")

    def in_force(*records: MetadataRecord, **keys: str) -> tuple[str, str]:
        settings = state(tmp_path, *records, **keys).settings
        return settings.text("retention.ms"), settings.source("retention.ms")

    hours = {"log.retention.hours": "2"}
    assert in_force(own, dynamic, common, **hours) == ("5000", "topic")
    assert in_force(dynamic, common, **hours) == ("7000", "broker")
    assert in_force(common, **hours) == ("9000", "brokers")
    assert in_force(**hours) == ("7200000", "configuration")
    assert in_force() == ("604800000", "default")


@pytest.mark.parametrize(
    ("first_day", "limits", "kinds_told"),
    [
        (98.9, {}, ["not-yet"]),
        (90, {}, ["not-yet", "active"]),
        (90, {"retention.ms": "-1", "retention.bytes": "9000"}, ["below-limit"]),
        (98.9, {"retention.ms": "-1", "retention.bytes": "100"}, ["below-limit", "active"]),
    ],
)
def test_active_segment_holds_only_what_retention_would_not(
    tmp_path: Path, first_day: float, limits: dict[str, str], kinds_told: list[str]
) -> None:
    segment(tmp_path / "d1/t-0", 0, 99)
    record = Record(0, int(first_day * DAY), None, b"v")
    (tmp_path / f"d1/t-0/{0:020}.log").write_bytes(batch_bytes([record]) + bytes(1000))

    told = reasons(state(tmp_path, *(config(*limit) for limit in limits.items())))

    assert [reason.kind for reason in told] == kinds_told
    if first_day > 98 and not limits:
        assert told[0].cure.startswith("set a smaller retention.ms")


def test_active_segment_that_is_due_is_rolled(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, 80)

    (due,) = reasons(state(tmp_path))

    assert due.kind == "due"
    assert "at the first retention check after a start" in due.text
    assert "the active segment is rolled first" in due.text


def test_empty_active_segment_never_goes(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, None, size=0)

    partition = state(tmp_path)

    assert kinds(partition) == ["empty"]
    assert partition.segments[0].goes_at is None


def test_high_watermark_below_the_first_segment_holds_it(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, 80)
    segment(tmp_path / "d1/t-0", 10, 81)
    (tmp_path / "d1/replication-offset-checkpoint").write_text("0\n1\nt 0 4\n")

    assert "high-watermark" in kinds(state(tmp_path))


def test_hanging_transaction_stops_the_cleaner(tmp_path: Path) -> None:
    for base in (0, 10, 20):
        segment(tmp_path / "d1/t-0", base, 80)
    producer = ProducerState(77, 0, 0, 12, 0, 99 * DAY, 0, 5)
    (tmp_path / "d1/t-0" / f"{20:020}.snapshot").write_bytes(producers_bytes([producer]))

    partition = state(tmp_path, config("cleanup.policy", "compact"))

    first = reasons(partition)[0]
    assert first.kind == "hanging-transaction"
    assert "producer 77" in first.text
    assert "offset 5" in first.text


@pytest.mark.parametrize(("clean", "kind"), [(20, "not-dirty-enough"), (10, "dirty")])
def test_cleaner_waits_for_its_ratio(tmp_path: Path, clean: int, kind: str) -> None:
    for base in (0, 10, 20, 30):
        segment(tmp_path / "d1/t-0", base, 80)
    (tmp_path / "d1/cleaner-offset-checkpoint").write_text(f"0\n1\nt 0 {clean}\n")

    assert kinds(state(tmp_path, config("cleanup.policy", "compact"))) == [kind]


def test_segments_that_are_not_in_the_tier_stay(tmp_path: Path) -> None:
    for base in (0, 10, 20):
        segment(tmp_path / "d1/t-0", base, 80)
    tiered = config("remote.storage.enable", "true"), config("local.retention.ms", "1000")

    partition = state(tmp_path, *tiered)

    assert kinds(partition, copied_to=9) == ["not-in-tier", "due"]
    assert partition.segments[0].goes_at == 80 * DAY + 1000


@pytest.mark.parametrize(
    ("limit", "going"),
    [("2001", []), ("2000", [NOW]), ("1001", [NOW]), ("0", [NOW, NOW, NOW]), ("-1", [])],
)
def test_size_at_its_edges(tmp_path: Path, limit: str, going: list[int]) -> None:
    """A segment goes if the limit is still reached without it; 0 is a limit, -1 is none."""
    for base in range(3):
        segment(tmp_path / "d1/t-0", base, 99)

    fates = state(tmp_path, config("retention.bytes", limit), config("retention.ms", "-1")).segments

    assert [fate.goes_at for fate in fates if fate.goes_at is not None] == going


def test_retention_of_0_ms_is_a_limit(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, 99)

    assert kinds(state(tmp_path, config("retention.ms", "0"))) == ["due"]


@pytest.mark.parametrize(("mark", "is_held"), [(9, True), (10, False)])
def test_high_watermark_at_the_end_of_the_first_segment_holds_nothing(
    tmp_path: Path, mark: int, is_held: bool
) -> None:
    segment(tmp_path / "d1/t-0", 0, 80)
    segment(tmp_path / "d1/t-0", 10, 81)
    (tmp_path / "d1/replication-offset-checkpoint").write_text(f"0\n1\nt 0 {mark}\n")

    assert ("high-watermark" in kinds(state(tmp_path))) is is_held


@pytest.mark.parametrize(("age", "hangs"), [(900_000, False), (900_001, True)])
def test_transaction_hangs_after_the_longest_timeout(age: int, hangs: bool) -> None:
    assert OpenTransaction(7, 5, NOW - age).hangs(NOW) is hangs


def test_timestamp_of_now_is_not_in_the_future(tmp_path: Path) -> None:
    segment(tmp_path / "d1/t-0", 0, 100)

    assert kinds(state(tmp_path)) == ["not-yet"]


def test_cleaner_begins_above_its_ratio_not_at_it(tmp_path: Path) -> None:
    for base in (0, 10, 20, 30, 40):
        segment(tmp_path / "d1/t-0", base, 80)
    (tmp_path / "d1/cleaner-offset-checkpoint").write_text("0\n1\nt 0 20\n")

    (reason,) = reasons(state(tmp_path, config("cleanup.policy", "compact")))

    assert reason.kind == "not-dirty-enough"
    assert reason.text.startswith("50% of the bytes are not compacted yet")


@pytest.mark.parametrize(("day", "kinds_told"), [(90, ["dirty"]), (90.1, ["lag", "dirty"])])
def test_segment_younger_than_the_lag_is_not_compacted(
    tmp_path: Path, day: float, kinds_told: list[str]
) -> None:
    """A lag of ten days, at day 100; the second segment is the young one."""
    for base, of_day in ((0, 80), (10, day), (20, 99)):
        segment(tmp_path / "d1/t-0", base, of_day)
    (tmp_path / "d1/cleaner-offset-checkpoint").write_text("0\n1\nt 0 0\n")
    lag = config("min.compaction.lag.ms", str(10 * DAY))

    partition = state(tmp_path, config("cleanup.policy", "compact"), lag)

    assert kinds(partition) == kinds_told
    if day > 90:
        assert reasons(partition)[0].text.startswith("segments from 10 on are younger")


@pytest.mark.parametrize(("copied_to", "stays"), [(9, True), (20, False)])
def test_segment_is_in_the_tier_from_its_first_offset_on(
    tmp_path: Path, copied_to: int, stays: bool
) -> None:
    for base in (0, 10, 20):
        segment(tmp_path / "d1/t-0", base, 80)
    tiered = config("remote.storage.enable", "true"), config("local.retention.ms", "1000")

    assert ("not-in-tier" in kinds(state(tmp_path, *tiered), copied_to)) is stays


def test_all_is_read_of_a_real_directory() -> None:
    directory = read_log_directory(str(REAL / "stopped"))

    (why,) = why_kept([Broker(None, [directory])], "kept", 0, NOW)

    assert why.state.settings.policies == {"compact"}
    assert [fate.base_offset for fate in why.state.segments] == [0, 12]
    assert why.reasons[0].kind == "nothing-dirty"


def test_partition_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    directory = read_log_directory(str(REAL / "stopped"))

    with pytest.raises(UsageError, match="gone-7 is not in") as error:
        why_kept([Broker(None, [directory])], "gone", 7, NOW)
    assert error.value.exit_code == 4
    with pytest.raises(UsageError, match="up to its snapshots"):
        why_kept([Broker(None, [directory])], "__cluster_metadata", 0, NOW)
