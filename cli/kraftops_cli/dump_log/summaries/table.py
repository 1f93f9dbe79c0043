"""The table of several logs: a line for each, and their sum."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os.path import dirname
from typing import Any

from kraftops.display.columns import Bytes, Cell, Column, Styled, folded, number
from kraftops.display.sizes import number_text
from kraftops.dump.summary.logs import log_name
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


def _by_name(one: Fields) -> tuple[Any, ...]:
    """Return what orders topics naturally: t2 before t10, and files without a topic at the end."""
    topic = one["topic"]
    parts = re.split(r"(\d+)", topic or "")
    numbers = [int(part) if part.isdecimal() else part for part in parts]
    partition = -1 if one["partition"] is None else one["partition"]
    return topic is None, numbers, topic or "", partition


def _number(value: int | None) -> float:
    return _LEAST if value is None else value


_LARGEST_FIRST: dict[str, Callable[[Fields], float]] = {
    "segments": lambda one: one["segments"],
    "records": lambda one: one["records"]["count"],
    "bytes": lambda one: one["batches"]["bytes"],
    "offset": lambda one: _number(one["offsets"]["last"]),
    "time": lambda one: _number(one["times"]["lastMs"]),
    "damage": lambda one: damage_count(one) + one["undecodable"]["count"],
}


def in_order(found: Iterable[Fields], sort: str) -> list[Fields]:
    """Return summaries sorted by one of `SORTS`, and equal ones by topic and partition."""
    by_name = sorted(found, key=_by_name)
    if sort == BY_NAME:
        return by_name
    return sorted(by_name, key=_LARGEST_FIRST[sort], reverse=True)


def logs_text(
    found: Sequence[Fields],
    console: Console,
    *,
    top: int | None = None,
    skip: int = 0,
    chosen: int | None = None,
) -> str:
    """Return a table of *top* logs after *skip*, the sum of all, and their open transactions.

    The *chosen* one, by its place among all, has a mark.
    """
    logs = Counter((one["topic"], one["partition"]) for one in found)
    has_directories = logs.total() > len(logs)
    shown = found[skip:][:top]
    rows = [_row(one) + ([_directory(one)] if has_directories else []) for one in shown]
    if chosen is not None and rows:
        name = rows[chosen - skip][0]
        rows[chosen - skip][0] = f"> {NO_VALUE if name is None else name}"
    total = _total(found) + ([""] if has_directories else [])
    columns = [*_COLUMNS, *([_DIRECTORY] if has_directories else [])]
    text = table_text(console, Table(columns, rows, total=total))
    if len(found) > len(shown):
        text += f"and {number_text(len(found) - len(shown))} more, in the total\n"
    hanging = table_text(
        console, Table(_OPEN_TRANSACTIONS, _open_transactions(found), limit=_MOST_TRANSACTIONS)
    )
    return f"{text}\n{hanging}" if hanging else text


def _row(one: Fields) -> list[Cell]:
    first, last = one["offsets"]["first"], one["offsets"]["last"]
    return [
        one["topic"],
        one["partition"],
        one["segments"],
        one["records"]["count"],
        Bytes(one["batches"]["bytes"]),
        None if first is None else f"{first}..{last}",
        _time_text(one["times"]["first"], one["times"]["firstMs"]),
        _time_text(one["times"]["last"], one["times"]["lastMs"]),
        _bad(_damage(one)),
    ]


def _total(found: Sequence[Fields]) -> list[Cell]:
    firsts = [one["times"] for one in found if one["times"]["firstMs"] is not None]
    first = min(firsts, key=lambda times: times["firstMs"], default=None)
    last = max(firsts, key=lambda times: times["lastMs"], default=None)
    damaged = sum(bool(damage_count(one) or one["undecodable"]["count"]) for one in found)
    return [
        "total",
        len(found),
        sum(one["segments"] for one in found),
        sum(one["records"]["count"] for one in found),
        Bytes(sum(one["batches"]["bytes"] for one in found)),
        "",
        _time_text(first["first"], first["firstMs"]) if first else None,
        _time_text(last["last"], last["lastMs"]) if last else None,
        _bad(f"{number_text(damaged)} damaged" if damaged else None),
    ]


def has_problems(log: Fields) -> bool:
    """Tell whether a log has damage, records that nobody can read, or open transactions."""
    return bool(
        log["damage"]["count"] or log["undecodable"]["count"] or log["transactions"]["open"]
    )


def _bad(text: str | None) -> Cell:
    return Styled(text, "bad") if text else None


def _damage(one: Fields) -> str | None:
    undecodable = one["undecodable"]["count"]
    texts = [damage_text(one), f"{number_text(undecodable)} undecodable" if undecodable else None]
    return "; ".join(filter(None, texts)) or None


def _directory(one: Fields) -> str:
    return dirname(next(iter(one["files"]["paths"]), ""))


def _time_text(time: str | None, ms: int | None) -> str | None:
    """Return a time to the second, or in ms where it has no year."""
    if time is None:
        return None if ms is None else f"{ms} ms"
    return time[:19].replace("T", " ")


def _open_transactions(found: Iterable[Fields]) -> Iterator[list[Cell]]:
    """Yield the open transactions of all logs, the oldest first.

    A transaction of `__transaction_state` is left out if a log of data has it too.
    """
    entries = [(one, entry) for one in found for entry in one["transactions"]["open"] or ()]
    in_data = {entry["producerId"] for _, entry in entries if entry["firstOffset"] is not None}
    for one, entry in sorted(entries, key=lambda item: _number(item[1]["sinceMs"])):
        is_state = entry["firstOffset"] is None
        if is_state and entry["producerId"] in in_data:
            continue
        yield [
            entry["transactionalId"],
            entry["producerId"],
            entry["producerEpoch"],
            None if is_state else log_name(one["topic"], one["partition"]),
            entry["firstOffset"],
            _time_text(entry["since"], entry["sinceMs"]),
        ]
