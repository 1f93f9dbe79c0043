"""Controllers of a cluster with brokers and partitions, which changes while it is watched."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.helpers.logs.random_logs import uuid
from tests.helpers.wire.metadata_quorums import MetadataLog, Record
from tests.helpers.wire.peers import CLUSTER_ID, answer, described
from tests.helpers.wire.quorums import Controllers, quorum

HOST = "broker-{}.example"
_LEVELS = [{"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30}]
_CHANGED = {False: -1, True: 1}
_AT_ONCE = 1000


class WatchedCluster:
    """The metadata log of a cluster, and the answers of its controllers."""

    def __init__(
        self,
        brokers: int,
        partitions: int,
        *,
        racks: tuple[str, ...] = ("r1",),
        host: str = HOST,
        topic: str = "topic-{}",
    ) -> None:
        """Make a log with brokers from 1 on, in turn in racks, and topics of 100 partitions."""
        self.log = MetadataLog()
        self.controllers = (3001, 3002, 3003)
        self.log.leader = self.controllers[0]
        self.brokers = range(1, brokers + 1)
        self.behind = 0  # records that brokers have not read
        self.names: dict[int, str] = {}  # of hosts
        self._host, self._topic = host, topic
        self._add([self._broker(each, racks) for each in self.brokers])
        self._add([("UnfenceBrokerRecord", {"id": each, "epoch": each}) for each in self.brokers])
        self._add([*self._partitions(partitions)])

    def fence(self, *brokers: int) -> None:
        """Fence brokers, whose partitions get other leaders."""
        self._add([("FenceBrokerRecord", {"id": each, "epoch": each}) for each in brokers])

    def unfence(self, *brokers: int) -> None:
        self._add([("UnfenceBrokerRecord", {"id": each, "epoch": each}) for each in brokers])

    def shrink(self, *numbers: int, leader: int = 1) -> None:
        """Leave partitions of the first topic with one replica in sync, or none."""
        change = {"topicId": uuid(1000), "isr": [leader] if leader >= 0 else [], "leader": leader}
        self._add([("PartitionChangeRecord", {"partitionId": each, **change}) for each in numbers])

    def quorum_answer(self, version: int, correlation: int) -> bytes:
        """Return the answer to DescribeQuorum: brokers are observers."""
        now, end = time.time_ns() // 1_000_000, self.log.end

        def replica(node: int, lag: int) -> dict[str, object]:
            return {
                "replica_id": node,
                "log_end_offset": end - lag,
                "last_fetch_timestamp": now - 200,
                "last_caught_up_timestamp": now - 1000 * lag - 300,
            }

        partition = {
            "partition_index": 0, "error_code": 0, "leader_id": self.log.leader,
            "leader_epoch": self.log.epoch, "high_watermark": self.log.high_watermark,
            "current_voters": [replica(each, 0) for each in self.controllers],
            "observers": [replica(each, self.behind) for each in self.brokers],
        }  # fmt: skip
        topics = [{"topic_name": "__cluster_metadata", "partitions": [partition]}]
        return answer("DescribeQuorum", version, correlation, error_code=0, topics=topics)

    def _broker(self, number: int, racks: tuple[str, ...]) -> Record:
        host = self.names.get(number, self._host.format(number))
        return "RegisterBrokerRecord", {
            "brokerId": number, "isMigratingZkBroker": False, "incarnationId": bytes(16),
            "brokerEpoch": number, "rack": racks[number % len(racks)], "fenced": True,
            "inControlledShutdown": False, "logDirs": [], "features": _LEVELS,
            "endPoints": [
                {"name": "PLAINTEXT", "host": host, "port": 9092, "securityProtocol": 0}
            ],
        }  # fmt: skip

    def _partitions(self, count: int) -> Iterator[Record]:
        brokers = len(self.brokers)
        for topic, first in enumerate(range(0, count, 100)):
            topic_id = uuid(1000 + topic)
            yield "TopicRecord", {"name": self._topic.format(topic), "topicId": topic_id}
            for number in range(min(count - first, 100)):
                replicas = [
                    1 + (first + number + each) % brokers for each in range(min(3, brokers))
                ]
                yield "PartitionRecord", {
                    "partitionId": number, "topicId": topic_id, "replicas": replicas,
                    "isr": replicas, "removingReplicas": [], "addingReplicas": [],
                    "leader": replicas[0], "leaderEpoch": 0, "partitionEpoch": 0,
                }  # fmt: skip

    def _add(self, records: list[Record]) -> None:
        for start in range(0, len(records), _AT_ONCE):
            self.log.add(*records[start : start + _AT_ONCE])


@contextmanager
def watched(cluster: WatchedCluster) -> Iterator[Controllers]:
    """Start the controllers of a cluster."""
    with quorum(cluster.log, *cluster.controllers) as found:
        nodes = [
            {"broker_id": each, "host": found.address(each).host, "port": found.address(each).port}
            for each in cluster.controllers
        ]

        def describe(version: int, correlation: int, _: bytes) -> bytes:
            return described(
                correlation, version, cluster_id=CLUSTER_ID, brokers=nodes,
                controller_id=cluster.log.leader, endpoint_type=2,
            )  # fmt: skip

        found.most_snapshot = 1 << 20
        found.more[60] = describe
        found.more[55] = lambda version, correlation, _: cluster.quorum_answer(version, correlation)
        yield found
