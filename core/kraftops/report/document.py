"""The document of a report: plain values, bounded in number, with secrets left out.

Times are in ms since the epoch. `as_data` turns it into the JSON of `report.v2.json`. Where a list
was cut, `Report.more` has the number of entries that are not in it.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from kraftops.answers.fields import json_of
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Finding
from kraftops.query.row import camel_case
from kraftops.timeline.answer import INCIDENT
from kraftops.timeline.incidents import Incident

BandState = Literal[
    "active",
    "starting",
    "fenced",
    "controlled-shutdown",
    "unregistered",
    "leader",
    "follower",
    "down",
]
ChangeWord = Literal[
    "topic-created",
    "topic-deleted",
    "config",
    "acl",
    "feature",
    "quota",
    "scram",
    "token",
    "broker",
    "controller",
]


class ReportSource(NamedTuple):
    """A log that was read; *known_since* is when its oldest state is from, if that is a snapshot's.

    *kind* is the decoder of its records; *damage* counts places that could not be read.
    """

    name: str
    kind: str
    records: int
    bytes: int
    first_offset: int | None
    last_offset: int | None
    first_time: int | None
    last_time: int | None
    known_since: int | None
    damage: int


class Window(NamedTuple):
    """The span of time of the report, *until* exclusive; None where it is open."""

    since: int | None
    until: int | None


class Feature(NamedTuple):
    """A feature of the cluster and its level."""

    name: str
    level: int


class Broker(NamedTuple):
    """A broker at the end; *since* is the time of the last change of its state."""

    id: int
    rack: str | None
    state: str
    host: str | None
    since: int | None


class Controller(NamedTuple):
    """A registered controller; *is_leader* at the end of the log."""

    id: int
    host: str | None
    is_leader: bool


class Cluster(NamedTuple):
    """The cluster at the end of the window, and the numbers of its partitions in trouble."""

    cluster_id: str | None
    metadata_version: str | None
    release: str | None
    offset: int
    time: int | None
    features: tuple[Feature, ...]
    brokers: tuple[Broker, ...]
    controllers: tuple[Controller, ...]
    topics: int
    partitions: int
    replicas: int
    under_replicated: int
    under_min_isr: int
    offline: int


class Band(NamedTuple):
    """A state of a node from one time to another; *offset* of the record that began it."""

    state: BandState
    start: int
    end: int
    offset: int | None
    command: str | None


class NodeBands(NamedTuple):
    """The states of a node, in order of time; they begin late where earlier ones are left out."""

    id: int
    rack: str | None
    bands: tuple[Band, ...]


class Leadership(NamedTuple):
    """The time of a leader of the quorum; *epoch* is its leader epoch."""

    start: int
    end: int
    leader: int
    epoch: int
    offset: int
    command: str | None


class Series(NamedTuple):
    """Numbers over time, one a bucket: counts in the bucket, or the highest level in it.

    *by* is the id of a broker, None for all together. Values end early where the rest is 0.
    """

    name: str
    unit: str
    kind: Literal["count-per-bucket", "level"]
    by: int | None
    values: tuple[int, ...]


class TimedChange(NamedTuple):
    """A change of the metadata; *what* names the entry, *before* and *after* are texts.

    *is_bootstrap* if the first leader wrote it because the format of the cluster says so.
    *likely_principals* may have asked for it, by the log of Kafka's authorizer.
    """

    time: int
    offset: int
    kind: ChangeWord
    what: str
    before: str | None
    after: str | None
    topic: str | None
    is_bootstrap: bool
    command: str | None
    likely_principals: tuple[str, ...] = ()


class Timeline(NamedTuple):
    """What happened to the cluster: *buckets* of *step* ms from *start* on, *end* exclusive.

    *bucket_command* shows the records of a bucket: `{from}` and `{to}` in it stand for its start
    and its end, exclusive, in ms since the epoch.
    """

    step: int
    start: int
    end: int
    buckets: int
    bucket_command: str | None
    brokers: tuple[NodeBands, ...]
    controllers: tuple[NodeBands, ...]
    leadership: tuple[Leadership, ...]
    series: tuple[Series, ...]
    changes: tuple[TimedChange, ...]


class TimedIncident(NamedTuple):
    """An incident, and the command that lists its changes."""

    incident: Incident
    command: str | None


class WorstPartition(NamedTuple):
    """What a partition lost: ms offline, under its min ISR and under-replicated; its changes."""

    topic: str
    partition: int
    offline_ms: int
    under_min_isr_ms: int
    under_replicated_ms: int
    elections: int
    isr_changes: int
    is_deleted: bool
    command: str | None


class WorstTopic(NamedTuple):
    """What the partitions of a topic lost together, and how many of them lost something."""

    topic: str
    partitions: int
    offline_ms: int
    under_min_isr_ms: int
    under_replicated_ms: int
    elections: int
    isr_changes: int
    is_deleted: bool
    command: str | None


class Worst(NamedTuple):
    """The partitions and topics that lost most, the worst first."""

    partitions: tuple[WorstPartition, ...]
    topics: tuple[WorstTopic, ...]


class Sizes(NamedTuple):
    """Sizes of batches in bytes; *counts* has how many batches are at least as large as *starts*.

    Each is below the next start.
    """

    min: int | None
    p50: int | None
    p99: int | None
    max: int | None
    starts: tuple[int, ...]
    counts: tuple[int, ...]


class CodecUse(NamedTuple):
    """The use of a codec: batches, and bytes of their records as stored and inflated."""

    codec: str
    batches: int
    compressed_bytes: int
    uncompressed_bytes: int


class LogSeries(NamedTuple):
    """Numbers of a log over time: *values* by buckets of *step* ms from *start* on."""

    name: str
    unit: str
    step: int
    start: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gaps:
    """Offsets that no record has: how many gaps, and how many offsets."""

    count: int
    offsets: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are not a readable batch, and records that cannot be decoded; the first place."""

    count: int
    bytes: int
    undecodable: int
    first_file: str | None
    first_position: int | None
    first_reason: str | None


class Log(NamedTuple):
    """A log: one partition, or files without a topic; *bucket_command* as that of `Timeline`."""

    topic: str | None
    partition: int | None
    directory: str | None
    kind: str
    segments: int
    records: int
    batches: int
    bytes: int
    first_offset: int | None
    last_offset: int | None
    first_time: int | None
    last_time: int | None
    sizes: Sizes
    codecs: tuple[CodecUse, ...]
    gaps: Gaps
    damage: Damage
    open_transactions: int
    series: tuple[LogSeries, ...]
    command: str | None
    bucket_command: str | None


class Group(NamedTuple):
    """A consumer group: *lag* in records over partitions whose logs were read too."""

    name: str
    state: str | None
    members: int | None
    partitions: int
    lag: int | None
    last_commit: int | None
    command: str | None


class OpenTransaction(NamedTuple):
    """A transaction that has not ended in the log."""

    transactional_id: str | None
    producer_id: int
    producer_epoch: int | None
    topic: str | None
    partition: int | None
    first_offset: int | None
    since: int | None
    command: str | None


class Moment(NamedTuple):
    """A place in a log and its time, as far as they are known."""

    time: int | None
    offset: int | None


class More(NamedTuple):
    """How many entries each list has left out."""

    sources: int = 0
    brokers: int = 0
    bands: int = 0
    leadership: int = 0
    series: int = 0
    changes: int = 0
    partitions: int = 0
    topics: int = 0
    logs: int = 0
    groups: int = 0
    transactions: int = 0
    findings: int = 0
    incidents: int = 0


class Report(NamedTuple):
    """A report; without a metadata log *story*, *cluster* and *timeline* are None.

    *folder* is the name of the folder where the commands run; without one, they run anywhere.
    """

    title: str
    generated_at: int
    generator: str
    sources: tuple[ReportSource, ...]
    folder: str | None
    window: Window
    story: str | None
    incidents: tuple[TimedIncident, ...]
    cluster: Cluster | None
    timeline: Timeline | None
    worst: Worst
    logs: tuple[Log, ...]
    groups: tuple[Group, ...]
    transactions: tuple[OpenTransaction, ...]
    findings: tuple[Finding, ...]
    more: More


_SPAN_NAMES = {"start": "from", "end": "to"}


def as_data(value: Report | Finding) -> dict[str, object]:
    """Return the fields of a report, or a part of it, as plain data for JSON."""
    data = _plain(value)
    assert isinstance(data, dict)
    return data


def json_name(kind: type, name: str) -> str:
    """Return the name in JSON of a field of a part of a report."""
    is_span = kind in (Band, Leadership)
    return (is_span and _SPAN_NAMES.get(name)) or camel_case(name)


def _plain(value: object) -> object:
    if isinstance(value, Finding):
        return json_of(FINDING, value)
    if isinstance(value, TimedIncident):
        return {**json_of(INCIDENT, value.incident), "command": value.command}
    kind = type(value)
    names: tuple[str, ...] | None = getattr(kind, "__match_args__", None)
    if names is not None:
        return {json_name(kind, name): _plain(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        is_of_numbers = value and isinstance(value[0], int)
        return list(value) if is_of_numbers else [_plain(member) for member in value]
    return value
