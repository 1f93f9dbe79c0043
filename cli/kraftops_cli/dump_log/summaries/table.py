"""The table of several logs: a line for each, and their sum."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os.path import dirname
from typing import Any

from kraftops.display.columns import Bytes, Cell, Column, Styled, folded, number
from kraftops.display.sizes import number_text
from kraftops.dump.summary.logs import log_name, open_transactions
from kraftops.query.summary_order import BY_NAME
from kraftops_cli.dump_log.summaries.text import damage_count, damage_text
from kraftops_terminal.console import Console
from kraftops_terminal.tables import NO_VALUE, Table, table_text

Fields = Mapping[str, Any]

_COLUMNS = (
    folded("TOPIC", style="name"),
    number("PARTITION"),
    number("SEGMENTS", 5),
    number("RECORDS"),
    number("BYTES", 1),
    Column("OFFSETS", 3),
    Column("FROM (UTC)", 6),
    Column("TO (UTC)", 2),
    folded("DAMAGE"),
)
_DIRECTORY = folded("DIRECTORY", 4)
_OPEN_TRANSACTIONS = (
    folded("OPEN TRANSACTION"),
    number("PRODUCER", 1),
    number("EPOCH", 3),
    folded("LOG"),
    number("FIRST OFFSET", 2),
    Column("SINCE (UTC)"),
)
_MOST_TRANSACTIONS = 20  # on a terminal; the rest is counted
_LEAST = float("-inf")


def _by_name(summary: Fields) -> tuple[Any, ...]:
    """Return the sort key of topics: t2 before t10, and files without a topic at the end."""
    topic = summary["topic"]
    parts = re.split(r"(\d+)", topic or "")
    numbers = [int(part) if part.isdecimal() else part for part in parts]
    partition = -1 if summary["partition"] is None else summary["partition"]
    return topic is None, numbers, topic or "", partition


def _number(value: int | None) -> float:
    return _LEAST if value is None else value


_LARGEST_FIRST: dict[str, Callable[[Fields], float]] = {
    "segments": lambda summary: summary["segments"],
    "records": lambda summary: summary["records"]["count"],
    "bytes": lambda summary: summary["batches"]["bytes"],
    "offset": lambda summary: _number(summary["offsets"]["last"]),
    "time": lambda summary: _number(summary["times"]["lastMs"]),
    "damage": lambda summary: damage_count(summary) + summary["undecodable"]["count"],
}


def in_order(summaries: Iterable[Fields], sort: str) -> list[Fields]:
    """Return summaries sorted by one of `SORTS`, and equal ones by topic and partition."""
    by_name = sorted(summaries, key=_by_name)
    if sort == BY_NAME:
        return by_name
    return sorted(by_name, key=_LARGEST_FIRST[sort], reverse=True)


def logs_text(
    summaries: Sequence[Fields],
    console: Console,
    *,
    top: int | None = None,
    skip: int = 0,
    chosen: int | None = None,
) -> str:
    """Return a table of *top* logs after *skip*, the sum of all, and their open transactions.

    The *chosen* one, by its place among all, has a mark.
    """
    logs = Counter((summary["topic"], summary["partition"]) for summary in summaries)
    has_directories = logs.total() > len(logs)
    visible = summaries[skip:][:top]
    rows = [
        _row(summary) + [dirname(next(iter(summary["files"]["paths"]), ""))] * has_directories
        for summary in visible
    ]
    if chosen is not None and rows:
        name = rows[chosen - skip][0]
        rows[chosen - skip][0] = f"> {NO_VALUE if name is None else name}"
    total = _total(summaries) + ([""] if has_directories else [])
    columns = [*_COLUMNS, *([_DIRECTORY] if has_directories else [])]
    text = table_text(console, Table(columns, rows, total=total))
    if len(summaries) > len(visible):
        text += f"and {number_text(len(summaries) - len(visible))} more, in the total\n"
    hanging = table_text(
        console, Table(_OPEN_TRANSACTIONS, _open_transactions(summaries), limit=_MOST_TRANSACTIONS)
    )
    return f"{text}\n{hanging}" if hanging else text


def _row(summary: Fields) -> list[Cell]:
    first, last = summary["offsets"]["first"], summary["offsets"]["last"]
    return [
        summary["topic"],
        summary["partition"],
        summary["segments"],
        summary["records"]["count"],
        Bytes(summary["batches"]["bytes"]),
        None if first is None else f"{first}..{last}",
        _time_text(summary["times"]["first"], summary["times"]["firstMs"]),
        _time_text(summary["times"]["last"], summary["times"]["lastMs"]),
        _bad(_damage(summary)),
    ]


def _total(summaries: Sequence[Fields]) -> list[Cell]:
    firsts = [summary["times"] for summary in summaries if summary["times"]["firstMs"] is not None]
    first = min(firsts, key=lambda times: times["firstMs"], default=None)
    last = max(firsts, key=lambda times: times["lastMs"], default=None)
    damaged = sum(
        bool(damage_count(summary) or summary["undecodable"]["count"]) for summary in summaries
    )
    return [
        "total",
        len(summaries),
        sum(summary["segments"] for summary in summaries),
        sum(summary["records"]["count"] for summary in summaries),
        Bytes(sum(summary["batches"]["bytes"] for summary in summaries)),
        "",
        _time_text(first["first"], first["firstMs"]) if first else None,
        _time_text(last["last"], last["lastMs"]) if last else None,
        _bad(f"{number_text(damaged)} damaged" if damaged else None),
    ]


def has_problems(log: Fields) -> bool:
    """Tell whether a log has damage, unreadable records, or open transactions."""
    return bool(
        log["damage"]["count"] or log["undecodable"]["count"] or log["transactions"]["open"]
    )


def _bad(text: str | None) -> Cell:
    return Styled(text, "bad") if text else None


def _damage(summary: Fields) -> str | None:
    undecodable = summary["undecodable"]["count"]
    texts = [
        damage_text(summary),
        f"{number_text(undecodable)} undecodable" if undecodable else None,
    ]
    return "; ".join(filter(None, texts)) or None


def _time_text(time: str | None, ms: int | None) -> str | None:
    """Return a time to the second, or in ms where it has no year."""
    if time is None:
        return None if ms is None else f"{ms} ms"
    return time[:19].replace("T", " ")


def _open_transactions(summaries: Iterable[Fields]) -> Iterator[list[Cell]]:
    """Yield the open transactions of all logs, the oldest first."""
    transactions = open_transactions((summary, summary) for summary in summaries)
    for summary, entry in sorted(transactions, key=lambda item: _number(item[1]["sinceMs"])):
        offset = entry["firstOffset"]
        yield [
            entry["transactionalId"],
            entry["producerId"],
            entry["producerEpoch"],
            None if offset is None else log_name(summary["topic"], summary["partition"]),
            offset,
            _time_text(entry["since"], entry["sinceMs"]),
        ]
