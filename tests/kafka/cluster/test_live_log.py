"""The metadata log over the wire equals the controllers' files."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.quorum.live_log import CaughtUp, LiveBatch, LiveLog, Started
from kraftops.wire.rpc.endpoints import Endpoints
from kraftops_cli.cluster.broker_states import KeptState, replica_counts
from tests.helpers.kafka.nodes.clusters import (
    Cluster,
    Shape,
    restarted,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.live_logs import (
    SNAPSHOTS,
    change_topics,
    in_files,
    metadata_folder,
    topic,
    until_end,
)
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.spark.streams import Stream, table

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


class Reader(threading.Thread):
    """A thread that follows a log and keeps its batches."""

    def __init__(self, addresses: str) -> None:
        super().__init__(daemon=True)
        self.batches: dict[int, bytes] = {}
        self.twice: list[int] = []
        self.begins: list[SnapshotId | None] = []
        self.offset = 0
        self.notes: list[str] = []
        self.failure: BaseException | None = None
        self._over = threading.Event()
        self._log = LiveLog(
            Endpoints(parse_bootstrap(addresses), Settings(timeout=30)), note=self.notes.append
        )

    def run(self) -> None:
        try:
            for event in self._log.read(follow=True):
                self._take(event)
                if self._over.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - the test tells
            self.failure = error
        finally:
            self._log.close()

    def _take(self, event: Started | LiveBatch | CaughtUp) -> None:
        match event:
            case Started(snapshot=snapshot):
                self.begins.append(snapshot)
                self.batches.clear()
            case LiveBatch(batch=batch, is_of_snapshot=False):
                base = batch.header.base_offset
                if base in self.batches:
                    self.twice.append(base)
                self.batches[base] = batch.data
            case CaughtUp(offset=offset):
                self.offset = offset

    def stop(self) -> None:
        self._over.set()
        self.join(60)
        assert not self.is_alive()
        assert self.failure is None


@contextmanager
def following(cluster: Cluster) -> Iterator[Reader]:
    reader = Reader(cluster.controllers)
    reader.start()
    assert until(lambda: reader.offset > 0 or reader.failure, 30)
    yield reader
    reader.stop()


def test_log_is_that_of_the_files(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape(is_combined=True)) as cluster:
        change_topics(cluster.brokers, "CreateTopics", [topic(f"t{n}") for n in range(50)])
        with LiveLog(Endpoints(parse_bootstrap(cluster.controllers), Settings())) as log:
            events = [*log.read()]
        last = events[-1]
        assert isinstance(last, CaughtUp)
        over_the_wire = {
            event.batch.header.base_offset: event.batch.data
            for event in events
            if isinstance(event, LiveBatch)
        }
        files = in_files(cluster.nodes[1])

    assert over_the_wire == {at: data for at, data in files.items() if at < last.offset}
    assert events[0] == Started(events[0].endpoint, None)


def test_newest_snapshot_is_read_byte_by_byte(jars: Path, tmp_path: Path) -> None:
    shape = Shape(is_combined=True, is_dynamic=True, settings=SNAPSHOTS)
    with running_cluster(jars, tmp_path, shape) as cluster:
        node = cluster.nodes[1]
        change_topics(cluster.brokers, "CreateTopics", [topic(f"t{n}") for n in range(300)])
        assert until(lambda: len([*metadata_folder(node).glob("*.checkpoint")]) > 1, 30)
        time.sleep(1)  # there is something after it then
        with LiveLog(Endpoints(parse_bootstrap(cluster.controllers), Settings())) as log:
            events = [*log.read()]
        image = LiveImage(Endpoints(parse_bootstrap(cluster.controllers), Settings())).image
        snapshot = events[0]
        assert isinstance(snapshot, Started)
        assert snapshot.snapshot
        assert snapshot.snapshot.epoch >= 1
        kept = b"".join(
            event.batch.data
            for event in events
            if isinstance(event, LiveBatch) and event.is_of_snapshot
        )
        file = metadata_folder(node) / f"{snapshot.snapshot}.checkpoint"

        assert kept == file.read_bytes()
        first = next(e for e in events if isinstance(e, LiveBatch) and not e.is_of_snapshot)
        assert first.batch.header.base_offset <= snapshot.snapshot.end_offset
        assert first.batch.header.last_offset >= snapshot.snapshot.end_offset
        assert replica_counts(image)[1].total() == 300
        assert [state["fenced"] for state in KeptState().states(image).values()] == [False]
        stream_has_the_records_of_the_files(cluster)


def stream_has_the_records_of_the_files(cluster: Cluster) -> None:
    """Follow the log as Spark does, and compare it with the files."""
    pytest.importorskip("pyspark")
    stream = Stream(None, {"controllers": cluster.controllers, "maxBytesPerTrigger": "10k"})
    while stream.step() or len(stream.rows) < 600:
        pass
    change_topics(cluster.brokers, "CreateTopics", [topic("late")])
    assert until(lambda: any("late" in str(row["valueJson"]) for row in stream.step()), 30)

    types = [row["type"] for row in stream.rows]
    begin = types.index("SNAPSHOT_FOOTER") + 1
    assert types.count("SNAPSHOT_FOOTER") == 1
    files = table(str(metadata_folder(cluster.nodes[1])), fromStart="true")
    known = {row["offset"]: row["valueJson"] for row in files}
    found = [(row["offset"], row["valueJson"]) for row in stream.rows[begin:]]
    assert [offset for offset, _ in found] == [*range(found[0][0], found[-1][0] + 1)]
    assert found == [(offset, known[offset]) for offset, _ in found]


@pytest.mark.long
def test_reader_misses_nothing_while_the_quorum_changes(jars: Path, tmp_path: Path) -> None:
    """The leader is killed, the new one too after the first came back, while topics come and go."""
    with running_cluster(jars, tmp_path, Shape(controllers=3, brokers=1)) as cluster:
        names = [f"t{number}" for number in range(1000)]
        with following(cluster) as reader:
            for round_ in range(2):
                part = names[round_ * 500 : (round_ + 1) * 500]
                change_topics(cluster.brokers, "CreateTopics", [topic(name) for name in part])
                leader = wait_for_leader(cluster)
                cluster.nodes[leader].kill()
                new = wait_for_leader(cluster)
                assert new != leader
                change_topics(cluster.brokers, "DeleteTopics", part)
                restarted(cluster, leader)
            leader = wait_for_leader(cluster)
            end = until_end(cluster.nodes[leader])
            assert until(lambda: reader.offset >= end or reader.failure, 60)
        files = in_files(cluster.nodes[leader])

    assert reader.twice == []
    assert reader.begins == [None]
    assert reader.batches == {at: data for at, data in files.items() if at <= max(reader.batches)}
    assert max(reader.batches) + 1 >= end


@pytest.mark.long
def test_single_controller_is_restarted_under_the_reader(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape(is_combined=True)) as cluster:
        with following(cluster) as reader:
            cluster.nodes[1].stop()
            time.sleep(1)
            restarted(cluster, 1)
            change_topics(cluster.brokers, "CreateTopics", [topic("t")])
            end = until_end(cluster.nodes[1])
            assert until(lambda: reader.offset >= end or reader.failure, 60)
        files = in_files(cluster.nodes[1])

    assert reader.batches == {at: data for at, data in files.items() if at <= max(reader.batches)}
    assert any("looking for who leads" in note for note in reader.notes)


@pytest.mark.long
def test_older_controller_is_read(older_jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=2, brokers=1, release="3.9", is_dynamic=True)
    with running_cluster(older_jars, tmp_path, shape) as cluster:
        for address in cluster.controllers.split(","):
            live = LiveImage(Endpoints(parse_bootstrap(address), Settings()))

            assert [*live.image.brokers] == [101]
            assert live.snapshot is None
