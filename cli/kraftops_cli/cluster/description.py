"""Description of a cluster: nodes, quorum, features and metadata, as far as they may be seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from kraftops.engine.metadata_state import BrokerLoad
from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.image.state.broker import BrokerState
from kraftops.placement.placement import Placement
from kraftops.reassign.access import CORDON, ask_marks, configs_in, marks_in_image
from kraftops.reassign.marks import DECOMMISSION, Mark
from kraftops.reassign.operations import Configs, Operation, operations_of
from kraftops.reassign.throttles import rate_in
from kraftops.uuids import to_text
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.rpc.answer_errors import topics_hidden
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
from kraftops.wire.rpc.error_codes import CLUSTER_AUTHORIZATION_FAILED, NOT_LEADER_OR_FOLLOWER
from kraftops.wire.rpc.leader import ask_leader
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.health import Health, KeptFacts, NodeFacts, ask_health, controller_facts
from kraftops_cli.cluster.target import KeptImage, Target

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
        """Whether it is fenced."""
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


class Chosen(NamedTuple):
    """The brokers that are shown: all, or by id, rack and state."""

    ids: frozenset[int] | None = None
    racks: frozenset[str] | None = None
    only_fenced: bool = False

    def allows(self, broker: int, rack: str | None, *, is_fenced: bool) -> bool:
        """Tell whether a broker is shown."""
        return (
            (self.ids is None or broker in self.ids)
            and (self.racks is None or rack in self.racks)
            and (is_fenced or not self.only_fenced)
        )


ALL = Chosen()


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """The answers of a cluster, None for those that are not available.

    *quorum_error* is the reason why a broker does not know the quorum.
    """

    is_of_controllers: bool
    nodes: ClusterNodes | None
    quorum: QuorumInfo | None
    features: Sequence[Feature]
    live: LiveImage | None
    quorum_error: WireError | None
    health: Health | None = None
    facts: Mapping[int, NodeFacts] = field(default_factory=dict)
    controllers: Mapping[int, NodeFacts] | None = None
    chosen: Chosen = ALL
    now: int = 0
    """The time of the description, in ms."""
    registered: KeptState = field(default_factory=KeptState)
    configs: Configs = field(default_factory=dict)
    """The dynamic configurations of brokers, of those that can be read."""
    marks: Sequence[Mark] | None = None

    @property
    def operations(self) -> list[Operation] | None:
        """The operations that are under way, without bytes; None if that cannot be seen."""
        if self.marks is None:
            return None
        moving = dict(self.health.moving) if self.health else {}
        under_way = operations_of(Placement({}, moving), self.marks, self.configs, None)
        return [
            replace(operation, waiting=None) if operation.kind == DECOMMISSION else operation
            for operation in under_way
        ]

    @property
    def snapshot_lag(self) -> int | None:
        """The number of records after the newest snapshot; all records, if there is none."""
        if not self.live:
            return None
        return self.live.offset - (self.live.snapshot.end_offset if self.live.snapshot else 0)

    @property
    def log_end(self) -> int:
        """The end offset of the leader's log."""
        return max((replica.end_offset for _, replica in self.replicas()), default=-1)

    def brokers(self) -> list[BrokerDescription] | None:
        """Return the chosen brokers, from the metadata log or from a broker."""
        if not self.live and (self.is_of_controllers or not self.nodes):
            return None
        states = {replica.node_id: replica for _, replica in self.replicas()}
        return [
            self._with_state(broker, states.get(broker.id))
            for broker in self._all_brokers()
            if self.chosen.allows(broker.id, broker.rack, is_fenced=broker.is_fenced)
        ]

    def unlisted(self) -> list[int]:
        """Return the brokers that were asked for by id and that nobody lists, of known brokers."""
        if self.chosen.ids is None or self.brokers() is None:
            return []
        return sorted(self.chosen.ids - {broker.id for broker in self._all_brokers()})

    def _all_brokers(self) -> Iterator[BrokerDescription]:
        if self.live:
            image = self.live.image
            loads = self.registered.loads(image)
            for broker, state in self.registered.states(image).items():
                yield _registered(broker, state, loads.get(broker, _NO_LOAD))
            return
        by_broker = self.health.loads if self.health else {}
        for node in sorted(self.nodes.nodes if self.nodes else ()):
            load = by_broker.get(node.node_id)
            yield BrokerDescription(
                node.node_id,
                FENCED if node.is_fenced else "active",
                node.rack,
                [("", node.address)],
                replicas=load.replicas if load else None,
                leaders=load.leaders if load else None,
            )

    def _with_state(
        self, broker: BrokerDescription, replica: ReplicaState | None
    ) -> BrokerDescription:
        """Return a broker with what it registered, with its lag and its settings."""
        facts = self.facts.get(broker.id, NodeFacts())
        broker = broker._replace(release=facts.release, failed=facts.failed)
        if replica is not None:
            broker = broker._replace(
                lag=self.log_end - replica.end_offset if replica.end_offset >= 0 else None,
                behind_ms=age_of(replica.caught_up_at, self.now),
            )
        values = self.configs.get(broker.id)
        if values is None:
            return broker
        is_leaving = any(
            mark.kind == DECOMMISSION and broker.id in mark.brokers for mark in self.marks or ()
        )
        is_cordoned = CORDON in values and bool(values[CORDON].value)
        return broker._replace(settings=BrokerSettings(is_leaving, is_cordoned, rate_in(values)))

    def facts_of(self, node: int) -> NodeFacts:
        """Return what is known of a node, a controller or a broker."""
        registered = (self.controllers or {}).get(node)
        return registered or self.facts.get(node, NodeFacts())

    def replicas(self) -> Iterator[tuple[str, ReplicaState]]:
        """Return the voters and observers of the quorum, each with its role."""
        return roles_of(self.quorum) if self.quorum else iter(())


def roles_of(quorum: QuorumInfo) -> Iterator[tuple[str, ReplicaState]]:
    """Yield the voters and observers, each with its role."""
    for replica in quorum.voters:
        yield LEADER if replica.node_id == quorum.leader else VOTER, replica
    for replica in quorum.observers:
        yield OBSERVER, replica


def age_of(time: int, now: int) -> int | None:
    """Return the ms since a time, at least 0; None for -1, and for a time in the far future."""
    return max(now - time, 0) if 0 <= time <= now + _MOST_AHEAD_MS else None


def _registered(broker: int, state: BrokerState, load: BrokerLoad) -> BrokerDescription:
    """Return the description of a broker from its registration."""
    unfenced = "in-controlled-shutdown" if state["inControlledShutdown"] else "active"
    return BrokerDescription(
        broker,
        FENCED if state["fenced"] else unfenced,
        state["rack"],
        [(end["name"], Address(end["host"], end["port"])) for end in state["endPoints"]],
        [to_text(directory) for directory in state["logDirs"]],
        load.replicas,
        load.leaders,
    )


class KeptAnswers:
    """What is kept between two descriptions of a cluster: its metadata, and what brokers told."""

    def __init__(self) -> None:
        self.image = KeptImage()
        self.state = KeptState()
        self.facts = KeptFacts()


def ask_description(
    target: Target,
    skipped: Callable[[str, AnswerError], None],
    *,
    kept: KeptAnswers | None = None,
    chosen: Chosen = ALL,
) -> ClusterDescription:
    """Ask a cluster for everything; call *skipped* for each part that is not permitted.

    Args:
        target: The cluster.
        skipped: Gets the name of the part, and the error.
        kept: The answers that are kept between descriptions.
        chosen: The brokers that are shown.

    Raises:
        WireError: there is no answer, or another error.
    """
    kept = kept or KeptAnswers()
    with target.connect() as connection:
        questions = _Questions(target, connection, skipped, kept)
        features = api_versions(connection).features
        nodes = questions.nodes()
        live = questions.live_image(nodes)
        quorum = questions.quorum(nodes, live)
        health = questions.health(live)
        marks = questions.marks(live)
    controllers: dict[int, NodeFacts] | None = None
    if live:
        facts, controllers = kept.state.facts(live.image), controller_facts(live.image)
        of_brokers = configs_in(live.image)
        configs: Configs = {broker: of_brokers.get(broker, {}) for broker in facts}
    else:
        facts = kept.facts.of(target, nodes.nodes if nodes else ())
        configs = {
            broker: node_facts.configs
            for broker, node_facts in facts.items()
            if node_facts.configs is not None
        }
    return ClusterDescription(
        is_of_controllers=target.is_of_controllers,
        nodes=nodes,
        quorum=None if isinstance(quorum, WireError) else quorum,
        features=features,
        live=live,
        quorum_error=quorum if isinstance(quorum, WireError) else None,
        health=health,
        facts=facts,
        controllers=controllers,
        chosen=chosen,
        now=time.time_ns() // 1_000_000,
        registered=kept.state,
        configs=configs,
        marks=marks,
    )


@dataclass(frozen=True, slots=True)
class _Questions:
    """The questions to a cluster; the answer is None for a part that is not permitted."""

    target: Target
    connection: Connection
    skipped: Callable[[str, AnswerError], None]
    kept: KeptAnswers

    def _permitted(self, part: str, ask: Callable[[], T], *, any_controller: bool) -> T | None:
        """Return an answer; None, after a call of *skipped*, if it is not permitted.

        With *any_controller*, the leader is not known: another controller may have been asked.
        """
        try:
            return ask()
        except AnswerError as error:
            is_other = any_controller and error.error_code == NOT_LEADER_OR_FOLLOWER
            if error.error_code != CLUSTER_AUTHORIZATION_FAILED and not is_other:
                raise
            self.skipped(part, error)
            return None

    def nodes(self) -> ClusterNodes | None:
        """Ask for the nodes."""
        with_fenced = not self.target.is_of_controllers and lists_fenced(self.connection)
        return self._permitted(
            "the nodes",
            lambda: self.target.nodes(self.connection, with_fenced=with_fenced),
            any_controller=True,
        )

    def live_image(self, nodes: ClusterNodes | None) -> LiveImage | None:
        """Read the metadata log, if the target has controllers."""
        if not self.target.is_of_controllers:
            return None
        any_controller = nodes is None
        return self._permitted(
            "the brokers", lambda: self.kept.image.of(self.target), any_controller=any_controller
        )

    def health(self, live: LiveImage | None) -> Health | None:
        """Count partitions in the metadata log, or ask the broker; None if it does not serve that.

        A broker lists only partitions that the user may describe. If these are none, while there
        may be others, nothing is known of partitions.
        """
        if live:
            return self.kept.state.health(live.image)
        if self.target.is_of_controllers or self.connection.versions_of(_REASSIGNMENTS) is None:
            return None
        health = self._permitted(
            "the partitions", lambda: ask_health(self.connection), any_controller=False
        )
        if health is None or health.partitions or sees_everything(self.connection):
            return health
        self.skipped("the partitions", topics_hidden(self.connection))
        return None

    def marks(self, live: LiveImage | None) -> list[Mark] | None:
        """Ask for the marks of operations."""
        if live:
            return [*marks_in_image(live.image).values()]
        if self.target.is_of_controllers or self.connection.versions_of(_CONFIGS) is None:
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
                return ask_leader(self.connection, self.target.connect_to, describe_quorum)
            if live:  # it was read from the leader
                with self.target.connect_to(live.endpoint) as leader:
                    return describe_quorum(leader)
            return describe_quorum(self.connection)

        try:
            return self._permitted("the quorum", ask, any_controller=nodes is None)
        except (AnswerError, AuthError):
            raise
        except WireError as error:
            if self.target.is_of_controllers:
                raise
            return WireError(
                f"the quorum is not known: {error.message}",
                hint="brokers forward this question to controllers: do these run?",
            )
