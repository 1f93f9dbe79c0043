"""Brokers and controllers in memory that restart, behind connections that can be cut anywhere."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from kraftops.errors import KraftopsError
from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.events import Event
from kraftops.restart import rolling
from kraftops.restart.hook import Hook
from kraftops.restart.nodes import BROKER, CONTROLLER, Node, chosen
from kraftops.voters.access import QuorumAccess
from kraftops.voters.quorum import Quorum
from kraftops.voters.rules import VoterSet, majority
from tests.helpers.wire.moving_cluster import Killed, MovingCluster


class RestartingCluster(MovingCluster):
    """Brokers from 101 on in racks, controllers from 1 on; *combined* ids are both.

    A restart stops a node at once, and some requests later it is registered, then unfenced, then in
    sync. The test fails as soon as a partition has too few replicas in sync, or the quorum loses
    its majority. Seconds are requests. *dead* nodes do not come back, *broken* ones without a disk.
    """

    def __init__(
        self, brokers: int, controllers: int, *, combined: int = 0, rng: Random | None = None
    ) -> None:
        ids = [*range(101, 101 + brokers), *range(1, 1 + combined)]
        partitions = {
            TopicPartition("t", number): tuple(ids[(number + n) % len(ids)] for n in range(3))
            for number in range(2 * len(ids))
        }
        super().__init__(range(0), partitions, is_old=False)
        self.brokers = dict.fromkeys(ids, False)
        self.voters = frozenset(range(1, 1 + controllers))
        self.behind: set[int] = set()
        self.leader = 1 if controllers else -1
        self.processes = dict.fromkeys([*ids, *self.voters], 1)
        self.dead: set[int] = set()
        self.broken: set[int] = set()
        self.hangs: set[int] = set()
        self.fails: set[int] = set()
        self.restarted: list[int] = []
        self.events: list[Event] = []
        self.most_down = 0
        self.rng = rng or Random(1)
        self._steps: list[tuple[int, Callable[[], None]]] = []

    def rack(self, broker: int) -> str:
        return "abc"[broker % 3]

    def nodes(self) -> dict[int, Node]:
        nodes = {}
        for node_id, process in sorted(self.processes.items()):
            roles = [BROKER] * (node_id in self.brokers) + [CONTROLLER] * (node_id in self.voters)
            rack = self.rack(node_id) if node_id in self.brokers else None
            incarnations = {role: f"{role}-{node_id}-{process}" for role in roles}
            nodes[node_id] = Node(node_id, f"host-{node_id}", rack, incarnations)
        return nodes

    def placement(self) -> Placement:
        places = {
            broker: BrokerPlace(self.rack(broker), is_fenced, not is_fenced)
            for broker, is_fenced in self.brokers.items()
        }
        return Placement(places, dict(self.partitions))

    def voter_set(self) -> VoterSet:
        return VoterSet(self.voters, self.voters - self.behind)

    def answer(self, broker: int, api: str, values: dict[str, Any]) -> SimpleNamespace:
        self.advance()
        return super().answer(broker, api, values)

    def advance(self) -> None:
        """Let time pass: what was to happen by now happens."""
        ready = [act for at, act in self._steps if at <= self.requests]
        self._steps = [step for step in self._steps if step[0] > self.requests]
        for act in ready:
            act()

    def stop(self, node: int) -> None:
        """End a node; whoever can lead its partitions does."""
        if node in self.brokers:
            self.brokers[node] = True
            for partition, replicas in self.partitions.items():
                if node not in replicas.isr:
                    continue
                isr = tuple(broker for broker in replicas.isr if broker != node)
                assert len(isr) >= 2, f"{partition} is under min ISR"
                assert replicas.leader != node, f"{node} leads {partition} when it stops"
                self.partitions[partition] = replicas._replace(isr=isr)
        if node in self.voters:
            self.behind.add(node)
            assert len(self.voters - self.behind) >= majority(len(self.voters))
            if self.leader == node:
                self.leader = min(self.voters - self.behind)
        self.most_down = max(self.most_down, sum(self.brokers.values()))

    def start(self, node: int) -> None:
        """Start a node: it registers, is unfenced and catches up, one after the other."""

        def register() -> None:
            self.processes[node] += 1

        def unfence() -> None:
            if node in self.brokers:
                self.brokers[node] = False

        def catch_up() -> None:
            self.behind.discard(node)
            for partition, replicas in self.partitions.items():
                if node in replicas.replicas and node not in replicas.isr:
                    self.partitions[partition] = replicas._replace(isr=(*replicas.isr, node))

        moment = self.requests
        for act in (register, unfence, *([] if node in self.broken else [catch_up])):
            moment += self.rng.randrange(1, 9)
            self._steps.append((moment, act))

    def run_hook(self, nodes: Sequence[Node]) -> None:
        """Stand for the hook: a kill may come while it runs, and leave nodes stopped."""
        for node in nodes:
            if node.node_id in self.fails:
                raise KraftopsError("the command of --hook has failed", code="hook-failed")
            self.stop(node.node_id)
        if self.hangs.intersection(node.node_id for node in nodes):
            self.hangs.clear()
            raise Killed
        for node in nodes:
            self.restarted.append(node.node_id)
            if node.node_id not in self.dead:
                self.start(node.node_id)

    @contextmanager
    def reached(self) -> Iterator[ClusterAccess]:
        def look(_: ClusterAccess) -> tuple[dict[int, Node], Placement]:
            self.requests += 1
            self.advance()
            return self.nodes(), self.placement()

        def quorum(_: QuorumAccess) -> Quorum:
            info = SimpleNamespace(leader=self.leader)
            return SimpleNamespace(info=info, voter_set=self.voter_set())  # type: ignore[return-value]

        def run_hook(_: Hook, nodes: Sequence[Node]) -> None:
            self.run_hook(nodes)

        with ExitStack() as stack:
            access = stack.enter_context(super().reached())
            clock = SimpleNamespace(monotonic=lambda: float(self.requests), sleep=lambda _: None)
            stack.enter_context(patch.object(rolling, "time", clock))
            stack.enter_context(patch.object(rolling, "look", look))
            stack.enter_context(patch.object(QuorumAccess, "quorum", quorum))
            stack.enter_context(patch.object(Hook, "run", run_hook))
            yield access

    def run(self, ids: Sequence[int] = (), *, takes_over: bool = False, **options: Any) -> None:
        """Restart nodes as the tool does."""
        with self.reached() as access:
            remaining = rolling.check_alone(access, takes_over=takes_over)
            nodes = chosen(self.nodes(), remaining or ids, None)
            seconds = options.pop("stall_seconds", 60)
            request = rolling.Restart(nodes, Hook("true", 1), seconds, **options)
            run = rolling.Rolling(access, request, self.events.append)
            rolling.refuse_impossible(run.view())
            run.run()

    def _describe_log_dirs(self, broker: int, *, topics: Any, **values: Any) -> SimpleNamespace:
        answer = super()._describe_log_dirs(broker, topics=topics, **values)
        if broker in self.broken:
            answer.results[0].error_code = 56
        return answer

    def _elect_leaders(
        self, _: int, *, election_type: int, topic_partitions: list[Any], **__: Any
    ) -> SimpleNamespace:
        assert election_type == 0, "an unclean election"
        for topic in topic_partitions:
            for index in topic["partitions"]:
                partition = TopicPartition(topic["topic"], index)
                replicas: Replicas = self.partitions[partition]
                if replicas.replicas[0] in replicas.isr:
                    self.partitions[partition] = replicas._replace(leader=replicas.replicas[0])
        return SimpleNamespace(error_code=0, replica_election_results=[])
