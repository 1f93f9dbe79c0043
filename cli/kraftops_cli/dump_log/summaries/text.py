"""A summary as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def summary_text(summary: Fields, console: Console) -> str:
    """Return what `fields_of` gave about a log, or its JSON parsed, as tables and a chart."""
    sections = [list(section(summary, console)) for section in _SECTIONS]
    return "\n\n".join("\n".join(lines) for lines in sections if any(lines)) + "\n"


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


def _damage_sites(name: str) -> Callable[[Fields, Console], Iterator[str]]:
    def lines(summary: Fields, console: Console) -> Iterator[str]:
        first = summary[name]["first"]
        if not first:
            return
        rows = [
            [basename(site["file"]), site["position"], site["bytes"], site["reason"]]
            for site in first
        ]
        columns = [folded(name.upper()), number("POSITION"), number("BYTES"), folded("REASON")]
        yield _table(console, columns, rows)
        if summary[name]["count"] > len(first):
            yield f"and {number_text(summary[name]['count'] - len(first))} more"

    return lines


def _distributions(summary: Fields, console: Console) -> Iterator[str]:
    batches = summary["batches"]
    if not batches["count"]:
        return
    columns = ("min", "p50", "p99", "max")
    rows: list[list[Cell]] = [
        ["bytes", *[batches["sizes"][column] for column in columns]],
        ["records", *[batches["records"][column] for column in columns]],
    ]
    numbers = map(number, ("MIN", "MEDIAN", "P99", "MAX"))
    yield _table(console, [Column("PER BATCH"), *numbers], rows)


def _types(summary: Fields, console: Console) -> Iterator[str]:
    if not summary["types"]:
        return
    total = summary["records"]["count"] or 1
    rows = [
        [
            entry["type"],
            entry["version"],
            entry["count"],
            f"{100 * entry['count'] / total:.1f}%",
            Bytes(entry["bytes"]),
        ]
        for entry in summary["types"]
    ]
    columns = [folded("TYPE"), *map(number, ("VERSION", "RECORDS", "%", "SIZE"))]
    yield _table(console, columns, rows)


def _control(summary: Fields, console: Console) -> Iterator[str]:
    if summary["control"]:
        rows = [[entry["type"], entry["count"]] for entry in summary["control"]]
        yield _table(console, [Column("CONTROL"), number("RECORDS")], rows)


def _epochs(summary: Fields, console: Console) -> Iterator[str]:
    if summary["leaderEpochs"]:
        rows = [
            [entry["epoch"], entry["firstOffset"], entry["batches"], entry["records"]]
            for entry in summary["leaderEpochs"]
        ]
        columns = [*map(number, ("EPOCH", "FIRST OFFSET", "BATCHES", "RECORDS"))]
        yield _table(console, columns, rows)


def _codecs(summary: Fields, console: Console) -> Iterator[str]:
    if summary["codecs"]:
        rows = [
            [
                entry["codec"],
                entry["batches"],
                Bytes(entry["compressedBytes"]),
                Bytes(entry["uncompressedBytes"]),
                "-" if entry["ratio"] is None else f"{entry['ratio']:.2f}",
            ]
            for entry in summary["codecs"]
        ]
        titles = ("BATCHES", "COMPRESSED", "UNCOMPRESSED", "RATIO")
        yield _table(console, [Column("CODEC"), *map(number, titles)], rows)


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
        rows = [
            [
                entry["transactionalId"] or f"producer {entry['producerId']}",
                entry["producerId"],
                entry["producerEpoch"],
                entry["firstOffset"],
                entry["since"] or entry["sinceMs"],
            ]
            for entry in transactions["open"]
        ]
        numbers = (number("PRODUCER", 1), number("EPOCH", 2), number("FIRST OFFSET"))
        yield _table(console, [folded("OPEN TRANSACTION"), *numbers, Column("SINCE")], rows)


def _largest_records(summary: Fields, console: Console) -> Iterator[str]:
    rows = (
        [
            basename(record["file"]),
            record["offset"],
            record["type"],
            record["bytes"],
            record["keySize"],
            record["valueSize"],
            record["timestamp"],
        ]
        for record in summary.get("largest", {}).get("records", ())
    )
    columns = [
        folded("LARGEST RECORDS"),
        number("OFFSET"),
        folded("TYPE", 1),
        number("BYTES"),
        number("KEY", 3),
        number("VALUE", 4),
        Column("TIME", 2),
    ]
    yield _table(console, columns, rows)


def _largest_batches(summary: Fields, console: Console) -> Iterator[str]:
    rows = (
        [
            basename(batch["file"]),
            batch["baseOffset"],
            batch["bytes"],
            batch["records"],
            batch["codec"],
            batch["producerId"],
        ]
        for batch in summary.get("largest", {}).get("batches", ())
    )
    columns = [
        folded("LARGEST BATCHES"),
        *map(number, ("OFFSET", "BYTES", "RECORDS")),
        Column("CODEC", 2),
        number("PRODUCER", 1),
    ]
    yield _table(console, columns, rows)


def _keys(summary: Fields, console: Console) -> Iterator[str]:
    keys = summary.get("keys")
    if not keys or not keys["top"]:
        return
    rows = [[_key_text(key), key["records"]] for key in _certain(keys, "records")]
    yield from _top_table("HOTTEST KEYS", "RECORDS", rows, keys, console)


def _largest_producers(summary: Fields, console: Console) -> Iterator[str]:
    producers = summary.get("largestProducers")
    if not producers or not producers["top"]:
        return
    rows = [
        [str(producer["producerId"]), producer["bytes"]]
        for producer in _certain(producers, "bytes")
    ]
    yield from _top_table("LARGEST PRODUCERS", "BYTES UNCOMPRESSED", rows, producers, console)


def _key_text(key: Fields) -> str:
    kind = f" ({key['keyEncoding']})" if key["keyEncoding"] else ""
    rest = f"… of {size_text(key['keySize'])}" if key["keySize"] > LONGEST_KEY else ""
    return f"{key['key']}{rest}{kind}"


def _certain(frequencies: Fields, unit: str) -> list[Fields]:
    """Return the entries that have more than any without a count could have."""
    return [frequency for frequency in frequencies["top"] if frequency[unit] > frequencies["error"]]


def _top_table(
    name: str, counted: str, rows: Sequence[Sequence[Cell]], frequencies: Fields, console: Console
) -> Iterator[str]:
    """Yield a table of the most frequent, and the error of their numbers."""
    unit = "bytes" if "bytes" in frequencies else "records"
    total = f"{number_text(frequencies[unit])} {unit}"
    error = number_text(frequencies["error"])
    if not rows:
        yield f"{name}: none has more than {error} of {total} for certain"
        return
    yield _table(console, [folded(name), number(counted)], rows)
    yield f"of {total}; " + ("exact" if not frequencies["error"] else f"too low by at most {error}")


def _producers(summary: Fields, console: Console) -> Iterator[str]:
    producers = summary["producers"]
    names = ("producerId", "producerEpoch", "batches", "records", "committed", "aborted")
    columns = [*map(number, ("PRODUCER", "EPOCH", "BATCHES", "RECORDS", "COMMITTED", "ABORTED"))]
    rows = ([producer[name] for name in names] for producer in producers["producers"])
    yield _table(console, columns, rows)
    yield from _sample(producers)


def _transactional_ids(summary: Fields, console: Console) -> Iterator[str]:
    ids = summary.get("transactionalIds")
    if ids is None:
        return
    names = (
        "transactionalId",
        "state",
        "producerId",
        "producerEpoch",
        "partitionCount",
        "updated",
    )
    columns = [
        folded("TRANSACTIONAL ID"),
        Column("STATE"),
        number("PRODUCER"),
        number("EPOCH", 2),
        number("PARTITIONS", 1),
        Column("UPDATED", 3),
    ]
    rows = ([entry[name] for name in names] for entry in ids["transactionalIds"])
    yield _table(console, columns, rows)
    yield from _sample(ids)


def _groups(summary: Fields, console: Console) -> Iterator[str]:
    groups = summary.get("groups")
    if groups is None:
        return
    rows = (
        [
            group["group"],
            group["kind"],
            group["state"],
            group["members"],
            len(group["offsets"]),
            _sum(offset["lag"] for offset in group["offsets"]),
            max((offset["committed"] or "" for offset in group["offsets"]), default=None),
        ]
        for group in groups["groups"]
    )
    columns = [
        folded("GROUP"),
        Column("KIND", 3),
        Column("STATE"),
        number("MEMBERS", 1),
        number("OFFSETS", 2),
        number("LAG"),
        Column("LAST COMMIT", 4),
    ]
    yield _table(console, columns, rows)
    yield from _sample(groups)


def _committed(summary: Fields, console: Console) -> Iterator[str]:
    rows = (
        [
            group["group"],
            f"{offset['topic']}-{offset['partition']}",
            offset["offset"],
            offset["endOffset"],
            offset["lag"],
            offset["committed"],
            offset["endFile"] and dirname(offset["endFile"]),
        ]
        for group in summary.get("groups", {}).get("groups", ())
        for offset in group["offsets"]
    )
    columns = [
        folded("GROUP"),
        folded("PARTITION"),
        *map(number, ("OFFSET", "END", "LAG")),
        Column("COMMITTED", 1),
        folded("END BY THE COPY", 2),
    ]
    yield _table(console, columns, rows)


_SECTIONS: tuple[Callable[[Fields, Console], Iterable[str]], ...] = (
    _overview,
    _damage_sites("damage"),
    _damage_sites("undecodable"),
    _distributions,
    _types,
    _control,
    _codecs,
    _largest_records,
    _largest_batches,
    _keys,
    _largest_producers,
    _epochs,
    _history,
    _transactions,
    _producers,
    _transactional_ids,
    _groups,
    _committed,
)


def _sum(numbers: Iterable[int | None]) -> int | None:
    countable = [number for number in numbers if number is not None]
    return sum(countable) if countable else None


def _table(console: Console, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a table without its last end of line."""
    return table_text(console, Table(columns, rows, limit=_MOST_ROWS)).removesuffix("\n")


def _sample(frequencies: Fields) -> Iterator[str]:
    """Yield a line where not all could be kept."""
    if not frequencies["exact"]:
        yield "There are more than are kept: these are a sample."


def _line(name: str, text: str) -> str:
    return f"{name.ljust(13)}{escaped(text)}"


def _count(number: int, thing: str) -> str:
    return f"{number_text(number)} {thing}" + ("" if number == 1 else "s")
