"""The parts of a report that come from summaries: of logs of users, groups and transactions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kraftops.dump.summary.logs import Log as LogKey
from kraftops.dump.summary.logs import fields_of, open_transactions
from kraftops.dump.summary.sketches import Distribution, TimeHistogram
from kraftops.dump.summary.summary import Summary
from kraftops.fileio.mounts import archive_of
from kraftops.log.codecs import CODECS
from kraftops.log.streams import OpenName
from kraftops.report import document
from kraftops.report.changes import cut
from kraftops.report.commands import bucket_of_log, of_log

# Rows of a page: more are not read one by one. The page counts those that it leaves out, and
# `dump-log --summary` has them all.
MOST_LOGS = 200
MOST_GROUPS = 200
MOST_TRANSACTIONS = 200
MOST_SOURCES = 500


class LogsPart(NamedTuple):
    """The parts of a report from the summaries of logs."""

    sources: tuple[document.ReportSource, ...]
    logs: tuple[document.Log, ...]
    groups: tuple[document.Group, ...]
    transactions: tuple[document.OpenTransaction, ...]
    more: document.More


def logs_part(
    summaries: Mapping[LogKey, Summary],
    known_since: Mapping[str, int | None],
    folder: str | None,
) -> LogsPart:
    """Return what summaries tell a report; *known_since* is by decoder.

    Commands name files from *folder* on.
    """
    fields = fields_of(summaries, are_rows=True)
    order = sorted(summaries, key=lambda log: _rank(log, summaries[log]))
    sources = [_source(log, summaries[log], known_since) for log in order]
    logs = [_log(log, summaries[log], fields[log], folder) for log in order[:MOST_LOGS]]
    newest = _newest_copies(fields)
    groups = sorted(_groups(newest, folder), key=lambda group: (-(group.lag or 0), group.name))
    transactions = sorted(
        _transactions(newest, folder), key=lambda group: (group.since or 0, group.producer_id)
    )
    more = document.More(
        sources=max(len(sources) - MOST_SOURCES, 0),
        logs=max(len(order) - MOST_LOGS, 0),
        groups=max(len(groups) - MOST_GROUPS, 0),
        transactions=max(len(transactions) - MOST_TRANSACTIONS, 0),
    )
    return LogsPart(
        sources=tuple(sources[:MOST_SOURCES]),
        logs=tuple(logs),
        groups=tuple(groups[:MOST_GROUPS]),
        transactions=tuple(transactions[:MOST_TRANSACTIONS]),
        more=more,
    )


def _newest_copies(
    fields: Mapping[LogKey, Mapping[str, Any]],
) -> dict[LogKey, Mapping[str, Any]]:
    """Return one copy of each partition, that with the highest offset: several brokers have it."""
    newest: dict[object, LogKey] = {}
    for log in sorted(fields, key=lambda log: fields[log]["offsets"]["last"] or 0):
        newest[log if log.topic is None else (log.topic, log.partition)] = log
    return {log: fields[log] for log in fields if log in newest.values()}


def _rank(log: LogKey, summary: Summary) -> tuple[object, ...]:
    """Return the sort key of logs: the metadata log, damaged ones, then the largest."""
    is_metadata = summary.scope.decoder.name == "metadata"
    name = (log.topic or "", log.partition or 0)
    return not is_metadata, not _damage_count(summary), -summary.batches.size, name


def _damage_count(summary: Summary) -> int:
    return summary.damage.count + summary.undecodable.count


def _name(log: LogKey, paths: Collection[str]) -> str:
    if log.topic is not None or len(paths) != 1:
        return log.directory or f"{len(paths)} files"
    return next(iter(paths))


def _source(
    log: LogKey, summary: Summary, known_since: Mapping[str, int | None]
) -> document.ReportSource:
    decoder = summary.scope.decoder.name
    return document.ReportSource(
        name=cut(_name(log, summary.files)),
        kind=decoder,
        records=summary.records.count,
        bytes=sum(summary.files.values()),
        first_offset=summary.offsets.first,
        last_offset=summary.offsets.last,
        first_time=summary.first_time,
        last_time=summary.last_time,
        known_since=known_since.get(decoder),
        damage=_damage_count(summary),
    )


def _log(
    log: LogKey, summary: Summary, fields: Mapping[str, Any], folder: str | None
) -> document.Log:
    offsets, damage = summary.offsets, summary.damage
    gaps = offsets.steps
    site = next(iter([*damage.first, *summary.undecodable.first]), None)
    decoder = summary.scope.decoder.name
    paths = _shown_paths(log, fields)
    return document.Log(
        topic=None if log.topic is None else cut(log.topic),
        partition=log.partition,
        directory=cut(log.directory) if log.directory else None,
        kind=decoder,
        segments=summary.segments,
        records=summary.records.count,
        batches=summary.batches.count,
        bytes=summary.batches.size,
        first_offset=offsets.first,
        last_offset=offsets.last,
        first_time=summary.first_time,
        last_time=summary.last_time,
        sizes=_sizes(summary.sizes),
        codecs=tuple(
            document.CodecUse(CODECS[codec], *counts)
            for codec, counts in sorted(summary.codecs.items())
        ),
        gaps=document.Gaps(gaps.gap_count, gaps.missing) if gaps else document.Gaps(0, 0),
        damage=document.Damage(
            count=damage.count,
            bytes=damage.size,
            undecodable=summary.undecodable.count,
            first_file=site and cut(site.path),
            first_position=site and site.position,
            first_reason=site and cut(site.reason),
        ),
        open_transactions=len(fields["transactions"]["open"] or ()),
        series=(
            *_series("records", "records", summary.history),
            *_series("bytes", "bytes", summary.volume),
        ),
        command=of_log(paths, folder, "--summary"),
        bucket_command=bucket_of_log(paths, folder, decoder),
    )


def _shown_paths(log: LogKey, fields: Mapping[str, Any]) -> Sequence[str]:
    """Return the names to read a log by; none if they are in an archive or a cluster."""
    paths: list[str] = fields["files"]["paths"]
    if any(isinstance(path, OpenName) or archive_of(path) for path in paths):
        return ()
    return [log.directory] if log.topic and log.directory else paths


def _sizes(distribution: Distribution) -> document.Sizes:
    counts: dict[int, int] = {}
    for size, count in distribution.counts.items():
        start = 1 << (size.bit_length() - 1) if size > 0 else 0
        counts[start] = counts.get(start, 0) + count
    starts: list[int] = []
    if counts:
        start = min(counts)
        while start <= max(counts):
            starts.append(start)
            start = start * 2 or 1
    return document.Sizes(
        min=distribution.min,
        p50=distribution.quantile(0.5),
        p99=distribution.quantile(0.99),
        max=distribution.max,
        starts=tuple(starts),
        counts=tuple(counts.get(start, 0) for start in starts),
    )


def _series(name: str, unit: str, histogram: TimeHistogram) -> Iterable[document.LogSeries]:
    if histogram.start is not None:
        yield document.LogSeries(
            name=name,
            unit=unit,
            step=histogram.width,
            start=histogram.start,
            values=tuple(histogram.buckets()),
        )


def _groups(
    fields: Mapping[LogKey, Mapping[str, Any]], folder: str | None
) -> Iterable[document.Group]:
    for log, log_fields in fields.items():
        for group in log_fields.get("groups", {}).get("groups", ()):
            lags = [entry["lag"] for entry in group["offsets"] if entry["lag"] is not None]
            yield document.Group(
                name=cut(group["group"]),
                state=group["state"],
                members=group["members"],
                partitions=len(group["offsets"]),
                lag=sum(lags) if lags else None,
                last_commit=max((entry["committedMs"] for entry in group["offsets"]), default=None),
                command=of_log(_shown_paths(log, log_fields), folder, f"--group={group['group']}"),
            )


def _transactions(
    fields: Mapping[LogKey, Mapping[str, Any]], folder: str | None
) -> Iterable[document.OpenTransaction]:
    for log, transaction in open_transactions(fields.items()):
        offset = transaction["firstOffset"]
        transactional_id = transaction["transactionalId"]
        is_state = offset is None
        yield document.OpenTransaction(
            transactional_id=None if transactional_id is None else cut(transactional_id),
            producer_id=transaction["producerId"],
            producer_epoch=transaction["producerEpoch"],
            topic=None if is_state or log.topic is None else cut(log.topic),
            partition=None if is_state else log.partition,
            first_offset=offset,
            since=transaction["sinceMs"],
            command=of_log(
                _shown_paths(log, fields[log]),
                folder,
                *([] if is_state else ["--offset", f"{offset}.."]),
            ),
        )
