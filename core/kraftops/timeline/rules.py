"""The causes of incidents, and the rules by which the log tells them apart."""

from collections.abc import Callable
from typing import NamedTuple

from kraftops.timeline.tracking import Tracked

TOGETHER = 10_000
"""ms within which brokers that are fenced have one cause: broker.session.timeout.ms is 9 s, so one
event is seen over that time."""
FLAPS = 3
"""Times that a broker is fenced: twice may be chance."""
FLAPPING_PAUSE = 30_000
"""ms after which a broker that was back in sync is fenced by something new: three sessions."""
CONFIG_BEFORE = 3_600_000
"""ms before an incident in which a change of min.insync.replicas counts as its reason."""
RECREATED = 3_600_000
"""ms within which a topic is created again: clients still use the old id."""


# Causes that the code names.
DIRECTORY_FAILED = "directory-failed"
FLAPPING = "flapping"
RACK = "rack"
FENCED = "fenced"
SLOW_REPLICAS = "slow-replicas"
CONTROLLER_FAILOVER = "controller-failover"
REASSIGNED = "reassignment"
CREATED_AGAIN = "topic-created-again"
FEATURE_CHANGED = "feature-changed"


class Rule(NamedTuple):
    """A cause: its name in JSON, what happened in words, why the log shows that, and the test."""

    cause: str
    words: str
    reason: str
    applies: Callable[[Tracked], bool]


def _begun_as(cause: str) -> Callable[[Tracked], bool]:
    return lambda incident: incident.cause == cause


RULES = (
    Rule(
        DIRECTORY_FAILED,
        "lost a log directory",
        "A heartbeat with offline directories makes the controller take them out of logDirs of the"
        " registration (ReplicationControlManager.handleDirectoriesOffline)",
        _begun_as(DIRECTORY_FAILED),
    ),
    Rule(
        "unregistered",
        "left the cluster: unregistered after going away",
        "A client removed the registration of each, as at the end of a decommission, while it was"
        " away (UnregisterBrokerRecord)",
        lambda incident: bool(incident.falls) and incident.unregistered >= incident.brokers.keys(),
    ),
    Rule(
        "bad-configuration",
        "stopped cleanly after min.insync.replicas was set too high",
        "Partitions fell below the min.insync.replicas that was set shortly before, and needed all"
        " their replicas: no broker may stop then",
        lambda incident: incident.is_in_order and incident.config is not None,
    ),
    Rule(
        "rolling-restart",
        "were restarted one after another",
        "All stopped cleanly, each within minutes of the one before",
        lambda incident: (
            incident.is_in_order and len(incident.brokers) > 1 and not incident.overlaps
        ),
    ),
    Rule(
        "stopped-together",
        "stopped cleanly, more than one of them at a time",
        "All stopped cleanly, and some stopped before others were back: partitions with all their"
        " replicas among them had no leader",
        lambda incident: incident.is_in_order and incident.overlaps,
    ),
    Rule(
        "stopped",
        "stopped cleanly",
        "A heartbeat with wantShutDown sets inControlledShutdown before the broker is fenced"
        " (BrokerHeartbeatManager)",
        lambda incident: incident.is_in_order and bool(incident.away or not incident.registered),
    ),
    Rule(
        "restarted",
        "was restarted cleanly",
        "It stopped cleanly, and registered again with another broker epoch",
        lambda incident: incident.is_in_order,
    ),
    Rule(
        FLAPPING,
        "was fenced again and again",
        "It was fenced several times, each time soon after it had been back",
        lambda incident: len(incident.falls) - len(incident.brokers) >= FLAPS - 1,
    ),
    Rule(
        RACK,
        "were lost with their rack",
        "All brokers of a rack were fenced together, and those of other racks were not",
        lambda incident: bool(incident.falls) and incident.is_rack,
    ),
    Rule(
        "several-brokers",
        "were fenced together",
        "They were fenced within one session timeout of brokers",
        lambda incident: bool(incident.falls) and len(incident.brokers) > 1,
    ),
    Rule(
        "crashed",
        "ended without a controlled shutdown, and was started again",
        "It was fenced without having asked to stop, and came back with another broker epoch, as a "
        "new process does",
        lambda incident: bool(incident.falls and incident.registered and not incident.away),
    ),
    Rule(
        "cut-off",
        "was cut off from the controllers, or paused",
        "It was fenced, and unfenced with the same broker epoch: its process lived on, but its"
        " heartbeats did not arrive in time",
        lambda incident: bool(incident.falls) and not incident.away,
    ),
    Rule(
        FENCED,
        "was fenced, and is not back",
        "Its session ended without a controlled shutdown; only its return will tell whether the"
        " process lives",
        lambda incident: bool(incident.falls),
    ),
    Rule(
        SLOW_REPLICAS,
        "fell behind as a follower",
        "Leaders took it out of ISRs although it was not fenced (replica.lag.time.max.ms)",
        _begun_as(SLOW_REPLICAS),
    ),
    Rule(
        CONTROLLER_FAILOVER,
        "became leader of the quorum",
        "A control record of a new epoch names another leader",
        _begun_as(CONTROLLER_FAILOVER),
    ),
    Rule(
        REASSIGNED,
        "were moved to other replicas",
        "A client asked for other replicas of partitions",
        _begun_as(REASSIGNED),
    ),
    Rule(
        CREATED_AGAIN,
        "was deleted and created again",
        "A topic of the same name has another id: clients and groups that know the old id fail",
        _begun_as(CREATED_AGAIN),
    ),
    Rule(
        FEATURE_CHANGED,
        "was set while the cluster ran",
        "A feature has another level than before: brokers use other protocols from then on, and"
        " some levels cannot be lowered again (KIP-584)",
        _begun_as(FEATURE_CHANGED),
    ),
)
"""In the order in which they are tried: the first that applies is the cause."""
WORDS = {rule.cause: rule.words for rule in RULES}
