"""The levels of a timeline are those of images loaded at each offset."""

from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from kraftops.engine.metadata_state import PartitionCondition
from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.report.metadata_log import Span, is_metadata_log, read_metadata_log
from tests.helpers.logs.incidents import START, config, incident_bytes
from tests.helpers.logs.metadata_logs import records_batch, snapshot_bytes, write_log
from tests.helpers.logs.random_logs import LogBatch, MetadataRecord, new_record, uuid
from tests.helpers.logs.segments import batches_of, patched

_TOPICS = {"orders": uuid(1), "audit": uuid(2)}
_BROKERS = st.lists(st.integers(1, 3), unique=True)


def _names() -> st.SearchStrategy[str]:
    return st.sampled_from(sorted(_TOPICS))


def _topic(name: str) -> MetadataRecord:
    return new_record("TopicRecord", name=name, topicId=_TOPICS[name])


def _removal(name: str) -> MetadataRecord:
    return new_record("RemoveTopicRecord", topicId=_TOPICS[name])


def _partition(name: str, number: int, isr: list[int], leader: int) -> MetadataRecord:
    fields = {"topicId": _TOPICS[name], "partitionId": number, "replicas": [1, 2, 3]}
    return new_record("PartitionRecord", **fields, isr=isr, leader=leader)


def _change(name: str, number: int, isr: list[int] | None, leader: int) -> MetadataRecord:
    fields = {"topicId": _TOPICS[name], "partitionId": number}
    return new_record("PartitionChangeRecord", **fields, isr=isr, leader=leader)


_RECORDS = st.one_of(
    st.builds(_topic, _names()),
    st.builds(_removal, _names()),
    st.builds(_partition, _names(), st.integers(0, 2), _BROKERS, st.integers(-1, 3)),
    st.builds(_change, _names(), st.integers(0, 2), _BROKERS | st.none(), st.integers(-2, 3)),
    st.builds(
        config,
        st.sampled_from(["1", "2", "3", "x", None]),
        st.just(MIN_ISR),
        st.sampled_from(["orders", "audit", ""]),
        st.sampled_from([2, 4]),
    ),
)


def _under_min_isr(image: MetadataImage) -> int:
    """Count, in the plainest way, the partitions with fewer in sync than their topic asks for."""

    def value(kind: int, name: str, default: int) -> int:
        address = image.configs.get((kind, name), {}).get(MIN_ISR)
        text = None if address is None else image.read(address)[1]["value"]
        return int(text) if text and text.isdecimal() else default

    of_all = value(4, "", 1)
    return sum(
        len(state.isr) < max(min(value(2, topic.name, of_all), len(state.replicas)), 1)
        for topic_id, topic in image.topics.items()
        for _, state in image.fold.partitions(topic_id)
    )


def _levels(image: MetadataImage) -> dict[str, int]:
    return {
        "offline": image.fold.count_with(PartitionCondition.LEADERLESS),
        "underReplicated": image.fold.count_with(PartitionCondition.UNDER_REPLICATED),
        "underMinIsr": _under_min_isr(image),
    }


@settings(max_examples=40, deadline=None)
@given(
    records=st.lists(_RECORDS, min_size=1, max_size=20),
    waits=st.lists(st.integers(0, 3), min_size=20, max_size=20),
)
def test_levels_are_those_of_fresh_loads(records: list[MetadataRecord], waits: list[int]) -> None:
    first = [_topic("orders"), _partition("orders", 0, [1, 2], 1), _partition("orders", 1, [1], 1)]
    times = [START, START, START, *(START + wait for wait in accumulate(waits))]
    log = [
        LogBatch(offset, [record._replace(timestamp=time)])
        for offset, (record, time) in enumerate(zip([*first, *records], times, strict=False))
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{0:020}.log")
        path.write_bytes(b"".join(map(bytes, log)))
        timeline = read_metadata_log([str(path)], Span(None, None, START * 2)).timeline
        loads = [_levels(load(path, at_offset=batch.base_offset)) for batch in log]

    assert (timeline.step, timeline.start) == (1, START)
    for name in ("offline", "underReplicated", "underMinIsr"):
        values = timeline.series[name, None]
        expected: dict[int, int] = {}
        before = 0
        for time, levels in zip(times, loads, strict=False):
            # A bucket has the highest of the level at its begin and of all after it.
            expected[time] = max(expected.get(time, before), before, levels[name])
            before = levels[name]
        for time, level in expected.items():
            place = time - START
            assert (values[place] if place < len(values) else 0) == level, (name, place)
        assert timeline.levels[name] == loads[-1][name]


def test_a_metadata_log_is_known_by_its_records(tmp_path: Path) -> None:
    path = tmp_path / "any.log"
    path.write_bytes(incident_bytes())
    other = tmp_path / "other.log"
    other.write_bytes(bytes(LogBatch(0, [MetadataRecord("", 0, {}, b"text")])))

    assert len(list(batches_of(other.read_bytes()))) == 1
    assert is_metadata_log(str(path))
    assert not is_metadata_log(str(other))


def _damaged_log(folder: Path, damaged: int, snapshots: list[int]) -> Path:
    """Write a log of 60 batches of a topic each, with a damaged one, and snapshots."""
    batches = [
        records_batch(number, ("TopicRecord", {"topicId": uuid(number + 1), "name": f"t{number}"}))
        for number in range(60)
    ]
    whole = {(end, 1): snapshot_bytes(*batches[:end]) for end in snapshots}
    batches[damaged] = patched(batches[damaged], 30, b"\xff")
    return write_log(folder, {0: batches[:40], 40: batches[40:]}, whole)


def test_a_log_with_early_damage_is_told_from_a_later_snapshot_on(tmp_path: Path) -> None:
    folder = _damaged_log(tmp_path, 5, [5, 10, 20])

    found = read_metadata_log([str(folder)], Span(None, None, START))

    assert found.snapshot_end == 10
    assert len(found.image.topics) == 60
    (damage,) = found.image.log_findings
    assert damage.text == (
        "the checksum of a batch is wrong; the timeline starts again with"
        " 00000000000000000010-0000000001.checkpoint"
    )


def test_a_log_with_late_damage_is_told_up_to_it(tmp_path: Path) -> None:
    folder = _damaged_log(tmp_path, 50, [55])

    found = read_metadata_log([str(folder)], Span(None, None, START))

    assert found.snapshot_end is None
    assert len(found.image.topics) == 50
    (damage,) = found.image.log_findings
    assert damage.text == "the checksum of a batch is wrong; what follows is not read"


def test_damage_without_a_later_snapshot_ends_the_log(tmp_path: Path) -> None:
    folder = _damaged_log(tmp_path, 5, [5])

    found = read_metadata_log([str(folder)], Span(None, None, START))

    assert (found.snapshot_end, len(found.image.topics)) == (None, 5)
