"""The parts of a report that come from the metadata log."""

from typing import Literal, NamedTuple, TypeVar

from kraftops.engine.timeline_contract import Loss, Timeline
from kraftops.image.state.broker import BrokerState, broker_status
from kraftops.image.state.health import health_counts
from kraftops.report import document
from kraftops.report.changes import (
    BrokerStep,
    broker_steps,
    cut,
    offset_of,
    timed_changes,
    without_consequences,
)
from kraftops.report.commands import MetadataCommands
from kraftops.report.controllers import controller_bands
from kraftops.report.metadata_log import MetadataLog
from kraftops.storage.bootstrap.releases import by_level
from kraftops.timeline.words import endpoint_text

Worst = TypeVar("Worst", document.WorstPartition, document.WorstTopic)

MOST_BROKERS = 1000  # more than any known cluster has; a page of hostile metadata ends
MOST_SERIES = 8
"""The busiest brokers of each name of series: in a chart of more, lines hide each other."""
_STATES: dict[str, document.BandState] = {
    "active": "active",
    "fenced": "fenced",
    "registered-fenced": "fenced",
    "controlled-shutdown": "controlled-shutdown",
}
_UNREGISTERED: Literal["unregistered"] = "unregistered"
_UNITS = {
    "records": "records",
    "elections": "elections",
    "uncleanElections": "elections",
    "isrShrinks": "changes",
    "isrExpands": "changes",
}
_LEVEL_UNIT = "partitions"


class MetadataPart(NamedTuple):
    """The parts of a report from one metadata log."""

    cluster: document.Cluster
    timeline: document.Timeline | None
    worst: document.Worst
    more: document.More


def metadata_part(
    log: MetadataLog, commands: MetadataCommands, cluster_id: str | None
) -> MetadataPart:
    """Return what a metadata log tells a report.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    timeline = log.timeline
    steps = broker_steps(log.image, timeline.changes)
    own_changes = without_consequences(timeline.changes)
    changes = timed_changes(log.image, own_changes, steps, commands)
    series, series_left_out = _series(timeline)
    more = document.More(
        brokers=max(len(log.image.brokers) - MOST_BROKERS, 0),
        bands=timeline.left_out.get("brokers", 0),
        leadership=log.leaders_left_out,
        series=series_left_out,
        changes=len(own_changes) + sum(timeline.left_out.values()) - len(changes),
        partitions=timeline.partitions_left_out,
        topics=timeline.topics_left_out,
    )
    document_timeline = None
    if timeline.start is not None and timeline.step is not None and timeline.end is not None:
        began = timeline.start if timeline.began is None else timeline.began
        if more.bands:  # the states before the first step that was kept are not known
            began = min((step.time for loss in steps.values() for step in loss), default=began)
        leadership = _leaderships(log, timeline.end, commands)
        buckets = (timeline.end - timeline.start) // timeline.step + 1
        document_timeline = document.Timeline(
            step=timeline.step,
            start=timeline.start,
            end=timeline.start + buckets * timeline.step,
            buckets=buckets,
            bucket_command=commands.bucket(),
            brokers=_bands(log, steps, began, timeline.end, commands),
            controllers=controller_bands(
                log.image, timeline.changes, leadership, (began, timeline.end), commands
            ),
            leadership=leadership,
            series=series,
            changes=changes,
        )
    worst = document.Worst(
        tuple(
            _worst(document.WorstPartition, loss, commands.history(loss.topic, loss.number))
            for loss in timeline.partitions
        ),
        tuple(
            _worst(document.WorstTopic, loss, commands.history(loss.topic))
            for loss in timeline.topics
        ),
    )
    return MetadataPart(_cluster(log, steps, cluster_id), document_timeline, worst, more)


def _cluster(
    log: MetadataLog, steps: dict[int, list[BrokerStep]], cluster_id: str | None
) -> document.Cluster:
    image = log.image
    version = by_level(image.metadata_version[0]) if image.metadata_version else None
    counts = health_counts(image)
    brokers = []
    for broker, entry in sorted(image.brokers.items())[:MOST_BROKERS]:
        state = image.broker_state(entry)
        rack = state["rack"]
        brokers.append(
            document.Broker(
                id=broker,
                rack=None if rack is None else cut(rack),
                state=_band_state(state),
                host=_cut(endpoint_text(state)),
                since=_last_change(steps.get(broker, [])),
            )
        )
    leader = log.leaders[-1].leader if log.leaders else None
    controllers = tuple(
        document.Controller(
            controller, _cut(endpoint_text(image.read(address)[1])), controller == leader
        )
        for controller, address in sorted(image.controllers.items())[:MOST_BROKERS]
    )
    time = image.provenance.timestamp
    return document.Cluster(
        cluster_id=cluster_id,
        metadata_version=version.name if version else None,
        release=version.release if version else None,
        offset=image.offset,
        time=time if time >= 0 else None,
        features=tuple(
            document.Feature(cut(name), level)
            for name, (level, _) in sorted(image.features.items())
        )[:MOST_BROKERS],
        brokers=tuple(brokers),
        controllers=controllers,
        topics=counts.topics,
        partitions=counts.partitions,
        replicas=log.timeline.replicas,
        under_replicated=counts.under_replicated,
        under_min_isr=log.timeline.levels["underMinIsr"],
        offline=counts.leaderless,
    )


def _cut(text: str | None) -> str | None:
    return None if text is None else cut(text)


def _last_change(steps: list[BrokerStep]) -> int | None:
    changed = [
        step.time
        for step in steps
        if _band_state(step.state) != _band_state(step.before) or step.is_registration
    ]
    return changed[-1] if changed else None


def _bands(
    log: MetadataLog,
    steps: dict[int, list[BrokerStep]],
    began: int,
    end: int,
    commands: MetadataCommands,
) -> tuple[document.NodeBands, ...]:
    image = log.image
    bands_by_node = []
    for broker in sorted({*image.brokers, *steps})[:MOST_BROKERS]:
        entry = image.brokers.get(broker)
        state = None if entry is None else image.broker_state(entry, whole=False)
        rack = None if state is None else _cut(state["rack"])
        mine = steps.get(broker, [])
        if mine:
            bands = _bands_of(log, mine, began, end, commands)
        else:
            assert entry is not None
            assert state is not None
            offset = offset_of(image, entry.newest.address)
            command = commands.record(offset)
            bands = [
                document.Band(
                    state=_band_state(state), start=began, end=end, offset=offset, command=command
                )
            ]
        bands_by_node.append(document.NodeBands(broker, rack, tuple(bands)))
    return tuple(bands_by_node)


def _bands_of(
    log: MetadataLog, steps: list[BrokerStep], began: int, end: int, commands: MetadataCommands
) -> list[document.Band]:
    """Return the bands of a broker: from its first step back to the start, and of each change."""
    bands: list[document.Band] = []
    state, since, address = _band_state(steps[0].before), began, None
    is_new = steps[0].before is None and steps[0].is_registration
    for step in [*steps, None]:
        if step is not None and _band_state(step.state) == state and step is not steps[0]:
            continue
        until = end if step is None else max(step.time, since)
        is_known = state != _UNREGISTERED or address is not None
        if is_known and (until > since or step is None):
            if (
                state == "fenced"
                and is_new
                and not any(band.state != _UNREGISTERED for band in bands)
            ):
                state = "starting"  # a broker is fenced until it has caught up: no outage
            offset = offset_of(log.image, address)
            if bands and bands[-1].state == state and bands[-1].end == since:
                last = bands.pop()
                bands.append(
                    document.Band(
                        state=state,
                        start=last.start,
                        end=until,
                        offset=last.offset,
                        command=last.command,
                    )
                )
            else:
                bands.append(
                    document.Band(
                        state=state,
                        start=since,
                        end=until,
                        offset=offset,
                        command=commands.record(offset),
                    )
                )
        if step is not None:
            state, since, address = _band_state(step.state), until, step.address
    return bands


def _band_state(state: BrokerState | None) -> document.BandState:
    return _UNREGISTERED if state is None else _STATES[broker_status(state)]


def _leaderships(
    log: MetadataLog, end: int, commands: MetadataCommands
) -> tuple[document.Leadership, ...]:
    ends = [*(leader.time for leader in log.leaders), end][1:]
    return tuple(
        document.Leadership(
            start=leader.time,
            end=max(until, leader.time),
            leader=leader.leader,
            epoch=leader.epoch,
            offset=leader.offset,
            command=commands.record(leader.offset),
        )
        for leader, until in zip(log.leaders, ends, strict=True)
    )


def _series(timeline: Timeline) -> tuple[tuple[document.Series, ...], int]:
    """Return the total and the busiest brokers' series, and how many brokers are left out."""
    series = []
    left_out = 0
    for name in (*timeline.levels, *_UNITS):
        values = timeline.series.get((name, None), [])
        is_level = name in timeline.levels
        all_together = document.Series(
            name=name,
            unit=_LEVEL_UNIT if is_level else _UNITS[name],
            kind="level" if is_level else "count-per-bucket",
            by=None,
            values=tuple(values),
        )
        series.append(all_together)
        brokers = [
            (broker, values)
            for (series_name, broker), values in timeline.series.items()
            if series_name == name and broker is not None
        ]
        brokers.sort(key=lambda item: (-sum(item[1]), item[0]))
        series += (
            all_together._replace(kind="count-per-bucket", by=broker, values=tuple(values))
            for broker, values in sorted(brokers[:MOST_SERIES])
        )
        left_out += max(len(brokers) - MOST_SERIES, 0)
    return tuple(series), left_out


def _worst(kind: type[Worst], loss: Loss, command: str | None) -> Worst:
    return kind(
        cut(loss.topic),
        loss.number,
        loss.offline,
        loss.under_min_isr,
        loss.under_replicated,
        loss.elections,
        loss.isr_changes,
        loss.is_deleted,
        command,
    )
