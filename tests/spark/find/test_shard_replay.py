"""The replay of a shard makes its image, and findings in the order of the whole log."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kraftops.image.replay.limits import Limits
from kraftops.log.streams import open_log
from kraftops.spark.find.partitioner import FIRST_SHARD, Partitioner, Topics
from kraftops.spark.find.scan_job import LogScan, SearchedLog, scan_log
from kraftops.spark.find.shard_replay import RecordFinding, findings_image, shard_image
from kraftops.spark.find.sharded_batch import ShardedBatch, sharded
from tests.helpers.engine.fold_records import ABORT, BEGIN, END, U, V, partition, topic
from tests.helpers.logs.random_logs import MetadataRecord, log_batches, log_bytes, unreadable

COUNT = 40
UNKNOWN = partition(0, V)
"""A partition of a topic that there is not."""


class Shards:
    """A log cut into shards."""

    def __init__(self, folder: Path, *batches: Sequence[MetadataRecord]) -> None:
        path = folder / "00000000000000000000.log"
        path.write_bytes(log_bytes(log_batches(*batches)))
        self.path = str(path)
        self.scan: LogScan = scan_log(SearchedLog((self.path,), Limits(), "kafka"))
        topics = Topics(self.scan.hashes, self.scan.aliases, self.scan.ranges)
        self.partitioner = Partitioner(COUNT, topics, "kafka")
        self._batches: dict[int, list[ShardedBatch]] = {}
        for counted in self.scan.all_counted:
            with open_log(counted.path) as log:
                for batch in log.batches(counted.start, counted.stop):
                    for shard, found in sharded(batch, counted, self.partitioner):
                        self._batches.setdefault(shard, []).append(found)

    def of(self, record: MetadataRecord) -> int:
        return self.partitioner.of_record(None, record.value)[0]

    def topics(self, shard: int) -> list[str]:
        image, _ = shard_image(self._batches.get(shard, []), shard, self.partitioner, self.scan)
        return list(image.fold.topic_names())

    def findings(self) -> list[RecordFinding]:
        """Return the findings of all shards in their order."""
        return sorted(
            finding
            for shard, batches in self._batches.items()
            for finding in shard_image(batches, shard, self.partitioner, self.scan)[1]
        )


def test_shard_has_its_own_topics(tmp_path: Path) -> None:
    shards = Shards(tmp_path, [topic(), topic(U, "b"), partition()])
    first, second = shards.of(topic()), shards.of(topic(U, "b"))
    assert first != second

    assert shards.topics(first) == ["a"]
    assert shards.topics(second) == ["b"]


def test_image_knows_the_end_of_the_whole_log(tmp_path: Path) -> None:
    shards = Shards(tmp_path, [topic()], [topic(U, "b")])

    image, _ = shard_image([], FIRST_SHARD, shards.partitioner, shards.scan)

    assert image.provenance == shards.scan.provenance
    assert image.provenance.offset == 1


def test_findings_have_the_numbers_of_the_original_batch(tmp_path: Path) -> None:
    shards = Shards(tmp_path, [topic(), UNKNOWN], [topic(U, "b"), topic(), UNKNOWN])

    found = shards.findings()

    assert [one.order[3] for one in found] == [1, 2]
    assert [one.order[2] for one in found] == [one.position for one in found]
    assert {(one.path, one.end_offset) for one in found} == {(shards.path, None)}
    assert {one.reason for one in found} == {"there is no topic with this id"}


def test_unreadable_record_is_reported_by_one_shard(tmp_path: Path) -> None:
    shards = Shards(tmp_path, [topic(), unreadable(b"\xff"), topic(U, "b")])

    assert [one.order[3] for one in shards.findings()] == [1]


def test_finding_in_a_transaction_comes_after_those_before_its_end(tmp_path: Path) -> None:
    """Its records are applied only then."""
    shards = Shards(tmp_path, [UNKNOWN], [BEGIN], [UNKNOWN], [END], [UNKNOWN])

    assert [one.order[0] for one in shards.findings()] == [0, 1, 1]


@pytest.mark.parametrize(("marker", "names"), [(END, ["a"]), (ABORT, [])])
def test_markers_count_in_every_shard(
    tmp_path: Path, marker: MetadataRecord, names: list[str]
) -> None:
    shards = Shards(tmp_path, [BEGIN], [topic()], [marker])

    assert shards.topics(shards.of(topic())) == names


def test_image_of_findings_has_their_records(tmp_path: Path) -> None:
    shards = Shards(tmp_path, [topic(), UNKNOWN], [UNKNOWN, topic(U, "b")])
    found = shards.findings()

    image = findings_image(found, "kafka")

    reasons = [reason for _, reason in image.record_findings]
    records = [image.record(address) for address, _ in image.record_findings]
    assert reasons == [one.reason for one in found]
    assert [record.offset for record in records] == [1, 2]
    assert [record.value for record in records] == [UNKNOWN.value] * 2
