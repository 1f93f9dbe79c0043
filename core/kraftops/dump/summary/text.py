"""A summary as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os.path import basename
from typing import Any

from kraftops.display.charts import chart, merged
from kraftops.display.sizes import number_text, size_text
from kraftops.display.text_table import Bytes, Cell, Page
from kraftops.display.times import span_text
from kraftops.dump.summary.logs import log_name
from kraftops.engine.count_contract import LONGEST_KEY

_HEIGHT = 6  # of the chart, in lines
_LABEL = 11
_WIDTH = 80  # of a chart that no terminal shows

Fields = Mapping[str, Any]


def summary_text(summary: Fields, page: Page) -> str:
    """Return what `fields_of` gave about a log, or its JSON parsed, as tables and a chart."""
    sections = [list(section(summary, page)) for section in _SECTIONS]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _overview(summary: Fields, _: Page) -> Iterator[str]:
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
    yield _line("damage", damage_text(summary) or "none")
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


def _damage_sites(name: str) -> Callable[[Fields, Page], Iterator[str]]:
    def lines(summary: Fields, page: Page) -> Iterator[str]:
        first = summary[name]["first"]
        if not first:
            return
        rows = [
            [basename(site["file"]), site["position"], site["bytes"], site["reason"]]
            for site in first
        ]
        yield from page.table([name.upper(), "POSITION", "BYTES", "REASON"], rows)
        if summary[name]["count"] > len(first):
            yield f"and {number_text(summary[name]['count'] - len(first))} more"

    return lines


def _distributions(summary: Fields, page: Page) -> Iterator[str]:
    batches = summary["batches"]
    if not batches["count"]:
        return
    columns = ("min", "p50", "p99", "max")
    rows: list[list[Cell]] = [
        ["bytes", *[batches["sizes"][column] for column in columns]],
        ["records", *[batches["records"][column] for column in columns]],
    ]
    yield from page.table(["PER BATCH", "MIN", "MEDIAN", "P99", "MAX"], rows)


def _types(summary: Fields, page: Page) -> Iterator[str]:
    if not summary["types"]:
        return
    total = summary["records"]["count"] or 1
    rows = [
        [
            entry["type"],
            entry["version"],
            entry["count"],
            f"{100 * entry['count'] / total:.1f}%".rjust(6),
            Bytes(entry["bytes"]),
        ]
        for entry in summary["types"]
    ]
    yield from page.table(["TYPE", "VERSION", "RECORDS", "     %", "SIZE"], rows)


def _control(summary: Fields, page: Page) -> Iterator[str]:
    if summary["control"]:
        rows = [[entry["type"], entry["count"]] for entry in summary["control"]]
        yield from page.table(["CONTROL", "RECORDS"], rows)


def _epochs(summary: Fields, page: Page) -> Iterator[str]:
    if summary["leaderEpochs"]:
        rows = [
            [entry["epoch"], entry["firstOffset"], entry["batches"], entry["records"]]
            for entry in summary["leaderEpochs"]
        ]
        yield from page.table(["EPOCH", "FIRST OFFSET", "BATCHES", "RECORDS"], rows)


def _codecs(summary: Fields, page: Page) -> Iterator[str]:
    if summary["codecs"]:
        rows = [
            [
                entry["codec"],
                entry["batches"],
                Bytes(entry["compressedBytes"]),
                Bytes(entry["uncompressedBytes"]),
                "-" if entry["ratio"] is None else f"{entry['ratio']:.2f}".rjust(5),
            ]
            for entry in summary["codecs"]
        ]
        yield from page.table(["CODEC", "BATCHES", "COMPRESSED", "UNCOMPRESSED", "RATIO"], rows)


def _history(summary: Fields, page: Page) -> Iterator[str]:
    times = summary["times"]
    histogram = times["histogram"]
    if len(histogram["counts"]) < 2:
        return
    counts, together = merged(histogram["counts"], (page.width or _WIDTH) - _LABEL - 1)
    highest = number_text(max(counts))
    label = max(len(highest), 1)
    yield f"RECORDS OVER TIME, {span_text(histogram['widthMs'] * together)} a column"
    for number, line in enumerate(chart(counts, _HEIGHT, unicode=page.unicode)):
        yield f"{(highest if not number else '').rjust(label)} |{line}".rstrip()
    yield f"{'0'.rjust(label)} +{'-' * len(counts)}"
    first, last = (times[name] or str(times[f"{name}Ms"]) for name in ("first", "last"))
    yield f"{' ' * label}  {first}" + (f" to {last}" if last != first else "")


def _transactions(summary: Fields, page: Page) -> Iterator[str]:
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
        header = ["OPEN TRANSACTION", "PRODUCER", "EPOCH", "FIRST OFFSET", "SINCE"]
        yield from page.table(header, rows)


def _largest_records(summary: Fields, page: Page) -> Iterator[str]:
    rows = (
        [
            basename(one["file"]),
            one["offset"],
            one["type"],
            one["bytes"],
            one["keySize"],
            one["valueSize"],
            one["timestamp"],
        ]
        for one in summary.get("largest", {}).get("records", ())
    )
    header = ["LARGEST RECORDS", "OFFSET", "TYPE", "BYTES", "KEY", "VALUE", "TIME"]
    yield from page.table(header, rows)


def _largest_batches(summary: Fields, page: Page) -> Iterator[str]:
    rows = (
        [
            basename(one["file"]),
            one["baseOffset"],
            one["bytes"],
            one["records"],
            one["codec"],
            one["producerId"],
        ]
        for one in summary.get("largest", {}).get("batches", ())
    )
    header = ["LARGEST BATCHES", "OFFSET", "BYTES", "RECORDS", "CODEC", "PRODUCER"]
    yield from page.table(header, rows)


def _keys(summary: Fields, page: Page) -> Iterator[str]:
    keys = summary.get("keys")
    if not keys or not keys["top"]:
        return
    rows = [[_key_text(one), one["records"]] for one in _certain(keys, "records")]
    yield from _top_table(["HOTTEST KEYS", "RECORDS"], rows, keys, page)


def _largest_producers(summary: Fields, page: Page) -> Iterator[str]:
    producers = summary.get("largestProducers")
    if not producers or not producers["top"]:
        return
    header = ["LARGEST PRODUCERS", "BYTES UNCOMPRESSED"]
    rows = [[str(one["producerId"]), one["bytes"]] for one in _certain(producers, "bytes")]
    yield from _top_table(header, rows, producers, page)


def _key_text(key: Fields) -> str:
    kind = f" ({key['keyEncoding']})" if key["keyEncoding"] else ""
    rest = f"… of {size_text(key['keySize'])}" if key["keySize"] > LONGEST_KEY else ""
    return f"{key['key']}{rest}{kind}"


def _certain(found: Fields, unit: str) -> list[Fields]:
    """Return the entries that have more than any without a count could have."""
    return [one for one in found["top"] if one[unit] > found["error"]]


def _top_table(
    header: Sequence[str], rows: Sequence[Sequence[Cell]], found: Fields, page: Page
) -> Iterator[str]:
    """Yield a table of the most frequent, and the error of their numbers."""
    unit = "bytes" if "bytes" in found else "records"
    total = f"{number_text(found[unit])} {unit}"
    error = number_text(found["error"])
    if not rows:
        yield f"{header[0]}: none has more than {error} of {total} for certain"
        return
    yield from page.table(header, rows)
    yield f"of {total}; " + ("exact" if not found["error"] else f"too low by at most {error}")


def _producers(summary: Fields, page: Page) -> Iterator[str]:
    producers = summary["producers"]
    names = ("producerId", "producerEpoch", "batches", "records", "committed", "aborted")
    header = ["PRODUCER", "EPOCH", "BATCHES", "RECORDS", "COMMITTED", "ABORTED"]
    rows = ([producer[name] for name in names] for producer in producers["producers"])
    yield from page.table(header, rows, is_whole=producers["exact"])


def _transactional_ids(summary: Fields, page: Page) -> Iterator[str]:
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
    header = ["TRANSACTIONAL ID", "STATE", "PRODUCER", "EPOCH", "PARTITIONS", "UPDATED"]
    rows = ([entry[name] for name in names] for entry in ids["transactionalIds"])
    yield from page.table(header, rows, is_whole=ids["exact"])


def _groups(summary: Fields, page: Page) -> Iterator[str]:
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
    header = ["GROUP", "KIND", "STATE", "MEMBERS", "OFFSETS", "LAG", "LAST COMMIT"]
    yield from page.table(header, rows, is_whole=groups["exact"])


def _committed(summary: Fields, page: Page) -> Iterator[str]:
    rows = (
        [
            group["group"],
            f"{offset['topic']}-{offset['partition']}",
            offset["offset"],
            offset["endOffset"],
            offset["lag"],
            offset["committed"],
        ]
        for group in summary.get("groups", {}).get("groups", ())
        for offset in group["offsets"]
    )
    yield from page.table(["GROUP", "PARTITION", "OFFSET", "END", "LAG", "COMMITTED"], rows)


_SECTIONS: tuple[Callable[[Fields, Page], Iterable[str]], ...] = (
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
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _line(name: str, text: str) -> str:
    return f"{name.ljust(13)}{text}"


def _count(number: int, thing: str) -> str:
    return f"{number_text(number)} {thing}" + ("" if number == 1 else "s")
