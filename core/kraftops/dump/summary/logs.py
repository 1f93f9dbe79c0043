"""The logs of a summary: which are read and shown, and what one tells about another."""

import os.path
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from kraftops.answers.fields import json_of
from kraftops.dump.sources.names import Source
from kraftops.dump.summary.answer import SUMMARY
from kraftops.dump.summary.summary import Summary
from kraftops.errors import UsageError
from kraftops.log.files import file_name, partition_of
from kraftops.query.query import Query

_OFFSETS, _TRANSACTION = "offsets", "transaction"  # decoders

Fields = dict[str, Any]
Key = TypeVar("Key")


class Log(NamedTuple):
    """A log by its directory, and what that says; files elsewhere in one directory are one log."""

    decoder: str
    topic: str | None = None
    partition: int | None = None
    directory: str = ""

    @property
    def name(self) -> str:
        """The name of the log's directory, or a dash."""
        return log_name(self.topic, self.partition)


class Reading(NamedTuple):
    """A file that is read for a log, with its details or without; *is_shown*: its log is shown."""

    path: str
    log: Log
    details: bool
    is_shown: bool


def log_name(topic: str | None, partition: int | None) -> str:
    """Return the name of a partition's directory, as far as it is known."""
    if topic is None or partition is None:
        return topic or "-"
    return f"{topic}-{partition}"


def log_of(path: str, decoder: str, topic: str | None, partition: int | None) -> Log:
    """Return the log of a file; replicas of two servers are two logs."""
    if topic is None:
        topic, partition = partition_of(path) or (None, None)
    return Log(decoder, topic, partition, os.path.dirname(path))


def readings(
    sources: Iterable[Source],
    query: Query,
    names: Sequence[str],
    *,
    details: bool,
    of_groups: bool = False,
) -> list[Reading]:
    """Return the files to be read for the logs *names*, or without names, for all logs.

    A log of names, or a single one, has details, and with *details* all. Beside a log of committed
    offsets, the newest segments of other logs are read, whose ends tell its lag, and beside all
    logs, those of transactional ids. *of_groups*: without names, only logs of committed offsets are
    shown, if there are any: the records of others say nothing about groups.

    Raises:
        UsageError: no log has one of the names, each a topic, or a topic and partition as orders-0.
    """
    decoder_of = cache(lambda default: query.for_source(default).record_decoder.name)
    files = [
        (
            source.path,
            log_of(source.path, decoder_of(source.decoder), source.topic, source.partition),
        )
        for source in sources
    ]
    logs = list(dict.fromkeys(log for _, log in files))
    selected = {log for log in logs if not names or log.name in names or log.topic in names}
    _refuse_unknown(names, selected, logs)
    if of_groups and not names:
        selected = {log for log in logs if log.decoder == _OFFSETS} or selected
    newest = {log: path for path, log in files}
    needs_ends = any(log.decoder == _OFFSETS for log in selected)
    has_details = details or bool(names) or of_groups or len(logs) == 1
    planned = []
    for path, log in files:
        is_shown = log in selected
        has_ids = log.decoder == _TRANSACTION
        is_needed = has_ids or (needs_ends and newest[log] == path)
        if is_shown or (log.topic is not None and is_needed):
            planned.append(Reading(path, log, has_ids or (is_shown and has_details), is_shown))
    return planned


_ELSEWHERE = (
    "another broker may have it: kraftops metadata-shell -s DIR partitions tells which, by the"
    " metadata log of any node"
)


def _refuse_unknown(names: Iterable[str], selected: Iterable[Log], logs: Iterable[Log]) -> None:
    known_names = {name for log in selected for name in (log.name, log.topic)}
    for name in names:
        if name not in known_names:
            near = get_close_matches(name, [log.name for log in logs], 3)
            raise UsageError(
                f"no log {name!r} among those given",
                hint=f"near it are: {', '.join(near)}" if near else _ELSEWHERE,
                code="not-found",
            )


def add_summary(summaries: dict[Log, Summary], log: Log, summary: Summary) -> None:
    """Add the summary of the next part of a log."""
    total = summaries.setdefault(log, summary)
    if total is not summary:
        total.merge(summary)


def fields_of(
    summaries: Mapping[Log, Summary | Fields], *, are_rows: bool = False
) -> dict[Log, Fields]:
    """Return the fields of each log, or the `row` without details, with what logs say about others.

    Of a plain log, its row is given.
    Open transactions have their ids by the log of transactional ids; committed offsets have the end
    of the log that they are of, and the lag, if that log is there. In a tier none is open.
    """
    fields_by_log = {
        log: {
            "topic": log.topic,
            "partition": log.partition,
            **_fields(summary, are_rows=are_rows),
        }
        for log, summary in summaries.items()
    }
    _end_tiered(fields_by_log.values())
    _name_transactions(fields_by_log.values())
    _add_lag(fields_by_log.values())
    return fields_by_log


def _fields(summary: Summary | Fields, *, are_rows: bool) -> Fields:
    if not isinstance(summary, Summary):
        return summary
    is_row = are_rows and not summary.scope.has_details
    return summary.row() if is_row else json_of(SUMMARY, summary)


def _end_tiered(summaries: Iterable[Fields]) -> None:
    """Note that transactions of tiered segments have ended, even if their markers are local.

    A broker copies no segment after the last stable offset (KIP-405, `RemoteLogManager`).
    """
    for fields in summaries:
        names = map(file_name, fields["files"]["paths"][:1])
        if fields["transactions"]["open"] and any(name and name.is_tiered for name in names):
            fields["transactions"]["open"] = []
            for producer in fields.get("producers", {}).get("producers", ()):
                producer["open"] = False


def _name_transactions(summaries: Iterable[Fields]) -> None:
    ids = {
        entry["producerId"]: entry["transactionalId"]
        for fields in summaries
        for entry in fields.get("transactionalIds", {}).get("transactionalIds", ())
    }
    for fields in summaries:
        for entry in fields["transactions"]["open"] or ():
            if entry["transactionalId"] is None:
                entry["transactionalId"] = ids.get(entry["producerId"])


def open_transactions(
    logs: Iterable[tuple[Key, Mapping[str, Any]]],
) -> list[tuple[Key, Mapping[str, Any]]]:
    """Return the open transactions in the fields of logs, each with the key of its log.

    A transaction of `__transaction_state` is left out if a log of data has it too.
    """
    entries = [
        (key, entry) for key, fields in logs for entry in fields["transactions"]["open"] or ()
    ]
    in_data = {entry["producerId"] for _, entry in entries if entry["firstOffset"] is not None}
    return [
        (key, entry)
        for key, entry in entries
        if entry["firstOffset"] is not None or entry["producerId"] not in in_data
    ]


def _add_lag(summaries: Iterable[Fields]) -> None:
    ends: dict[tuple[str | None, int | None], tuple[int, str | None]] = {}
    for fields in summaries:
        end, log = fields["offsets"]["end"], (fields["topic"], fields["partition"])
        if end is not None:
            copy = (end, next(iter(fields["files"]["paths"][-1:]), None))
            ends[log] = max(copy, ends.get(log, copy), key=itemgetter(0))
    for fields in summaries:
        for group in fields.get("groups", {}).get("groups", ()):
            for entry in group["offsets"]:
                end, file = ends.get((entry["topic"], entry["partition"]), (None, None))
                entry["endOffset"], entry["endFile"] = end, file
                entry["lag"] = None if end is None else max(end - entry["offset"], 0)
