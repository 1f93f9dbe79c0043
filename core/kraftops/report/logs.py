"""The parts of a report that come from summaries: of logs of users, groups and transactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kraftops.dump.summary.logs import Log as LogKey
from kraftops.dump.summary.logs import fields_of
from kraftops.dump.summary.sketches import Distribution, TimeHistogram
from kraftops.dump.summary.summary import Summary
from kraftops.fileio.mounts import archive_of
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
    fields = fields_of(summaries)
    order = sorted(summaries, key=lambda log: _rank(fields[log]))
    sources = [_source(log, fields[log], known_since) for log in order]
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


def _rank(fields: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what orders logs: the metadata log, damaged ones, then the largest."""
    damage = fields["damage"]["count"] + fields["undecodable"]["count"]
    is_metadata = fields["decoder"] == "metadata"
    name = (fields["topic"] or "", fields["partition"] or 0)
    return not is_metadata, not damage, -fields["batches"]["bytes"], name


def _paths(fields: Mapping[str, Any]) -> list[str]:
    paths: list[str] = fields["files"]["paths"]
    return paths


def _name(log: LogKey, fields: Mapping[str, Any]) -> str:
    paths = _paths(fields)
    if log.topic is not None or len(paths) != 1:
        return log.directory or f"{len(paths)} files"
    return paths[0]


def _source(
    log: LogKey, fields: Mapping[str, Any], known_since: Mapping[str, int | None]
) -> document.ReportSource:
    offsets, times = fields["offsets"], fields["times"]
    return document.ReportSource(
        name=cut(_name(log, fields)),
        kind=fields["decoder"],
        records=fields["records"]["count"],
        bytes=fields["files"]["bytes"],
        first_offset=offsets["first"],
        last_offset=offsets["last"],
        first_time=times["firstMs"],
        last_time=times["lastMs"],
        known_since=known_since.get(fields["decoder"]),
        damage=fields["damage"]["count"] + fields["undecodable"]["count"],
    )


def _log(
    log: LogKey, summary: Summary, fields: Mapping[str, Any], folder: str | None
) -> document.Log:
    offsets, times = fields["offsets"], fields["times"]
    gaps = offsets["gaps"] or {"count": 0, "missing": 0}
    sites = [*fields["damage"]["first"], *fields["undecodable"]["first"]]
    first = sites[0] if sites else {"file": None, "position": None, "reason": None}
    return document.Log(
        topic=None if log.topic is None else cut(log.topic),
        partition=log.partition,
        directory=cut(log.directory) if log.directory else None,
        kind=fields["decoder"],
        segments=fields["segments"],
        records=fields["records"]["count"],
        batches=fields["batches"]["count"],
        bytes=fields["batches"]["bytes"],
        first_offset=offsets["first"],
        last_offset=offsets["last"],
        first_time=times["firstMs"],
        last_time=times["lastMs"],
        sizes=_sizes(summary.sizes),
        codecs=tuple(
            document.CodecUse(
                codec["codec"],
                codec["batches"],
                codec["compressedBytes"],
                codec["uncompressedBytes"],
            )
            for codec in fields["codecs"]
        ),
        gaps=document.Gaps(gaps["count"], gaps["missing"]),
        damage=document.Damage(
            count=fields["damage"]["count"],
            bytes=fields["damage"]["bytes"],
            undecodable=fields["undecodable"]["count"],
            first_file=None if first["file"] is None else cut(first["file"]),
            first_position=first["position"],
            first_reason=None if first["reason"] is None else cut(first["reason"]),
        ),
        open_transactions=len(fields["transactions"]["open"] or ()),
        series=(
            *_series("records", "records", summary.history),
            *_series("bytes", "bytes", summary.volume),
        ),
        command=of_log(_shown_paths(log, fields), folder, "--summary"),
        bucket_command=bucket_of_log(_shown_paths(log, fields), folder, fields["decoder"]),
    )


def _shown_paths(log: LogKey, fields: Mapping[str, Any]) -> Sequence[str]:
    """Return the names to read a log by; none if they are in an archive or a cluster."""
    paths = _paths(fields)
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
    sizes = distribution.as_dict()
    return document.Sizes(
        min=sizes["min"],
        p50=sizes["p50"],
        p99=sizes["p99"],
        max=sizes["max"],
        starts=tuple(starts),
        counts=tuple(counts.get(start, 0) for start in starts),
    )


def _series(name: str, unit: str, histogram: TimeHistogram) -> Iterable[document.LogSeries]:
    buckets = histogram.as_dict()
    if buckets["startMs"] is not None:
        yield document.LogSeries(
            name=name,
            unit=unit,
            step=buckets["widthMs"],
            start=buckets["startMs"],
            values=tuple(buckets["counts"]),
        )


def _groups(
    fields: Mapping[LogKey, Mapping[str, Any]], folder: str | None
) -> Iterable[document.Group]:
    for log, log_fields in fields.items():
        for group in log_fields.get("groups", {}).get("groups", ()):
            lags = [entry["lag"] for entry in group["offsets"] if entry["lag"] is not None]
            times = [entry["committedMs"] for entry in group["offsets"]]
            yield document.Group(
                name=cut(group["group"]),
                state=group["state"],
                members=group["members"],
                partitions=len(group["offsets"]),
                lag=sum(lags) if lags else None,
                last_commit=max((time for time in times if time is not None), default=None),
                command=of_log(_shown_paths(log, log_fields), folder, f"--group={group['group']}"),
            )


def _transactions(
    fields: Mapping[LogKey, Mapping[str, Any]], folder: str | None
) -> Iterable[document.OpenTransaction]:
    """Yield open transactions; those of transactional ids only where no log of data has them."""
    transactions = [
        (log, log_fields, transaction)
        for log, log_fields in fields.items()
        for transaction in _open(log_fields)
    ]
    in_data = {
        transaction["producerId"]
        for _, _, transaction in transactions
        if transaction["firstOffset"] is not None
    }
    for log, log_fields, transaction in transactions:
        offset = transaction["firstOffset"]
        if offset is None and transaction["producerId"] in in_data:
            continue
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
                _shown_paths(log, log_fields),
                folder,
                *([] if is_state else ["--offset", f"{offset}.."]),
            ),
        )


def _open(fields: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    found: Iterable[Mapping[str, Any]] = fields["transactions"]["open"] or ()
    return found
