"""A summary as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from os.path import basename, dirname
from typing import Any

from kraftops.display.charts import chart, merged
from kraftops.display.columns import Bytes, Cell, Column, folded, number
from kraftops.display.sizes import number_text, size_text
from kraftops.display.times import span_text
from kraftops.dump.summary.logs import log_name
from kraftops.engine.count_contract import LONGEST_KEY
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, table_text

_HEIGHT = 6  # of the chart, in lines
_LABEL = 11
_WIDTH = 80  # of a chart that no terminal shows
_MOST_ROWS = 20  # of each table on a terminal; the rest is counted

Fields = Mapping[str, Any]
_Section = Callable[[Fields, Console], Iterable[str]]
"""Returns the lines of a part of a summary."""
_NamedCell = tuple[Column, str | Callable[[Fields], Cell]]
"""A column, and the name of the field in it, or what makes its cell of a row."""
_Columns = Sequence[_NamedCell]

_OPEN_TRANSACTIONS: _Columns = (
    (
        folded("OPEN TRANSACTION"),
        lambda txn: txn["transactionalId"] or f"producer {txn['producerId']}",
    ),
    (number("PRODUCER", 1), "producerId"),
    (number("EPOCH", 2), "producerEpoch"),
    (number("FIRST OFFSET"), "firstOffset"),
    (Column("SINCE"), lambda txn: txn["since"] or txn["sinceMs"]),
)


def summary_text(summaries: Sequence[Fields], console: Console) -> str:
    """Return what `fields_of` gave about logs, or its JSON parsed, as tables and charts.

    Copies of a partition share the tables of its groups. Those of several logs come first.
    """
    texts = [_text(_SECTIONS, summary, console) for summary in summaries]
    texts.insert(0 if len(texts) > 1 else 1, groups_text(summaries, console))
    return "\n".join(filter(None, texts))


def groups_text(summaries: Iterable[Fields], console: Console) -> str:
    """Return the tables of the groups in some logs, by the longest copy of each partition.

    The group with the most lag is the first: that one is looked for.
    """
    copies: dict[tuple[str, int], Fields] = {}
    for summary in summaries:
        if "groups" in summary:
            log = (summary["topic"], summary["partition"])
            copies[log] = max(copies.get(log, summary), summary, key=_end)
    parts = [summary["groups"] for summary in copies.values()]
    groups = [group for part in parts for group in part["groups"]]
    if not groups:
        return ""
    joined = {
        "groups": sorted(groups, key=lambda group: -(_lag(group) or 0)),
        "exact": all(part["exact"] for part in parts),
    }
    return _text(_GROUP_SECTIONS, {"groups": joined}, console)


def _end(summary: Fields) -> int:
    return summary["offsets"]["end"] or 0


def _text(sections: Iterable[_Section], summary: Fields, console: Console) -> str:
    texts = ["\n".join(section(summary, console)) for section in sections]
    return "\n\n".join(filter(None, texts)) + "\n"


def _overview(summary: Fields, console: Console) -> Iterator[str]:
    files, batches, records = summary["files"], summary["batches"], summary["records"]
    if summary["topic"] is not None:
        yield _line("log", log_name(summary["topic"], summary["partition"]))
    yield _line("decoder", summary["decoder"])
    yield _line("files", f"{number_text(files['count'])}, {size_text(files['bytes'])}")
    kinds = [
        f"{number_text(batches[kind])} {kind}"
        for kind in ("control", "transactional")
        if batches[kind]
    ]
    yield _line("batches", ", ".join([number_text(batches["count"]), *kinds]))
    size = records["bytes"]
    yield _line("records", f"{number_text(records['count'])}, {size_text(size)} uncompressed")
    yield from _offsets(summary["offsets"])
    yield from _times(summary["times"])
    if summary["paddingBytes"]:
        yield _line("padding", f"{size_text(summary['paddingBytes'])} of zeros at the end")
    damage = damage_text(summary)
    yield console.painted(_line("damage", damage or "none"), "bad" if damage else "value")
    if summary["undecodable"]["count"]:
        yield _line("undecodable", _count(summary["undecodable"]["count"], "record"))


def _offsets(offsets: Fields) -> Iterator[str]:
    if offsets["first"] is None:
        return
    gaps = offsets["gaps"]
    text = f"{number_text(offsets['first'])} to {number_text(offsets['last'])}"
    if gaps is None:
        yield _line("offsets", f"{text}, with others between that do not match")
        return
    if gaps["count"]:
        text += f", {_count(gaps['count'], 'gap')} with {_count(gaps['missing'], 'offset')}"
    if offsets["removed"]:
        text += f", {number_text(offsets['removed'])} missing inside batches"
    if offsets["backward"]:
        text += f", {_count(offsets['backward'], 'step')} backward"
    yield _line("offsets", text)


def _times(times: Fields) -> Iterator[str]:
    if times["firstMs"] is None:
        return
    first, last = (times[name] or f"{times[f'{name}Ms']} ms" for name in ("first", "last"))
    yield _line("times", f"{first} to {last} ({span_text(times['lastMs'] - times['firstMs'])})")


def damage_count(summary: Fields) -> int:
    """Return the number of damaged places; a start mends a torn end, which is none of them."""
    count: int = summary["damage"]["count"] - bool(summary["tornBytes"])
    return count


def damage_text(summary: Fields) -> str | None:
    """Return the damaged places and their bytes, and a torn end; None where there is nothing."""
    count, torn = damage_count(summary), summary["tornBytes"]
    texts = []
    if count:
        size = size_text(summary["damage"]["bytes"] - torn)
        texts.append(f"{_count(count, 'place')}, {size}")
    if torn:
        texts.append(f"torn end, {size_text(torn)}")
    return "; ".join(texts) or None


def _tabled(console: Console, columns: _Columns, rows: Iterable[Fields]) -> str:
    """Return a table without its last end of line; a cell is a field, or made of its row."""
    cells = (
        [row[cell] if isinstance(cell, str) else cell(row) for _, cell in columns] for row in rows
    )
    table = Table([column for column, _ in columns], cells, limit=_MOST_ROWS)
    return table_text(console, table).removesuffix("\n")


def _table(rows_of: Callable[[Fields], Iterable[Fields]], *columns: _NamedCell) -> _Section:
    """Return a section that is a table, if there is any row."""
    return lambda summary, console: [_tabled(console, columns, rows_of(summary))]


def _damage_sites(name: str) -> _Section:
    columns = (
        (folded(name.upper()), lambda site: basename(site["file"])),
        (number("POSITION"), "position"),
        (number("BYTES"), "bytes"),
        (folded("REASON"), "reason"),
    )

    def lines(summary: Fields, console: Console) -> Iterator[str]:
        sites = summary[name]
        yield _tabled(console, columns, sites["first"])
        if sites["count"] > len(sites["first"]):
            yield f"and {number_text(sites['count'] - len(sites['first']))} more"

    return lines


def _distributions(summary: Fields) -> list[Fields]:
    batches = summary["batches"]
    if not batches["count"]:
        return []
    return [{"name": "bytes", **batches["sizes"]}, {"name": "records", **batches["records"]}]


def _types(summary: Fields) -> Iterator[Fields]:
    total = summary["records"]["count"] or 1
    for record_type in summary["types"]:
        yield {**record_type, "share": f"{100 * record_type['count'] / total:.1f}%"}


def _history(summary: Fields, console: Console) -> Iterator[str]:
    times = summary["times"]
    histogram = times["histogram"]
    if len(histogram["counts"]) < 2:
        return
    counts, together = merged(histogram["counts"], (console.width or _WIDTH) - _LABEL - 1)
    highest = number_text(max(counts))
    label = max(len(highest), 1)
    yield f"RECORDS OVER TIME, {span_text(histogram['widthMs'] * together)} a column"
    for row, line in enumerate(chart(counts, _HEIGHT)):
        yield f"{('' if row else highest).rjust(label)} |{line}".rstrip()
    yield f"{'0'.rjust(label)} +{'-' * len(counts)}"
    first, last = (times[name] or str(times[f"{name}Ms"]) for name in ("first", "last"))
    yield f"{' ' * label}  {first}" + (f" to {last}" if last != first else "")


def _transactions(summary: Fields, console: Console) -> Iterator[str]:
    transactions, producers = summary["transactions"], summary["producers"]
    if producers["idempotent"]:
        yield _line("producers", f"{number_text(producers['idempotent'])} idempotent")
    if not (transactions["committed"] or transactions["aborted"] or transactions["open"]):
        return
    counts = [f"{number_text(transactions[name])} {name}" for name in ("committed", "aborted")]
    if transactions["open"] is not None:
        counts.append(f"{number_text(len(transactions['open']))} open")
    yield _line("transactions", ", ".join(counts))
    durations = transactions["durationMs"]
    if durations["min"] is not None:
        spans = [span_text(durations[name]) for name in ("min", "median", "max")]
        yield _line("duration", "min {}, median {}, max {}".format(*spans))
    if transactions["open"]:
        yield ""
        yield _tabled(console, _OPEN_TRANSACTIONS, transactions["open"])


def _tops(
    name: str, title: str, counted: Column, unit: str, text: Callable[[Fields], str]
) -> _Section:
    """Return a section about the most frequent, with the error of their numbers."""

    def lines(summary: Fields, console: Console) -> Iterator[str]:
        tops = summary.get(name)
        if not tops or not tops["top"]:
            return
        total = f"{number_text(tops[unit])} {unit}"
        error = number_text(tops["error"])
        # Those that have more than any without a count could have.
        certain = [top for top in tops["top"] if top[unit] > tops["error"]]
        if not certain:
            yield f"{title}: none has more than {error} of {total} for certain"
            return
        yield _tabled(console, ((folded(title), text), (counted, unit)), certain)
        yield f"of {total}; " + (f"too low by at most {error}" if tops["error"] else "exact")

    return lines


def _key_text(key: Fields) -> str:
    kind = f" ({key['keyEncoding']})" if key["keyEncoding"] else ""
    rest = f"… of {size_text(key['keySize'])}" if key["keySize"] > LONGEST_KEY else ""
    return f"{key['key']}{rest}{kind}"


def _sampled(name: str, *columns: _NamedCell) -> _Section:
    """Return a section with a table of things, of which not all may have been kept."""

    def lines(summary: Fields, console: Console) -> Iterator[str]:
        if things := summary.get(name):
            yield _tabled(console, columns, things[name])
            if not things["exact"]:
                yield "There are more than are kept: these are a sample."

    return lines


def _largest(name: str) -> Callable[[Fields], Iterable[Fields]]:
    return lambda summary: summary.get("largest", {}).get(name, ())


def _committed(summary: Fields) -> Iterator[Fields]:
    for group in summary["groups"]["groups"]:
        for offset in group["offsets"]:
            yield {**offset, "group": group["group"]}


def _lag(group: Fields) -> int | None:
    """Return the sum of the known lags of a group's offsets."""
    lags = [offset["lag"] for offset in group["offsets"] if offset["lag"] is not None]
    return sum(lags) if lags else None


_SECTIONS: tuple[_Section, ...] = (
    _overview,
    _damage_sites("damage"),
    _damage_sites("undecodable"),
    _table(
        _distributions,
        (Column("PER BATCH"), "name"),
        (number("MIN"), "min"),
        (number("MEDIAN"), "p50"),
        (number("P99"), "p99"),
        (number("MAX"), "max"),
    ),
    _table(
        _types,
        (folded("TYPE"), "type"),
        (number("VERSION"), "version"),
        (number("RECORDS"), "count"),
        (number("%"), "share"),
        (number("SIZE"), lambda record_type: Bytes(record_type["bytes"])),
    ),
    _table(itemgetter("control"), (Column("CONTROL"), "type"), (number("RECORDS"), "count")),
    _table(
        itemgetter("codecs"),
        (Column("CODEC"), "codec"),
        (number("BATCHES"), "batches"),
        (number("COMPRESSED"), lambda codec: Bytes(codec["compressedBytes"])),
        (number("UNCOMPRESSED"), lambda codec: Bytes(codec["uncompressedBytes"])),
        (number("RATIO"), lambda codec: "-" if codec["ratio"] is None else f"{codec['ratio']:.2f}"),
    ),
    _table(
        _largest("records"),
        (folded("LARGEST RECORDS"), lambda record: basename(record["file"])),
        (number("OFFSET"), "offset"),
        (folded("TYPE", 1), "type"),
        (number("BYTES"), "bytes"),
        (number("KEY", 3), "keySize"),
        (number("VALUE", 4), "valueSize"),
        (Column("TIME", 2), "timestamp"),
    ),
    _table(
        _largest("batches"),
        (folded("LARGEST BATCHES"), lambda batch: basename(batch["file"])),
        (number("OFFSET"), "baseOffset"),
        (number("BYTES"), "bytes"),
        (number("RECORDS"), "records"),
        (Column("CODEC", 2), "codec"),
        (number("PRODUCER", 1), "producerId"),
    ),
    _tops("keys", "HOTTEST KEYS", number("RECORDS"), "records", _key_text),
    _tops(
        "largestProducers",
        "LARGEST PRODUCERS",
        number("BYTES UNCOMPRESSED"),
        "bytes",
        lambda producer: str(producer["producerId"]),
    ),
    _table(
        itemgetter("leaderEpochs"),
        (number("EPOCH"), "epoch"),
        (number("FIRST OFFSET"), "firstOffset"),
        (number("BATCHES"), "batches"),
        (number("RECORDS"), "records"),
    ),
    _history,
    _transactions,
    _sampled(
        "producers",
        (number("PRODUCER"), "producerId"),
        (number("EPOCH"), "producerEpoch"),
        (number("BATCHES"), "batches"),
        (number("RECORDS"), "records"),
        (number("COMMITTED"), "committed"),
        (number("ABORTED"), "aborted"),
    ),
    _sampled(
        "transactionalIds",
        (folded("TRANSACTIONAL ID"), "transactionalId"),
        (Column("STATE"), "state"),
        (number("PRODUCER"), "producerId"),
        (number("EPOCH", 2), "producerEpoch"),
        (number("PARTITIONS", 1), "partitionCount"),
        (Column("UPDATED", 3), "updated"),
    ),
)
_GROUP_SECTIONS: tuple[_Section, ...] = (
    _sampled(
        "groups",
        (folded("GROUP"), "group"),
        (Column("KIND", 3), "kind"),
        (Column("STATE"), "state"),
        (number("MEMBERS", 1), "members"),
        (number("OFFSETS", 2), lambda group: len(group["offsets"])),
        (number("LAG"), _lag),
        (
            Column("LAST COMMIT", 4),
            lambda group: max(
                (offset["committed"] or "" for offset in group["offsets"]), default=None
            ),
        ),
    ),
    _table(
        _committed,
        (folded("GROUP"), "group"),
        (folded("PARTITION"), lambda offset: f"{offset['topic']}-{offset['partition']}"),
        (number("OFFSET"), "offset"),
        (number("END"), "endOffset"),
        (number("LAG"), "lag"),
        (Column("COMMITTED", 1), "committed"),
        (
            folded("END BY THE COPY", 2),
            lambda offset: offset["endFile"] and dirname(offset["endFile"]),
        ),
    ),
)


def _line(name: str, text: str) -> str:
    return f"{name.ljust(13)}{escaped(text)}"


def _count(number: int, thing: str) -> str:
    return f"{number_text(number)} {thing}" + ("" if number == 1 else "s")
