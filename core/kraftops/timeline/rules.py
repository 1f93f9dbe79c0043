"""The causes of incidents, and the rules by which the log tells them apart."""

from __future__ import annotations

from typing import NamedTuple

TOGETHER = 10_000
"""ms within which brokers that are fenced have one cause: broker.session.timeout.ms is 9 s, so one
event is seen over that time."""
FLAPPING = 3
"""Times that a broker is fenced: twice may be chance."""
FLAPPING_PAUSE = 30_000
"""ms after which a broker that was back in sync is fenced by something new: three sessions."""
ROLLING = 300_000
"""ms between the stops of a rolling restart: a broker that loads many partitions takes minutes."""
CONFIG_BEFORE = 3_600_000
"""ms before an incident in which a change of min.insync.replicas counts as its reason."""
CREATED_AGAIN = 3_600_000
"""ms within which a topic is created again: clients still use the old id."""


class Rule(NamedTuple):
    """A cause: its name in JSON, what happened in words, and why the log shows just that."""

    cause: str
    words: str
    reason: str


RULES = (
    Rule(
        "directory-failed",
        "lost a log directory",
        "A heartbeat with offline directories makes the controller take them out of logDirs of the"
        " registration (ReplicationControlManager.handleDirectoriesOffline)",
    ),
    Rule(
        "unregistered",
        "left the cluster: unregistered after going away",
        "A client removed the registration of each, as at the end of a decommission, while it was"
        " away (UnregisterBrokerRecord)",
    ),
    Rule(
        "bad-configuration",
        "stopped cleanly after min.insync.replicas was set too high",
        "Partitions fell below the min.insync.replicas that was set shortly before, and needed all"
        " their replicas: no broker may stop then",
    ),
    Rule(
        "rolling-restart",
        "were restarted one after another",
        "All stopped cleanly, each within minutes of the one before",
    ),
    Rule(
        "stopped-together",
        "stopped cleanly, more than one of them at a time",
        "All stopped cleanly, and some stopped before others were back: partitions with all their"
        " replicas among them had no leader",
    ),
    Rule(
        "stopped",
        "stopped cleanly",
        "A heartbeat with wantShutDown sets inControlledShutdown before the broker is fenced"
        " (BrokerHeartbeatManager)",
    ),
    Rule(
        "restarted",
        "was restarted cleanly",
        "It stopped cleanly, and registered again with another broker epoch",
    ),
    Rule(
        "flapping",
        "was fenced again and again",
        "It was fenced several times, each time soon after it had been back",
    ),
    Rule(
        "rack",
        "were lost with their rack",
        "All brokers of a rack were fenced together, and those of other racks were not",
    ),
    Rule(
        "several-brokers",
        "were fenced together",
        "They were fenced within one session timeout of brokers",
    ),
    Rule(
        "crashed",
        "ended without a controlled shutdown, and was started again",
        "It was fenced without having asked to stop, and came back with another broker epoch: a new"
        " process registers anew",
    ),
    Rule(
        "cut-off",
        "was cut off from the controllers, or paused",
        "It was fenced, and unfenced with the same broker epoch: its process lived on, but its"
        " heartbeats did not arrive in time",
    ),
    Rule(
        "fenced",
        "was fenced, and is not back",
        "Its session ended without a controlled shutdown; only its return will tell whether the"
        " process lives",
    ),
    Rule(
        "slow-replicas",
        "fell behind as a follower",
        "Leaders took it out of ISRs although it was not fenced (replica.lag.time.max.ms)",
    ),
    Rule(
        "controller-failover",
        "became leader of the quorum",
        "A control record of a new epoch names another leader",
    ),
    Rule(
        "reassignment",
        "were moved to other replicas",
        "A client asked for other replicas of partitions",
    ),
    Rule(
        "topic-created-again",
        "was deleted and created again",
        "A topic of the same name has another id: clients and groups that know the old id fail",
    ),
    Rule(
        "feature-changed",
        "was set while the cluster ran",
        "A feature has another level than before: brokers use other protocols from then on, and"
        " some levels cannot be lowered again (KIP-584)",
    ),
)
"""In the order in which they are tried."""
WORDS = {rule.cause: rule.words for rule in RULES}
