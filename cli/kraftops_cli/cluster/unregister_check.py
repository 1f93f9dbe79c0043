"""Check before brokers are unregistered: registered, fenced, and without replicas."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftops.display.sizes import many
from kraftops.display.times import span_text
from kraftops.errors import AnswerError, KraftopsError, RefusedError
from kraftops.image.state.image import MetadataImage
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.rpc import cluster as requests
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.error_codes import BROKER_ID_NOT_REGISTERED, CLUSTER_AUTHORIZATION_FAILED
from kraftops_cli.cluster.broker_ids import ids_text
from kraftops_cli.cluster.broker_states import KeptState, replica_counts

_MAX_TOPICS = 5  # in a message, which stays a line


@dataclass(frozen=True, slots=True)
class Registrations:
    """The brokers of a cluster: whether each is fenced, its rack, and its replicas by topic.

    *fenced* and *replicas* are None if they may not be seen; *missing* is the permission for that.
    Not *is_complete*, fenced brokers are missing. *unchanged_ms* is the least time since the last
    change of each registration, where the metadata log was read; it is not all of the time for
    *inexact* brokers, whose last change only a snapshot has.
    """

    address: str
    cluster_id: str | None
    fenced: Mapping[int, bool] | None = None
    is_complete: bool = False
    replicas: Mapping[int, Counter[str]] | None = None
    missing: str = ""
    racks: Mapping[int, str | None] = field(default_factory=dict)
    unchanged_ms: Mapping[int, int] = field(default_factory=dict)
    inexact: frozenset[int] = frozenset()

    def may_have(self, broker: int) -> bool:
        """Tell whether a broker is registered, or cannot be seen."""
        return self.fenced is None or not self.is_complete or broker in self.fenced

    def not_registered(self, broker: int) -> AnswerError:
        hint = None
        if self.fenced is not None:
            hint = f"registered are: {ids_text(self.fenced) or 'none'}"
        return AnswerError.at(
            self.address,
            f"Broker ID {broker} is not currently registered",
            hint,
            error_code=BROKER_ID_NOT_REGISTERED,
            broker=broker,
        )

    def running(self, broker: int) -> RefusedError:
        return RefusedError(
            f"{self.address}: broker {broker} is running: it is not fenced, and would go on"
            " outside the cluster",
            "stop it first; --force unregisters it nevertheless",
            code="broker-running",
            broker=broker,
        )

    def no_rack(self, rack: str) -> KraftopsError:
        racks = ", ".join(sorted({name for name in self.racks.values() if name is not None}))
        return KraftopsError(
            f"{self.address}: no broker of rack {rack} is registered",
            f"racks are: {racks or 'none'}",
            code="broker-not-registered",
            rack=rack,
        )

    def refusal(self, broker: int) -> RefusedError | None:
        """Refuse a broker that runs, or has replicas, or may: None if nothing needs it."""
        if self.fenced is not None and self.fenced.get(broker) is False:
            return self.running(broker)
        if self.missing:
            return RefusedError(
                f"{self.address}: it cannot be seen whether broker {broker} is still needed:"
                f" that needs {self.missing}",
                "--force unregisters it nevertheless",
                code="broker-not-visible",
                broker=broker,
            )
        topics = (self.replicas or {}).get(broker)
        if not topics:
            return None
        names = sorted(topics)
        first = ", ".join(names[:_MAX_TOPICS]) + (", …" if len(names) > _MAX_TOPICS else "")
        return RefusedError(
            f"{self.address}: broker {broker} still holds {many(topics.total(), 'replica')} of"
            f" {many(len(topics), 'topic')}: {first}",
            "kafka-cluster decommission moves them; --force unregisters it nevertheless",
            code="broker-has-replicas",
            broker=broker,
            replicas=topics.total(),
            topics=dict(sorted(topics.items())),
        )

    def fenced_for(self, least_ms: int) -> tuple[list[int], list[RefusedError]]:
        """Split brokers: fenced for at least *least_ms*, and refusals of those that may be.

        A registration that only a snapshot has changed some time before the snapshot: its age is
        known to be at least that of the snapshot.
        """
        assert self.fenced is not None
        chosen, doubtful = [], []
        for broker, is_fenced in sorted(self.fenced.items()):
            if not is_fenced:
                continue
            if self.unchanged_ms.get(broker, 0) >= least_ms:
                chosen.append(broker)
            elif broker in self.inexact:
                doubtful.append(self._of_unknown_age(broker, least_ms))
        return chosen, doubtful

    def _of_unknown_age(self, broker: int, least_ms: int) -> RefusedError:
        span = span_text(self.unchanged_ms.get(broker, 0))
        return RefusedError(
            f"{self.address}: the log does not tell whether broker {broker} is fenced for"
            f" {span_text(least_ms)}: it tells of {span}, since its newest snapshot",
            "name it with --id, or ask for a shorter time",
            code="broker-age-unknown",
            broker=broker,
        )


def ask_registrations(
    cluster: ClusterConnections, connection: Connection, *, is_forced: bool
) -> Registrations:
    """Ask controllers for their log, or brokers for what they may show of registrations.

    Raises:
        AnswerError: a request fails; with *is_forced*, not that of the metadata log.
    """
    address = str(connection.address)
    if cluster.is_of_controllers:
        cluster_id = _cluster_id(cluster, connection)
        try:
            image = cluster.image()
        except AnswerError as error:
            if error.error_code != CLUSTER_AUTHORIZATION_FAILED and not is_forced:
                raise
            missing = "CLUSTER_ACTION on the cluster"
            return Registrations(address, cluster_id, missing=missing)
        return registrations_of(image, address, cluster_id, now=time.time_ns() // 1_000_000)
    is_complete = requests.lists_fenced(connection)
    answer = cluster.nodes(connection, with_fenced=is_complete)
    replicas = requests.replica_counts(connection)
    is_hidden = not replicas and not requests.sees_everything(connection)
    return Registrations(
        address=address,
        cluster_id=answer.cluster_id,
        fenced={node.node_id: bool(node.is_fenced) for node in answer.nodes},
        is_complete=is_complete,
        replicas=None if is_hidden else replicas,
        missing="DESCRIBE on the topics" if is_hidden else "",
        racks={node.node_id: node.rack for node in answer.nodes},
    )


def registrations_of(
    image: MetadataImage, address: str, cluster_id: str | None, *, now: int
) -> Registrations:
    """Take registrations, and since when they are fenced, from an image; *now* is in ms."""
    states = KeptState().states(image)
    changes = {broker: image.change(image.brokers[broker].newest.address) for broker in states}
    return Registrations(
        address,
        cluster_id,
        {broker: state["fenced"] for broker, state in states.items()},
        is_complete=True,
        replicas=replica_counts(image),
        racks={broker: state["rack"] for broker, state in states.items()},
        unchanged_ms={broker: now - change.timestamp for broker, change in changes.items()},
        inexact=frozenset(broker for broker, change in changes.items() if change.is_upper_bound),
    )


def _cluster_id(cluster: ClusterConnections, connection: Connection) -> str | None:
    """Ask for the id; None where ACLs hide it and no id was expected."""
    try:
        return cluster.nodes(connection).cluster_id
    except AnswerError as error:
        is_hidden = error.error_code == CLUSTER_AUTHORIZATION_FAILED
        if not is_hidden or cluster.endpoints.cluster_id is not None:
            raise
        return None
