"""A summary as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from os.path import basename
from typing import Any

from kraftops.display.charts import chart, merged
from kraftops.display.sizes import number_text, size_text
from kraftops.display.text_table import Cell, Page
from kraftops.display.times import span_text

_HEIGHT = 6  # of the chart, in lines
_LABEL = 11

Fields = Mapping[str, Any]


def summary_text(summary: Fields, width: int = 80, *, unicode: bool = True) -> str:
    """Return what `Summary.as_dict` gave as tables and a chart.

    Args:
        summary: the dict, or its JSON parsed.
        width: of the terminal; only numbers go beyond.
        unicode: whether blocks and ellipses can be shown; all else is ASCII but the names.
    """
    page = Page(width, unicode=unicode)
    sections = [list(section(summary, page)) for section in _SECTIONS]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _overview(summary: Fields, _: Page) -> Iterator[str]:
    files, batches, records = summary["files"], summary["batches"], summary["records"]
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
    yield _line("damage", _damage_text(summary["damage"]))
    if summary["undecodable"]["count"]:
        yield _line("undecodable", _count(summary["undecodable"]["count"], "record"))


def _offsets(offsets: Fields) -> Iterator[str]:
    if offsets["first"] is None:
        return
    gaps = offsets["gaps"]
    text = f"{number_text(offsets['first'])} to {number_text(offsets['last'])}"
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


def _damage_text(damage: Fields) -> str:
    if not damage["count"]:
        return "none"
    return f"{_count(damage['count'], 'place')}, {size_text(damage['bytes'])}"


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
            size_text(entry["bytes"]).rjust(10),
        ]
        for entry in summary["types"]
    ]
    yield from page.table(["TYPE", "VERSION", "RECORDS", "     %", "      SIZE"], rows)


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
                size_text(entry["compressedBytes"]).rjust(10),
                size_text(entry["uncompressedBytes"]).rjust(12),
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
    counts, together = merged(histogram["counts"], page.width - _LABEL - 1)
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
    yield _line(
        "transactions",
        f"{number_text(transactions['committed'])} committed, "
        f"{number_text(transactions['aborted'])} aborted, "
        f"{number_text(len(transactions['open']))} open",
    )
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
            max((offset["committed"] or "" for offset in group["offsets"]), default=None),
        ]
        for group in groups["groups"]
    )
    header = ["GROUP", "KIND", "STATE", "MEMBERS", "OFFSETS", "LAST COMMIT"]
    yield from page.table(header, rows, is_whole=groups["exact"])


def _committed(summary: Fields, page: Page) -> Iterator[str]:
    rows = (
        [
            group["group"],
            f"{offset['topic']}-{offset['partition']}",
            offset["offset"],
            offset["committed"],
        ]
        for group in summary.get("groups", {}).get("groups", ())
        for offset in group["offsets"]
    )
    yield from page.table(["GROUP", "PARTITION", "OFFSET", "COMMITTED"], rows)


_SECTIONS: tuple[Callable[[Fields, Page], Iterable[str]], ...] = (
    _overview,
    _damage_sites("damage"),
    _damage_sites("undecodable"),
    _distributions,
    _types,
    _control,
    _codecs,
    _epochs,
    _history,
    _transactions,
    _producers,
    _transactional_ids,
    _groups,
    _committed,
)


def _line(name: str, text: str) -> str:
    return f"{name.ljust(13)}{text}"


def _count(number: int, thing: str) -> str:
    return f"{number_text(number)} {thing}" + ("" if number == 1 else "s")
