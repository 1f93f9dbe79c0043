"""Fake controllers, which answer Fetch and FetchSnapshot from a log in memory."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from kraftops.log.batch import Record
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer, definition
from kraftops.wire.quorum.fetch import SnapshotId
from tests.helpers.logs.written import batch_bytes
from tests.helpers.wire.peers import CONTROLLER_APIS, Peer, answer, api_versions, read_request

NOT_LEADER_OR_FOLLOWER, FENCED, UNKNOWN_EPOCH = 6, 74, 75


def batch(base: int, count: int = 1, epoch: int = 1, text: str = "") -> bytes:
    """Return a batch of *count* records from an offset on."""
    records = [Record(base + at, 1000, None, f"{text}{base + at}".encode()) for at in range(count)]
    return batch_bytes(records, leader_epoch=epoch)


@dataclass
class Log:
    """The log and leader of a quorum, which tests change while it is read."""

    batches: list[tuple[int, int, int, bytes]] = field(default_factory=list)
    start: int = 0
    high_watermark: int = 0
    snapshots: dict[SnapshotId, bytes] = field(default_factory=dict)
    leader: int = 1
    epoch: int = 1
    is_older: bool = False  # than Kafka 4.0
    asked: list[tuple[str, object]] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.batches[-1][1] if self.batches else self.start

    def append(self, count: int = 1, *, commit: bool = True) -> None:
        base = self.end
        data = batch(base, count, self.epoch)
        self.batches.append((base, base + count, self.epoch, data))
        if commit:
            self.high_watermark = self.end

    def snapshot(self, *, drop: bool) -> SnapshotId:
        """Take a snapshot of all committed records; with *drop*, delete the log before it."""
        taken = SnapshotId(self.high_watermark, self.epoch)
        self.snapshots[taken] = batch(0, 3, text="s") + batch(3, 4, text="s")
        if drop:
            self.start = taken.end_offset
            self.batches = [each for each in self.batches if each[0] >= self.start]
            if not self.batches:
                self.batches = []
        return taken


class Controllers:
    """Controllers of one quorum, on loopback; *more* APIs by key: version, correlation id, body."""

    def __init__(self, log: Log, peers: dict[int, Peer]) -> None:
        self.log = log
        self.peers = peers
        self.hidden = False  # whether answers are without the leader's address
        self.most_snapshot = 50  # bytes of a part of a snapshot
        self.mute: set[int] = set()
        self.more: dict[int, Callable[[int, int, bytes], bytes]] = {}

    def address(self, node: int) -> Address:
        return self.peers[node].address

    def kill(self, node: int) -> None:
        self.peers[node].__exit__()

    def serve(self, node: int, connection: socket.socket) -> None:
        while True:
            key, version, correlation, body = read_request(connection)
            if node in self.mute:
                threading.Event().wait(3)
                return
            if key == 18:
                reply = api_versions(correlation, CONTROLLER_APIS, version=version)
            elif key == 1:
                reply = self._fetched(node, version, correlation, body)
            elif key == 59:
                reply = self._snapshot(node, version, correlation, body)
            elif key in self.more:
                reply = self.more[key](version, correlation, body)
            elif key == 55:  # nobody may see who votes
                reply = answer("DescribeQuorum", version, correlation, error_code=31, topics=[])
            else:
                return
            connection.sendall(reply)

    def _request(self, api: str, version: int, body: bytes) -> Answer:
        return definition(f"{api}Request").decode(version, memoryview(body[1:]))[0]

    def _fetched(self, node: int, version: int, correlation: int, body: bytes) -> bytes:
        request = self._request("Fetch", version, body)
        assert request.replica_state is None  # an observer that nobody sees
        asked = request.topics[0].partitions[0]
        log = self.log
        log.asked.append(("fetch", (node, asked.fetch_offset, asked.last_fetched_epoch)))
        data: dict[str, object] = {
            "partition_index": 0,
            "error_code": 0,
            "high_watermark": log.high_watermark,
            "log_start_offset": log.start,
            "records": b"",
        }
        error = 0
        if asked.current_leader_epoch != log.epoch:
            error = FENCED if asked.current_leader_epoch < log.epoch else UNKNOWN_EPOCH
        elif node != log.leader:
            error = NOT_LEADER_OR_FOLLOWER
        more: dict[str, object] = {}
        if error:
            data["error_code"] = error
            data["high_watermark"] = -1
            data["current_leader"] = {"leader_id": log.leader, "leader_epoch": log.epoch}
            if log.leader in self.peers and not self.hidden:
                host, port = self.address(log.leader)
                named = {"node_id": log.leader, "host": host, "port": port, "rack": None}
                more["node_endpoints"] = [named]
        else:
            data |= self._found(asked.fetch_offset, asked.last_fetched_epoch, request.max_bytes)
            if not data["records"] and request.max_wait_ms:
                threading.Event().wait(0.02)
        return answer(
            "Fetch", version, correlation, error_code=0,
            responses=[{"topic_id": None, "partitions": [data]}], **more,
        )  # fmt: skip

    def _found(self, offset: int, epoch: int, most: int) -> dict[str, object]:
        log = self.log
        newest = max(log.snapshots, default=None)
        is_before = newest and (epoch < newest.epoch if offset else not log.is_older)
        if offset < log.start or is_before:
            assert newest
            return {"snapshot_id": {"end_offset": newest.end_offset, "epoch": newest.epoch}}
        if offset > log.end or (offset and not newest and epoch < 1):
            return {"diverging_epoch": {"end_offset": log.end, "epoch": log.epoch}}
        records = b"".join(data for _, behind, _, data in log.batches if behind > offset)
        first = next((len(data) for _, behind, _, data in log.batches if behind > offset), 0)
        return {"records": records[: max(most, first)]}

    def _snapshot(self, node: int, version: int, correlation: int, body: bytes) -> bytes:
        request = self._request("FetchSnapshot", version, body)
        asked = request.topics[0].partitions[0]
        wanted = SnapshotId(asked.snapshot_id.end_offset, asked.snapshot_id.epoch)
        self.log.asked.append(("snapshot", (node, wanted, asked.position)))
        whole = self.log.snapshots.get(wanted)
        if whole is None or node != self.log.leader or asked.current_leader_epoch != self.log.epoch:
            return answer("FetchSnapshot", version, correlation, error_code=-1, topics=[])
        part = whole[asked.position :][: min(request.max_bytes, self.most_snapshot)]
        partition = {
            "index": 0, "error_code": 0, "size": len(whole), "position": asked.position,
            "snapshot_id": {"end_offset": wanted.end_offset, "epoch": wanted.epoch},
            "unaligned_records": part,
        }  # fmt: skip
        topics = [{"name": "__cluster_metadata", "partitions": [partition]}]
        return answer("FetchSnapshot", version, correlation, error_code=0, topics=topics)


@contextmanager
def quorum(log: Log, *nodes: int) -> Iterator[Controllers]:
    """Start controllers of a log."""
    found = Controllers(log, {})
    with ExitStack() as stack:
        for node in nodes or (1,):
            peer = Peer(lambda connection, node=node: found.serve(node, connection))  # type: ignore[misc]
            found.peers[node] = stack.enter_context(peer)
        yield found
