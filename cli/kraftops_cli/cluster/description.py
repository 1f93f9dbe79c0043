"""Description of a cluster: nodes, quorum, features and metadata, as far as they may be seen."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from kraftops.engine.metadata_state import BrokerLoad
from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.image.state.broker import BrokerState
from kraftops.placement.placement import Placement
from kraftops.reassign.access import CORDON, ask_marks, configs_in, marks_in_image
from kraftops.reassign.marks import DECOMMISSION, Mark
from kraftops.reassign.operations import Operation, operations_of
from kraftops.reassign.throttles import rate_in
from kraftops.uuids import to_text
from kraftops.wire.admin.configs import ConfigValue
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.rpc import error_codes
from kraftops.wire.rpc.cluster import (
    ClusterNodes,
    Feature,
    QuorumInfo,
    ReplicaState,
    api_versions,
    describe_quorum,
    lists_fenced,
    sees_everything,
)
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.leader import ask_leader
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.health import (
    Counts,
    Health,
    KeptFacts,
    NodeFacts,
    ask_health,
    controller_facts,
)

T = TypeVar("T")

FENCED = "registered-fenced"
LEADER, VOTER, OBSERVER = "leader", "voter", "observer"
_NO_LOAD = BrokerLoad(0, 0)
_REASSIGNMENTS = "ListPartitionReassignments"
_CONFIGS = "DescribeConfigs"
_MOST_AHEAD_MS = 3_600_000  # by which the clock of a node may differ


class BrokerSettings(NamedTuple):
    """What operations have set on a broker; *throttle* in bytes a second."""

    is_leaving: bool
    is_cordoned: bool
    throttle: int | None


class BrokerDescription(NamedTuple):
    """A broker; only the metadata log has the names of listeners, and the directories.

    *lag* is in records of the metadata log, *behind_ms* since it had all of them. None stands for
    what is not known.
    """

    id: int
    state: str
    rack: str | None = None
    listeners: Sequence[tuple[str, Address]] = ()
    directories: Sequence[str] | None = None
    replicas: int | None = None
    leaders: int | None = None
    release: str | None = None
    failed: tuple[str, ...] | None = None
    lag: int | None = None
    behind_ms: int | None = None
    settings: BrokerSettings | None = None

    @property
    def is_fenced(self) -> bool:
        return self.state == FENCED


class Member(NamedTuple):
    """A voter or observer of a quorum; *log_end* is the end of its leader's log, *now* in ms.

    What only the metadata log or the node itself tells is None without them: the *kind* of an
    observer, the release, whether it *joins_itself*.
    """

    role: str
    state: ReplicaState
    log_end: int
    now: int
    listeners: Sequence[tuple[str, Address]]
    release: str | None = None
    is_caught_up: bool = False
    kind: str | None = None
    joins_itself: bool | None = None

    @property
    def end_offset(self) -> int | None:
        """The end of its log; None if the leader does not know it."""
        return self.state.end_offset if self.state.end_offset >= 0 else None

    @property
    def lag(self) -> int | None:
        """The records that it lacks."""
        end = self.end_offset
        return None if end is None else max(self.log_end - end, 0)


class BrokerFilter(NamedTuple):
    """The brokers that are shown: all, or by id, rack and state."""

    ids: frozenset[int] = frozenset()
    racks: frozenset[str] = frozenset()
    only_fenced: bool = False

    def allows(self, broker: BrokerDescription) -> bool:
        return (
            (not self.ids or broker.id in self.ids)
            and (not self.racks or broker.rack in self.racks)
            and (broker.is_fenced or not self.only_fenced)
        )


ALL_BROKERS = BrokerFilter()


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """A cluster at one moment, *now* in ms; None stands for what is not known.

    *quorum_error* is the reason why a broker does not know the quorum. *snapshot_lag* is the number
    of records after the newest snapshot; of all records, if there is none. *live* goes on.
    """

    now: int
    cluster_id: str | None = None
    leader: int | None = None
    quorum: QuorumInfo | None = None
    quorum_error: WireError | None = None
    members: Sequence[Member] | None = None
    snapshot: SnapshotId | None = None
    snapshot_lag: int | None = None
    health: Health | None = None
    brokers: Sequence[BrokerDescription] | None = None
    operations: Sequence[Operation] | None = None
    """Those that are under way, without bytes."""
    controllers: Mapping[int, NodeFacts] | None = None
    features: Sequence[Feature] = ()
    live: LiveImage | None = None

    @property
    def epoch(self) -> int | None:
        return self.quorum.epoch if self.quorum else None

    @property
    def counts(self) -> Counts | None:
        return self.health.counts if self.health else None


def members_in(
    quorum: QuorumInfo, log_end: int, now: int, facts: Mapping[int, NodeFacts]
) -> list[Member]:
    replicas = [
        *((LEADER if voter.node_id == quorum.leader else VOTER, voter) for voter in quorum.voters),
        *((OBSERVER, observer) for observer in quorum.observers),
    ]
    return [
        Member(
            role=role,
            state=state,
            log_end=log_end,
            now=now,
            listeners=quorum.listeners.get(state.node_id, ()),
            release=facts.get(state.node_id, NodeFacts()).release,
        )
        for role, state in replicas
    ]


def age_of(time: int, now: int) -> int | None:
    """Count ms since *time*, at least 0; None for -1 (unknown), and beyond any skew of clocks."""
    return max(now - time, 0) if 0 <= time <= now + _MOST_AHEAD_MS else None


def _registered(broker: int, state: BrokerState, load: BrokerLoad) -> BrokerDescription:
    unfenced = "in-controlled-shutdown" if state["inControlledShutdown"] else "active"
    return BrokerDescription(
        id=broker,
        state=FENCED if state["fenced"] else unfenced,
        rack=state["rack"],
        listeners=[(end["name"], Address(end["host"], end["port"])) for end in state["endPoints"]],
        directories=[to_text(directory) for directory in state["logDirs"]],
        replicas=load.replicas,
        leaders=load.leaders,
    )


def _registered_brokers(live: LiveImage, registered: KeptState) -> list[BrokerDescription]:
    loads = registered.loads(live.image)
    return [
        _registered(broker, state, loads.get(broker, _NO_LOAD))
        for broker, state in registered.states(live.image).items()
    ]


def _listed_brokers(nodes: ClusterNodes, health: Health | None) -> list[BrokerDescription]:
    loads = health.loads if health else {}
    brokers = []
    for node in sorted(nodes.nodes):
        load = loads.get(node.node_id)
        brokers.append(
            BrokerDescription(
                node.node_id,
                FENCED if node.is_fenced else "active",
                node.rack,
                [("", node.address)],
                replicas=load.replicas if load else None,
                leaders=load.leaders if load else None,
            )
        )
    return brokers


class KeptAnswers:
    """What is kept between two descriptions: what was read of the metadata, what brokers told.

    *skipped* gets each part that is not permitted, once, and the error.
    """

    def __init__(self, skipped: Callable[[str, AnswerError], None] = lambda *_: None) -> None:
        self._skipped = skipped
        self._skipped_parts: set[str] = set()
        self.state = KeptState()
        self.facts = KeptFacts()

    def skip(self, part: str, error: AnswerError) -> None:
        """Tell of a part that is not permitted, unless that is reported."""
        if part not in self._skipped_parts:
            self._skipped_parts.add(part)
            self._skipped(part, error)


def ask_description(cluster: ClusterConnections, kept: KeptAnswers) -> ClusterDescription:
    """Ask a cluster for everything that is permitted.

    Raises:
        WireError: there is no answer, or another error.
    """
    with cluster.connect() as connection:
        questions = _Questions(cluster, connection, kept)
        features = api_versions(connection).features
        nodes = questions.nodes()
        live = questions.live_image(nodes)
        quorum = questions.quorum(nodes, live)
        health = questions.health(live)
        marks = questions.marks(live)
    brokers: list[BrokerDescription] | None = None
    controllers: dict[int, NodeFacts] | None = None
    if live:
        facts, controllers = _registered_facts(live, kept), controller_facts(live.image)
        brokers = _registered_brokers(live, kept.state)
    else:
        facts = kept.facts.current(cluster, nodes.nodes if nodes else ())
        if nodes and not cluster.is_of_controllers:
            brokers = _listed_brokers(nodes, health)
    now = time.time_ns() // 1_000_000
    error = quorum if isinstance(quorum, WireError) else None
    info = None if isinstance(quorum, WireError) else quorum
    members: list[Member] | None = None
    if info:
        log_end = max((state.end_offset for state in (*info.voters, *info.observers)), default=-1)
        members = members_in(info, log_end, now, {**facts, **(controllers or {})})
    return ClusterDescription(
        now=now,
        cluster_id=nodes.cluster_id if nodes else None,
        leader=info.leader if info else nodes.leader if nodes else None,
        quorum=info,
        quorum_error=error,
        members=members,
        snapshot=live.snapshot if live else None,
        snapshot_lag=snapshot_lag_of(live) if live else None,
        health=health,
        brokers=None if brokers is None else with_facts(brokers, facts, members or (), marks or ()),
        operations=None if marks is None else operations_in(marks, facts, health),
        controllers=controllers,
        features=features,
        live=live,
    )


def snapshot_lag_of(live: LiveImage) -> int:
    """Count the records after the newest snapshot; without one, all from offset 0 on."""
    return live.offset - (live.snapshot.end_offset if live.snapshot else 0)


def _registered_facts(live: LiveImage, kept: KeptAnswers) -> dict[int, NodeFacts]:
    configs = configs_in(live.image)
    return {
        broker: replace(facts, configs=configs.get(broker, {}))
        for broker, facts in kept.state.facts(live.image).items()
    }


def with_facts(
    brokers: Iterable[BrokerDescription],
    facts_by_node: Mapping[int, NodeFacts],
    members: Iterable[Member],
    marks: Sequence[Mark],
) -> list[BrokerDescription]:
    """Return brokers with what they told, with their lags as observers, and with settings."""
    member_by_node = {member.state.node_id: member for member in members}
    completed = []
    for broker in brokers:
        facts = facts_by_node.get(broker.id, NodeFacts())
        member = member_by_node.get(broker.id)
        completed.append(
            broker._replace(
                release=facts.release,
                failed=facts.failed,
                lag=member.lag if member else None,
                behind_ms=age_of(member.state.caught_up_at, member.now) if member else None,
                settings=_settings(broker.id, facts.configs, marks),
            )
        )
    return completed


def _settings(
    broker: int, configs: Mapping[str, ConfigValue] | None, marks: Sequence[Mark]
) -> BrokerSettings | None:
    """Return what operations have set on a broker, if its configuration can be read."""
    if configs is None:
        return None
    is_leaving = any(mark.kind == DECOMMISSION and broker in mark.brokers for mark in marks)
    is_cordoned = CORDON in configs and bool(configs[CORDON].value)
    return BrokerSettings(is_leaving, is_cordoned, rate_in(configs))


def operations_in(
    marks: Sequence[Mark], facts: Mapping[int, NodeFacts], health: Health | None
) -> list[Operation]:
    """Find operations by their marks and reassignments; bytes copied are not asked for."""
    moving = dict(health.moving) if health else {}
    configs = {
        broker: broker_facts.configs
        for broker, broker_facts in facts.items()
        if broker_facts.configs is not None
    }
    return [
        replace(operation, waiting=None) if operation.kind == DECOMMISSION else operation
        for operation in operations_of(Placement({}, moving), marks, configs, None)
    ]


@dataclass(frozen=True, slots=True)
class _Questions:
    """The questions to a cluster; the answer is None for a part that is not permitted."""

    cluster: ClusterConnections
    connection: Connection
    kept: KeptAnswers

    def _permitted(self, part: str, ask: Callable[[], T], *, any_controller: bool) -> T | None:
        """Ask for a part; None, with a note to the user, where the cluster's ACLs forbid it.

        With *any_controller*, the leader is not known: another controller may have been asked.
        """
        try:
            return ask()
        except AnswerError as error:
            is_other = any_controller and error.error_code == error_codes.NOT_LEADER_OR_FOLLOWER
            if error.error_code != error_codes.CLUSTER_AUTHORIZATION_FAILED and not is_other:
                raise
            self.kept.skip(part, error)
            return None

    def nodes(self) -> ClusterNodes | None:
        with_fenced = not self.cluster.is_of_controllers and lists_fenced(self.connection)
        return self._permitted(
            "the nodes",
            lambda: self.cluster.nodes(self.connection, with_fenced=with_fenced),
            any_controller=True,
        )

    def live_image(self, nodes: ClusterNodes | None) -> LiveImage | None:
        """Read the metadata log, if controllers are asked."""
        if not self.cluster.is_of_controllers:
            return None
        any_controller = nodes is None
        return self._permitted(
            "the brokers", self.cluster.live_image, any_controller=any_controller
        )

    def health(self, live: LiveImage | None) -> Health | None:
        """Count partitions in the metadata log, or ask the broker; None if it does not serve that.

        A broker lists only partitions that the user may describe. If these are none, while there
        may be others, nothing is known of partitions.
        """
        if live:
            return self.kept.state.health(live.image)
        if self.cluster.is_of_controllers or self.connection.versions_of(_REASSIGNMENTS) is None:
            return None
        health = self._permitted(
            "the partitions", lambda: ask_health(self.connection), any_controller=False
        )
        if health is None or health.counts.partitions or sees_everything(self.connection):
            return health
        # Kafka leaves topics out silently that the user may not describe.
        hidden = AnswerError.at(
            self.connection.address,
            "not permitted: it needs DESCRIBE on the topics",
            hint="kafka-acls --add --topic '*' --operation DESCRIBE grants it",
            error_code=error_codes.TOPIC_AUTHORIZATION_FAILED,
            permission="DESCRIBE",
        )
        self.kept.skip("the partitions", hidden)
        return None

    def marks(self, live: LiveImage | None) -> list[Mark] | None:
        if live:
            return [*marks_in_image(live.image).values()]
        if self.cluster.is_of_controllers or self.connection.versions_of(_CONFIGS) is None:
            return None
        return self._permitted(
            "operations", lambda: [*ask_marks(self.connection).values()], any_controller=False
        )

    def quorum(
        self, nodes: ClusterNodes | None, live: LiveImage | None
    ) -> QuorumInfo | WireError | None:
        """Ask for the quorum; return an error of a broker that gets no answer from controllers."""

        def ask() -> QuorumInfo:
            if nodes:
                return ask_leader(self.connection, self.cluster.connect_to, describe_quorum)
            if live:  # it was read from the leader
                with self.cluster.connect_to(live.endpoint) as leader:
                    return describe_quorum(leader)
            return describe_quorum(self.connection)

        try:
            return self._permitted("the quorum", ask, any_controller=nodes is None)
        except (AnswerError, AuthError):
            raise
        except WireError as error:
            if self.cluster.is_of_controllers:
                raise
            return WireError(
                f"the quorum is not known: {error.message}",
                hint="brokers forward this question to controllers: do these run?",
            )
