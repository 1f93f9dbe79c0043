"""The scan of a log has all that shards need: ranges, hashes of topics, findings, limits."""

from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.image.load.loading import limits_of
from kraftops.image.replay.limits import Limits
from kraftops.image.state.findings import DAMAGE
from kraftops.spark.find.scan_job import SearchedLog, TopicHashes, hash_of, scan_log
from tests.helpers.engine.fold_records import T, U, V, partition, topic
from tests.helpers.logs.metadata_logs import no_ops, records_batch, snapshot_bytes, write_log
from tests.helpers.logs.random_logs import MetadataRecord, log_batches, log_bytes


def searched(path: Path, limits: Limits | None = None, *, prior: bool = False) -> SearchedLog:
    return SearchedLog((str(path),), limits or Limits(), "kafka", with_prior_state=prior)


def written(folder: Path, *batches: list[MetadataRecord]) -> Path:
    path = folder / "00000000000000000000.log"
    path.write_bytes(log_bytes(log_batches(*batches)))
    return path


def test_whole_log_is_one_range_up_to_its_last_offset(tmp_path: Path) -> None:
    path = written(tmp_path, [topic(), partition()], [topic(U, "b")])

    scan = scan_log(searched(path))

    (counted,) = scan.counted
    assert (counted.path, counted.start, counted.stop) == (str(path), 0, path.stat().st_size)
    assert (scan.offset, scan.findings, scan.prior) == (2, [], None)


def test_topics_have_the_hash_of_their_name(tmp_path: Path) -> None:
    scan = scan_log(searched(written(tmp_path, [topic(), topic(U, "b")])))

    assert (scan.hashes.get(T), scan.hashes.get(U)) == (hash_of("a"), hash_of("b"))
    assert scan.hashes.get(V) is None
    assert scan.aliases == {}


def test_topics_that_had_the_same_id_share_a_hash(tmp_path: Path) -> None:
    scan = scan_log(searched(written(tmp_path, [topic(T, "a"), topic(T, "b"), topic(U, "b")])))

    assert scan.aliases == {"b": "a"}
    assert scan.hashes.get(T) == scan.hashes.get(U) == hash_of("a")


def test_records_after_the_limit_are_not_counted(tmp_path: Path) -> None:
    path = written(tmp_path, [topic(), topic(U, "b")], [topic(V, "c")])

    scan = scan_log(searched(path, limits_of(1, None)))

    assert scan.offset == 1
    assert max(counted.stop for counted in scan.counted) < path.stat().st_size
    assert scan.hashes.get(V) is None


def test_damage_is_a_finding_and_ends_the_ranges(tmp_path: Path) -> None:
    path = written(tmp_path, [topic()])
    size = path.stat().st_size
    damaged = bytearray(log_bytes(log_batches([topic(U, "b")], first=1)))
    damaged[-1] ^= 1
    path.write_bytes(path.read_bytes() + damaged)

    scan = scan_log(searched(path))

    assert [finding.code for finding in scan.findings] == [DAMAGE]
    assert [finding.place.address for finding in scan.findings] == [None]
    assert [counted.stop for counted in scan.counted] == [size]


def test_log_before_a_snapshot_is_the_prior_log(tmp_path: Path) -> None:
    topics = [records_batch(n, ("TopicRecord", dict(topic(i, x).data))) for n, i, x in _TOPICS]
    folder = write_log(
        tmp_path,
        {0: [*topics, no_ops(2, 1)]},
        {(2, 1): snapshot_bytes(*topics[1:], end=2)},
    )

    without = scan_log(searched(folder))
    scan = scan_log(searched(folder, prior=True))

    assert without.prior is None
    assert scan.prior is not None
    assert scan.all_counted[: len(scan.counted)] == scan.counted
    assert scan.prior.source > max(counted.source for counted in scan.counted)
    assert (without.hashes.get(T), scan.hashes.get(T)) == (None, hash_of("a"))


_TOPICS = [(0, T, "a"), (1, U, "b")]


def test_log_without_metadata_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"")

    with pytest.raises(SourceError):
        scan_log(searched(path))


def test_first_and_last_ids_are_found() -> None:
    ids = [number.to_bytes(16) for number in range(1, 10, 2)]
    hashes = TopicHashes(b"".join(ids), b"".join(one[-1:].rjust(4, b"\0") for one in ids))

    assert [hashes.get(number.to_bytes(16)) for number in range(11)] == [
        None, 1, None, 3, None, 5, None, 7, None, 9, None,
    ]  # fmt: skip
