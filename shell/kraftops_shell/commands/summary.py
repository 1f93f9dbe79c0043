"""The command summary."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from kraftops.display.columns import Column, folded
from kraftops.display.times import span_text, time_fields
from kraftops.errors import KraftopsError
from kraftops.image.load.log_size import log_size
from kraftops.image.state.health import health_counts
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.below import below_findings
from kraftops.server.nearby import cluster_id_near
from kraftops.storage.bootstrap.releases import by_level
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.session.session import Session
from kraftops_terminal.tables import Table, print_table


def summary(session: Session, call: Call) -> None:
    """Print the identity and health of the cluster, and the size of its log."""
    source = session.source
    fields = {"clusterId": cluster_id_near(source.sources), **_state(source.image, source.sources)}
    try:
        fields |= _log(source.sources, source.now()) if source.sources else {}
    except KraftopsError as error:  # the state is known all the same
        session.print_error(f"summary: {error.message}", code=error.code)
    if call.is_json:
        session.begin_json(call).put_fields(fields)
        return
    rows = [
        (label, format_field(fields[name]))
        for name, label, format_field in _LINES
        if fields.get(name) is not None
    ]
    print_table(session.table_console, Table((Column("field"), folded("value")), rows))


def _brokers(counts: object) -> str:
    assert isinstance(counts, Mapping)
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "none"


_LINES: tuple[tuple[str, str, Callable[[object], str]], ...] = (
    ("clusterId", "cluster id", str),
    ("metadataVersion", "metadata version", str),
    ("offset", "offset", str),
    ("timestamp", "time", str),
    ("leaderEpoch", "leader epoch", str),
    ("brokers", "brokers", _brokers),
    ("controllers", "controllers", str),
    ("topics", "topics", str),
    ("partitions", "partitions", str),
    ("underReplicated", "under-replicated", str),
    ("leaderless", "leaderless", str),
    ("findings", "findings", str),
    ("segments", "segments", str),
    ("segmentBytes", "bytes of segments", str),
    ("snapshots", "snapshots", str),
    ("snapshotBytes", "bytes of snapshots", str),
    ("logEndOffset", "end of the log", str),
    ("snapshotEndOffset", "end of newest snapshot", str),
    ("snapshotTimestamp", "time of newest snapshot", str),
    ("snapshotAgeMs", "age of newest snapshot", lambda age: span_text(int(str(age)))),
    ("snapshotOffsetLag", "snapshot offset lag", str),
)
"""Name, label and text of each field; the JSON has the same fields."""


def _state(image: MetadataImage, sources: Sequence[str]) -> dict[str, object]:
    counts = health_counts(image)
    metadata_version = by_level(image.metadata_version[0]) if image.metadata_version else None
    time = image.provenance.timestamp
    below = sum(1 for _ in below_findings(image, sources))
    return {
        "metadataVersion": metadata_version.name if metadata_version else None,
        "offset": image.offset,
        **time_fields("timestamp", time if time >= 0 else None),
        "leaderEpoch": image.provenance.epoch,
        "brokers": counts.brokers,
        "controllers": counts.controllers,
        "topics": counts.topics,
        "partitions": counts.partitions,
        "underReplicated": counts.under_replicated,
        "leaderless": counts.leaderless,
        "findings": len(image.log_findings) + len(image.record_findings) + below,
    }


def _log(sources: Iterable[str], now: int) -> dict[str, object]:
    size = log_size(sources)
    time = size.snapshot_timestamp
    return {
        "segments": size.segments,
        "segmentBytes": size.segment_bytes,
        "snapshots": size.snapshots,
        "snapshotBytes": size.snapshot_bytes,
        "logEndOffset": size.end_offset,
        "snapshotEndOffset": size.snapshot_end_offset,
        **time_fields("snapshotTimestamp", time),
        "snapshotAgeMs": None if time is None else now - time,
        "snapshotOffsetLag": size.lag,
    }
