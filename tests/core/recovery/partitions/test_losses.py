"""The table of losses says what a model's servers do after a recovery, and never too little."""

import os
from pathlib import Path
from random import Random

import pytest

from kraftops.engine.metadata_state import PartitionState
from kraftops.image.verify.assignments import possible_leaders
from kraftops.recovery.metadata_records import newest_elections
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.copies import PartitionCopy, newest_by_broker
from kraftops.recovery.partitions.disk import read_disks
from kraftops.recovery.partitions.losses import (
    Assignment,
    PartitionLoss,
    copies_to_be_led,
    losses,
    lost_if_gone,
    total_of,
)
from kraftops.server.loader.text_files import EpochEntry
from kraftops.uuids import to_text
from tests.helpers.nodes.broker_disks import TOPIC_ID, broker_disk
from tests.helpers.nodes.lost_quorums import write_meta
from tests.helpers.nodes.model_cluster import (
    NOBODY,
    ModelCluster,
    Registration,
    Server,
    with_leader,
)

HISTORIES = int(os.environ.get("KRAFTOPS_LOSS_HISTORIES", "50"))
TOPIC = b"t" * 16
KEY = (TOPIC, 0)
_FIRST, _OTHER = b"first-directory!", b"other-directory!"


def copy_of(server: Server) -> PartitionCopy:
    """Return the copy that is on a server's disk."""
    return PartitionCopy(
        broker=server.node_id,
        place=f"disk {server.node_id}",
        topic="orders",
        topic_id=TOPIC,
        number=0,
        end=len(server.log),
        epochs=tuple(EpochEntry(*entry) for entry in server.epochs),
        high_watermark=server.noted,
    )


def assigned(image: Registration, count: int) -> dict[tuple[bytes, int], Assignment]:
    """Return the metadata of the partition."""
    state = PartitionState(
        replicas=list(range(count)),
        directories=[bytes(16)] * count,
        isr=list(image.isr),
        removing_replicas=[],
        adding_replicas=[],
        eligible_leader_replicas=list(image.elr),
        last_known_elr=list(image.last_known),
        leader=image.leader,
        leader_recovery_state=0,
        leader_epoch=image.epoch,
        partition_epoch=len(image.isr),
    )
    return {KEY: Assignment("orders", 0, state)}


class History:
    """A random history, a state of the metadata before its end, and the copies on the disks."""

    def __init__(self, seed: int) -> None:
        self.cluster = cluster = ModelCluster(Random(seed))
        cluster.live(cluster.random.randint(5, 60))
        newest = len(cluster.controller.history) - 1
        lag = cluster.random.choice((0, 1, 2, 5, 20))
        self.image = cluster.controller.history[max(0, newest - lag)]
        self.copies = [copy_of(server) for server in cluster.servers]
        self.logs = {server.node_id: list(server.log) for server in cluster.servers}
        self.assigned = assigned(self.image, len(self.copies))

    def acknowledged(self, broker: int, offsets: range) -> int:
        """Return how many acknowledged records a broker had at these offsets."""
        log = self.logs[broker]
        return sum((offset, log[offset]) in self.cluster.acknowledged for offset in offsets)


@pytest.fixture(params=range(HISTORIES))
def history(request: pytest.FixtureRequest) -> History:
    return History(request.param)


def rows(table: list[PartitionLoss]) -> dict[int, range]:
    return {loss.copy.broker: loss.offsets for loss in table}


def test_table_is_what_servers_do(history: History) -> None:
    table = losses(history.assigned, history.copies)
    leaders = possible_leaders(history.assigned[KEY].state)

    history.cluster.recovered(history.image)

    leader = history.cluster.controller.now.leader
    if leader == NOBODY:
        return
    assert leader in leaders
    cuts = {}
    for server in history.cluster.servers:
        kept = server.in_common(history.cluster.servers[leader])
        if kept < len(server.log):
            cuts[server.node_id] = range(kept, len(server.log))
    only = assigned(with_leader(history.image, leader, history.image.epoch), len(history.copies))
    assert rows(losses(only, history.copies)) == cuts
    for broker, offsets in cuts.items():
        assert rows(table)[broker].start <= offsets.start
    for loss in table:
        assert not loss.is_certain or cuts[loss.copy.broker] == loss.offsets
        for broker in loss.also_on:
            assert history.logs[broker][: loss.copy.end] == history.logs[loss.copy.broker]


def test_acknowledged_is_never_said_of_others(history: History) -> None:
    for loss in losses(history.assigned, history.copies):
        assert history.acknowledged(loss.copy.broker, loss.proven) == (loss.acknowledged or 0)


def test_newest_broker_keeps_all_that_was_acknowledged(history: History) -> None:
    losing = {
        (loss.copy.topic_id, loss.copy.number) for loss in losses(history.assigned, history.copies)
    }
    elections = newest_elections(history.assigned, history.copies, losing, range(9), {})
    image = history.image
    for election in elections:
        image = with_leader(image, election.copy.broker, election.leader_epoch)

    history.cluster.recovered(image)

    leader = history.cluster.leader
    assert leader or not elections
    if leader is None:
        return
    for offset, row in history.cluster.acknowledged:
        assert leader.log[offset : offset + 1] == [row]
    if elections:
        assert image.epoch > max(copy.epoch for copy in history.copies)
    for server in history.cluster.servers:
        if server is not leader:
            history.cluster.fetch(server, 1000)
            assert server.log == leader.log


def test_what_a_broker_alone_has(history: History) -> None:
    for broker, log in history.logs.items():
        losses_of_broker = lost_if_gone(newest_by_broker(history.copies), broker)
        lost = [offset for loss in losses_of_broker for offset in loss.offsets]
        others = [other for node_id, other in history.logs.items() if node_id != broker]
        for offset in lost:
            best = max(history.copies, key=lambda c: (c.broker != broker, *c.rank)).broker
            assert history.logs[best][offset : offset + 1] != [log[offset]]
        if not lost:
            acknowledged = history.acknowledged(broker, range(len(log)))
            kept = max(
                sum((n, row) in history.cluster.acknowledged for n, row in enumerate(other))
                for other in others
            )
            assert kept >= acknowledged


def test_unseen_leader_may_lack_later_epochs() -> None:
    """Only broker 1's disk is there, and knows a later epoch than the metadata."""
    image = Registration((0,), leader=0, epoch=2)
    copy = PartitionCopy(
        broker=1,
        place="b1",
        topic="orders",
        topic_id=TOPIC,
        number=0,
        end=303,
        epochs=(EpochEntry(0, 0), EpochEntry(4, 220)),
        high_watermark=303,
    )

    (loss,) = losses(assigned(image, 2), [copy])

    assert (loss.offsets, loss.acknowledged, loss.is_certain) == (range(220, 303), 83, False)
    assert str(total_of([loss])) == "83 acknowledged records of orders-0 may be cut from broker 1"


def written_copy(
    broker: int, end: int, start: int = 0, *, is_end_exact: bool = True
) -> PartitionCopy:
    epochs = (EpochEntry(0, start),)
    return PartitionCopy(
        broker=broker,
        place=f"b{broker}",
        topic="orders",
        topic_id=TOPIC,
        number=0,
        start=start,
        end=end,
        is_end_exact=is_end_exact,
        epochs=epochs,
    )


@pytest.mark.parametrize(("start", "also_on"), [(0, (2,)), (10, (2,)), (11, ())])
def test_copy_that_begins_with_the_lost_records_has_them(
    start: int, also_on: tuple[int, ...]
) -> None:
    copies = [written_copy(0, 10), written_copy(1, 20), written_copy(2, 20, start)]

    loss, _ = losses(assigned(Registration((0,), leader=0, epoch=0), 3), copies)

    assert (loss.copy.broker, loss.offsets, loss.also_on) == (1, range(10, 20), also_on)


@pytest.mark.parametrize(("end", "count"), [(20, 1), (21, 0)])
def test_end_that_was_not_read_is_one_record_too_low_at_most(end: int, count: int) -> None:
    copies = [written_copy(0, end), written_copy(1, 20, is_end_exact=False)]

    table = losses(assigned(Registration((0,), leader=0, epoch=0), 2), copies)

    assert len(table) == count


@pytest.mark.parametrize(
    ("replica_directory", "folder", "lost"),
    [(_FIRST, None, 60), (_OTHER, None, 0), (_FIRST, "orders-0.abc-future", 0)],
)
def test_replica_that_its_disk_lacks_may_lead_and_cut_all(
    tmp_path: Path, replica_directory: bytes, folder: str | None, lost: int
) -> None:
    """Its broker makes it anew and empty; of a directory that was not read nothing is known."""
    full = broker_disk(tmp_path / "full", 103, {"orders-0": [(0, 60)]})
    empty = broker_disk(tmp_path / "empty", 101, {})
    write_meta(empty, 101, **{"directory.id": to_text(_FIRST)})
    if folder:
        (empty / folder).mkdir()
    state = PartitionState(
        [101, 103], [replica_directory, _OTHER], [101, 103], [], [], [], [], 101, 0, 0, 0
    )
    assigned = {(TOPIC_ID, 0): Assignment("orders", 0, state)}
    disks = read_disks([LogSource(str(path), str(path)) for path in (full, empty)])

    table = losses(assigned, copies_to_be_led(assigned, disks))

    assert sum(len(loss.offsets) for loss in table) == lost
