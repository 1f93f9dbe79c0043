"""Check before brokers are unregistered: registered, fenced, and without replicas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kraftops.errors import AnswerError, UsageError
from kraftops.wire.rpc import cluster
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.error_codes import BROKER_ID_NOT_REGISTERED, CLUSTER_AUTHORIZATION_FAILED
from kraftops_cli.cluster.broker_states import fenced_by_id, replica_counts
from kraftops_cli.cluster.target import Target

_MAX_TOPICS = 5  # in a message


@dataclass(frozen=True, slots=True)
class Registrations:
    """The brokers of a cluster: whether each is fenced, and its replicas by topic.

    *fenced* and *replicas* are None if they may not be seen; *missing* is the permission for that.
    Not *is_complete*, fenced brokers are missing.
    """

    address: str
    cluster_id: str | None
    fenced: Mapping[int, bool] | None
    is_complete: bool
    replicas: Mapping[int, Counter[str]] | None
    missing: str = ""

    def may_have(self, broker: int) -> bool:
        """Tell whether a broker is registered, or cannot be seen."""
        return self.fenced is None or not self.is_complete or broker in self.fenced

    def not_registered(self, broker: int) -> AnswerError:
        """Return the error of a broker that is not registered."""
        message = f"{self.address}: Broker ID {broker} is not currently registered"
        return self.with_ids(AnswerError(message, error_code=BROKER_ID_NOT_REGISTERED))

    def with_ids(self, error: AnswerError) -> AnswerError:
        """Return an error; the hint of an unregistered broker lists the registered ones."""
        if error.error_code == BROKER_ID_NOT_REGISTERED and self.fenced is not None:
            ids = ", ".join(map(str, sorted(self.fenced))) or "none"
            error.hint = f"registered are: {ids}"
        return error

    def refusal(self, broker: int) -> UsageError | None:
        """Return the reason why a broker must not be unregistered without --force."""
        if self.fenced is not None and self.fenced.get(broker) is False:
            return UsageError(
                f"{self.address}: broker {broker} is running: it is not fenced, and would go on"
                " outside the cluster",
                hint="stop it first; --force unregisters it nevertheless",
            )
        if self.missing:
            return UsageError(
                f"{self.address}: it cannot be seen whether broker {broker} is still needed:"
                f" that needs {self.missing}",
                hint="--force unregisters it nevertheless",
            )
        topics = (self.replicas or {}).get(broker)
        if not topics:
            return None
        names = sorted(topics)
        shown = ", ".join(names[:_MAX_TOPICS]) + (", …" if len(names) > _MAX_TOPICS else "")
        return UsageError(
            f"{self.address}: broker {broker} still holds {topics.total()} replicas of"
            f" {len(topics)} topics: {shown}",
            hint="move them with kafka-reassign-partitions; --force unregisters it nevertheless",
        )


def ask_registrations(target: Target, connection: Connection, *, is_forced: bool) -> Registrations:
    """Return the registrations, as far as they may be seen.

    Raises:
        AnswerError: a request fails; with *is_forced*, not that of the metadata log.
    """
    address, cluster_id = str(connection.address), _cluster_id(target, connection)
    if target.is_of_controllers:
        return _from_metadata_log(target, address, cluster_id, is_forced=is_forced)
    is_complete = cluster.lists_fenced(connection)
    nodes = target.nodes(connection, with_fenced=is_complete).nodes
    fenced = {node.node_id: bool(node.is_fenced) for node in nodes}
    replicas = cluster.replica_counts(connection)
    if not replicas and not cluster.sees_everything(connection):
        missing = "DESCRIBE on the topics"
        return Registrations(address, cluster_id, fenced, is_complete, None, missing)
    return Registrations(address, cluster_id, fenced, is_complete, replicas)


def _from_metadata_log(
    target: Target, address: str, cluster_id: str | None, *, is_forced: bool
) -> Registrations:
    try:
        image = target.live_image().image
    except AnswerError as error:
        if error.error_code != CLUSTER_AUTHORIZATION_FAILED and not is_forced:
            raise
        missing = "CLUSTER_ACTION on the cluster"
        return Registrations(
            address, cluster_id, None, is_complete=False, replicas=None, missing=missing
        )
    return Registrations(
        address,
        cluster_id,
        fenced_by_id(image),
        is_complete=True,
        replicas=replica_counts(image),
    )


def _cluster_id(target: Target, connection: Connection) -> str | None:
    """Return the id of the cluster; None if it may not be seen."""
    try:
        return target.nodes(connection).cluster_id
    except AnswerError as error:
        if error.error_code != CLUSTER_AUTHORIZATION_FAILED or target.expected_id is not None:
            raise
        return None
