"""What `kafka-cluster describe` answers: brokers, quorum, features, counts of partitions."""

from collections.abc import Callable, Iterable, Sequence

from kraftops.answers.fields import (
    Answer,
    Field,
    boolean,
    number,
    numbers,
    part,
    parts,
    size,
    text,
    texts,
    time,
)
from kraftops.display import columns
from kraftops.display.columns import Cell, Styled
from kraftops.display.sizes import size_text
from kraftops.display.times import span_text
from kraftops.reassign.answer import OPERATION
from kraftops.storage.bootstrap.releases import METADATA_VERSION, by_level
from kraftops.uuids import to_text
from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.cluster import Feature
from kraftops_cli.cluster.broker_states import state_cell
from kraftops_cli.cluster.description import BrokerSettings, age_of


def level_text(feature: str, level: int) -> str:
    name = level_name(feature, level)
    return f"{level} ({name})" if name else str(level)


def finalized_levels(features: Iterable[Feature]) -> dict[str, str]:
    return {
        feature.name: level_text(feature.name, feature.finalized)
        for feature in features
        if feature.finalized is not None
    }


def level_name(feature: str, level: int | None) -> str | None:
    """Name a level of metadata.version (`4.3-IV0`); other features have numbers only."""
    version = by_level(level) if feature == METADATA_VERSION and level is not None else None
    return version.name if version else None


def ago_text(age: int) -> str:
    """Round an age in ms down to whole seconds; below one it is `now`."""
    return f"{span_text(age // 1000 * 1000)} ago" if age >= 1000 else "now"


def _age_text(age: int | None) -> str | None:
    return None if age is None else ago_text(age)


def _known(number: int) -> int | None:
    """Replace Kafka's -1, which means unknown, by None."""
    return number if number >= 0 else None


def _failed_cell(failed: Sequence[str] | None) -> Cell:
    if not failed:
        return None if failed is None else "none"
    return Styled(", ".join(failed), "bad")


def _settings_cell(settings: BrokerSettings | None) -> Cell:
    if settings is None:
        return None
    words = [
        "leaving" if settings.is_leaving else "",
        "cordoned" if settings.is_cordoned else "",
        f"throttled {size_text(settings.throttle)}/s" if settings.throttle is not None else "",
    ]
    text = ", ".join(filter(None, words))
    return Styled(text, "warning") if text else "none"


def _listener_text(listeners: Sequence[tuple[str, Address]]) -> str | None:
    named = [f"{name}://{address}" if name else str(address) for name, address in listeners]
    return ", ".join(named) or None


_LISTENER = (
    text(
        "name?",
        "name of the listener; a broker does not tell it",
        get=lambda listener: listener[0] or None,
    ),
    text("host", "host, as it is advertised", get=lambda listener: listener[1].host),
    number("port", "port", get=lambda listener: listener[1].port),
)
_RELEASE = text("release?", "release (4.3), by its features and APIs", column=("RELEASE", 4))


def _listeners(help_text: str) -> Field:
    return parts(
        "listeners",
        help_text,
        _LISTENER,
        column=columns.folded("LISTENERS", 3),
        cell=lambda node: _listener_text(node.listeners),
    )


def _level_name(name: str, level: Callable[[Feature], int | None]) -> Field:
    return text(
        name,
        "name of that level, of metadata.version",
        get=lambda feature: level_name(feature.name, level(feature)),
    )


FEATURE = (
    text("name", "name of the feature", column="FEATURE"),
    number(
        "finalized?",
        "finalized level",
        column=columns.Column("FINALIZED"),
        cell=lambda feature: (
            None if feature.finalized is None else level_text(feature.name, feature.finalized)
        ),
    ),
    _level_name("finalizedName?", lambda feature: feature.finalized),
    number(
        "min?",
        "lowest level that the server supports",
        column=columns.Column("SUPPORTED"),
        get="supported.first",
        cell=lambda feature: (
            feature.supported and f"{feature.supported.first}-{feature.supported.last}"
        ),
    ),
    _level_name("minName?", lambda feature: feature.supported and feature.supported.first),
    number("max?", "highest level that the server supports", get="supported.last"),
    _level_name("maxName?", lambda feature: feature.supported and feature.supported.last),
)
"""The fields of a feature of a server."""

BROKER = (
    number("id", "broker id", column="BROKER"),
    text(
        "state",
        "state of its registration",
        values=("active", "in-controlled-shutdown", "registered-fenced"),
        column="STATE",
        cell=lambda broker: state_cell(broker.state),
    ),
    text("rack?", "broker.rack", column=columns.folded("RACK", 1)),
    _RELEASE,
    number("leaders?", "partitions that it leads", column=("LEADERS", 2)),
    number("replicas?", "replicas on it", column=("REPLICAS", 2)),
    number("lag?", "records of the metadata log that it lacks", column=("LAG", 1)),
    number(
        "lastCaughtUpAgeMs?",
        "ms since it had all of them",
        column=columns.Column("CAUGHT UP", 3),
        get="behind_ms",
        cell=lambda broker: _age_text(broker.behind_ms),
    ),
    boolean("isLeaving?", "whether a decommission of it has begun", get="settings.is_leaving"),
    boolean(
        "isCordoned?",
        "whether it has a cordon: it gets no new partitions",
        column=("SETTINGS", 2),
        get="settings.is_cordoned",
        cell=lambda broker: _settings_cell(broker.settings),
    ),
    size(
        "throttle?", "bytes a second to which its replication is throttled", get="settings.throttle"
    ),
    _listeners("advertised listeners"),
    texts(
        "directories?",
        "ids of its log directories",
        column=columns.folded("DIRECTORIES", 6),
        cell=lambda broker: ", ".join(broker.directories or ()) or None,
    ),
    texts(
        "failedDirectories?",
        "paths or ids of log directories that are offline",
        column=columns.folded("FAILED DIRECTORIES", 5),
        get="failed",
        cell=lambda broker: _failed_cell(broker.failed),
    ),
)
"""The fields of a broker."""

REPLICA = (
    number("id", "node id", column="NODE", get="state.node_id"),
    text(
        "role",
        "role in the quorum",
        values=("leader", "voter", "observer"),
        column="ROLE",
        cell=lambda replica: Styled(replica.role, "name" if replica.role == "leader" else ""),
    ),
    _RELEASE,
    number("endOffset?", "end of its log", column=("END OFFSET", 2)),
    number("lag?", "records behind the longest log", column="LAG"),
    time(
        "lastFetchTimestamp?",
        "time of its last fetch, by the leader's clock",
        get=lambda replica: _known(replica.state.fetched_at),
    ),
    number(
        "lastFetchAgeMs?",
        "ms since that time",
        get=lambda replica: age_of(replica.state.fetched_at, replica.now),
    ),
    time(
        "lastCaughtUpTimestamp?",
        "last time when it had all records, by the leader's clock",
        get=lambda replica: _known(replica.state.caught_up_at),
    ),
    number(
        "lastCaughtUpAgeMs?",
        "ms since that time",
        column=columns.Column("CAUGHT UP", 1),
        get=lambda replica: age_of(replica.state.caught_up_at, replica.now),
        cell=lambda replica: _age_text(age_of(replica.state.caught_up_at, replica.now)),
    ),
    _listeners("listeners, of a voter"),
    text(
        "directoryId?",
        "id of its metadata directory",
        column=("DIRECTORY", 5),
        get=lambda replica: replica.state.directory_id and to_text(replica.state.directory_id),
    ),
)
"""The fields of a voter or observer."""

_QUORUM = (
    number("leader", "node id of the leader"),
    number("epoch", "epoch of the leader", get="quorum.epoch"),
    number("highWatermark", "offset after the last committed record", get="quorum.high_watermark"),
    parts("replicas", "voters and observers", REPLICA, get="members"),
)
_SNAPSHOT = (
    number(
        "endOffset?",
        "offset after its last record; null without a snapshot",
        get="snapshot.end_offset",
    ),
    number("epoch?", "epoch of that record", get="snapshot.epoch"),
    number("lag", "records after it", get="snapshot_lag"),
)
_REASSIGNMENT = (
    text("topic", "topic", get=lambda moving: moving[0].topic),
    number("partition", "number of the partition", get=lambda moving: moving[0].number),
    numbers("replicas", "all its replicas", get=lambda moving: [*moving[1].replicas]),
    numbers("adding", "replicas that are added", get=lambda moving: [*moving[1].adding]),
    numbers("removing", "replicas that are removed", get=lambda moving: [*moving[1].removing]),
)
_PARTITIONS = (
    number("count", "partitions that the user may describe", get="counts.partitions"),
    number(
        "underReplicated", "partitions with replicas out of sync", get="counts.under_replicated"
    ),
    number("offline", "partitions without a leader", get="counts.offline"),
    number(
        "underMinIsr",
        "partitions with an ISR below min.insync.replicas",
        get="counts.under_min_isr",
    ),
    boolean(
        "isMinIsrAssumed",
        "whether the default of min.insync.replicas is unknown, and assumed to be 1",
    ),
    parts(
        "reassignments",
        "reassignments in flight",
        _REASSIGNMENT,
        get=lambda health: health.moving.items(),
    ),
)
_CONTROLLER = (
    number("id", "node id", get=lambda controller: controller[0]),
    text(
        "release?",
        "release (4.3), by its features",
        get=lambda controller: controller[1].release,
    ),
    parts("features", "features", FEATURE, get=lambda controller: controller[1].features),
)
DESCRIPTION = Answer(
    (
        time("time", "time of the description", get="now"),
        text("clusterId?", "cluster id"),
        part(
            "quorum?",
            "quorum of the metadata log",
            _QUORUM,
            get=lambda cluster: cluster if cluster.quorum else None,
        ),
        part(
            "snapshot?",
            "newest snapshot of the metadata log",
            _SNAPSHOT,
            get=lambda cluster: None if cluster.snapshot_lag is None else cluster,
        ),
        part("partitions?", "counts of partitions", _PARTITIONS, get="health"),
        parts("brokers?", "the brokers, or those that --id, --rack and --fenced choose", BROKER),
        parts(
            "operations?",
            "operations that are under way; their bytes are told by the command operations",
            OPERATION,
        ),
        parts(
            "controllers?",
            "registered controllers",
            _CONTROLLER,
            get=lambda cluster: (
                None if cluster.controllers is None else cluster.controllers.items()
            ),
        ),
        parts("features", "features of the server that was asked", FEATURE),
    ),
    help="A field is null if the node that was asked does not know it, or the user may not see it.",
)
