"""A pre-scan finds the ranges that count and the topics, without a state; parts add up."""

import re
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.index_contract import RANGE_BITS
from kraftops.errors import KraftopsError
from kraftops.findings.finding import Finding
from kraftops.image.load import topic_ranges
from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import loaded, loaded_by
from kraftops.image.load.prescan import (
    CountedRange,
    Parts,
    PrescanLoader,
    PrescanReplay,
    ScannedPart,
    scan_part,
)
from kraftops.image.load.topic_ranges import range_of
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.changes import Provenance
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, cut_file
from tests.helpers.image.model import state_of
from tests.helpers.logs.metadata_logs import snapshot_bytes
from tests.helpers.logs.random_logs import (
    LogBatch,
    MetadataRecord,
    leader_change,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    uuid,
)
from tests.helpers.tools.corpus import SHELL

T = uuid(1)
TOPIC = new_record("TopicRecord", topicId=T, name="t")
BEGIN, END, ABORT = (new_record(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))


class Result(NamedTuple):
    """The result of a load, without its state."""

    findings: list[Finding]
    provenance: Provenance
    offset: int


def result_of(loader: Loader) -> Result:
    image = loader.image
    findings = [finding.moved(address=None) for finding in image.log_findings]
    return Result(findings, image.provenance, image.offset)


def prescanned(
    path: Path, limits: Limits | None = None, parts: Parts | None = None
) -> PrescanLoader:
    known = {} if parts is None else {str(path): parts}
    chosen = limits or Limits()

    def make(may_grow: bool) -> PrescanLoader:
        prescan = PrescanReplay(MetadataImage(), chosen)
        return PrescanLoader(prescan, may_grow=may_grow, parts=known)

    return loaded_by(make, [str(path)], chosen)


def parts_of(path: Path, size: int) -> list[tuple[ByteRange, ScannedPart | None]]:
    return [
        (part, scan_part(part, "kafka", is_snapshot=False)) for part in cut_file(str(path), size)
    ]


def replayed(ranges: list[CountedRange]) -> MetadataImage:
    """Return the image that ranges of a log make."""
    image = MetadataImage()
    replay = Replay(image)
    for source, path, end_offset, start, stop, after, records in ranges:
        while source not in image.store.sources():
            image.store.add_source(path, None, end_offset)
        with LogFile(path) as log:
            for batch in log.batches(start, stop):
                replay.limits = Limits(after)
                if records:
                    offset = batch.header.base_offset
                    replay.limits = Limits(
                        max(after, offset + records[0] - 1), offset + records[1] - 1
                    )
                list(replay.add(Batch(batch.position, batch.size, batch.data), source))
    return image


@given(st.integers(min_value=0, max_value=1 << 32))
def test_prescan_has_the_findings_of_a_load(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    log = random_log(random)
    path = tmp_path_factory.getbasetemp() / "prescan.log"
    path.write_bytes(log_bytes(log))
    parts = parts_of(path, random.choice((1, 300)))
    for limits in (Limits(), Limits(until=random.randrange(log[-1].end))):
        try:
            whole = loaded([str(path)], limits, "kafka")
        except KraftopsError as error:
            with pytest.raises(type(error), match=re.escape(error.message)):
                prescanned(path, limits)
            continue
        for known in (None, parts):
            found = prescanned(path, limits, known)
            assert result_of(found) == result_of(whole)
            image, expected = state_of(replayed(found.prescan.ranges)), state_of(whole.image)
            del image["provenance"], expected["provenance"]  # of a batch that is cut short
            assert image == expected


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_parts_of_real_logs_are_accepted(node: str) -> None:
    path = SHELL / "in" / node / "__cluster_metadata-0/00000000000000000000.log"
    parts = parts_of(path, 4096)
    assert len(parts) > 3

    found, alone = prescanned(path, parts=parts), prescanned(path)

    assert result_of(found) == result_of(alone)
    assert found.prescan.topics == alone.prescan.topics
    assert found.prescan.ranges == alone.prescan.ranges


def written(path: Path, *batches: list[MetadataRecord]) -> Path:
    path.write_bytes(log_bytes(log_batches(*batches)))
    return path


def test_topics_of_counted_records_are_collected(tmp_path: Path) -> None:
    other = new_record("TopicRecord", topicId=uuid(2), name="aborted")
    far = new_record("PartitionRecord", partitionId=5 << RANGE_BITS, topicId=T)
    near = new_record("PartitionRecord", partitionId=1, topicId=T)
    path = written(
        tmp_path / "log", [TOPIC, near, far], [BEGIN, other], [ABORT], [BEGIN, far, END, TOPIC]
    )

    topics = prescanned(path).prescan.topics

    assert topics.names == {T: "t"}
    assert topics.ranges == {T: 1 << range_of(5 << RANGE_BITS)}


def test_part_with_the_begin_of_a_transaction_only_has_no_result(tmp_path: Path) -> None:
    path = written(tmp_path / "log", [TOPIC, BEGIN], [TOPIC], [END])

    results = [result for _, result in parts_of(path, 1)]

    assert results[0] is None
    assert [bool(result) for result in results[1:]] == [True, True]
    assert result_of(prescanned(path, parts=parts_of(path, 1))) == result_of(prescanned(path))


def test_batch_that_counts_in_part_is_a_range_of_its_own(tmp_path: Path) -> None:
    no_op = new_record("NoOpRecord")
    path = written(tmp_path / "log", [no_op, no_op], [no_op, no_op, no_op])

    first, second = prescanned(path, Limits(until=3)).prescan.ranges

    assert (first.start, first.records) == (0, None)
    assert (second.start, second.records) == (first.stop, (0, 2))


def test_snapshot_is_one_part(tmp_path: Path) -> None:
    path = tmp_path / f"{5:020}-{1:010}.checkpoint"
    path.write_bytes(snapshot_bytes(bytes(LogBatch(1, [TOPIC])), end=2))
    (part,) = cut_file(str(path), 1 << 20)

    result = scan_part(part, "kafka", is_snapshot=True)

    assert result
    assert result.has_footer
    assert result.topics.unpacked().names == {T: "t"}
    found = prescanned(path, parts=[(part, result)])
    assert result_of(found) == result_of(prescanned(path))
    assert found.image.offset == 4


def test_control_batches_behind_a_snapshot_count(tmp_path: Path) -> None:
    (tmp_path / f"{0:020}.log").write_bytes(leader_change(0, 1) + bytes(LogBatch(1, [TOPIC])))
    (tmp_path / f"{2:020}-{1:010}.checkpoint").write_bytes(
        snapshot_bytes(bytes(LogBatch(1, [TOPIC])), end=2)
    )

    ranges = prescanned(tmp_path).prescan.ranges

    assert [(one.source, one.start, one.after) for one in ranges] == [(0, 0, -1), (1, 0, 1)]


def test_batch_with_many_transactions_is_indexed_once_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    real = topic_ranges.index_records

    def counted(*arguments: object) -> object:
        calls.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(topic_ranges, "index_records", counted)
    path = written(tmp_path / "log", [BEGIN, TOPIC, END] * 100)

    assert prescanned(path).prescan.topics.names == {T: "t"}
    assert len(calls) <= 101  # and once for all
