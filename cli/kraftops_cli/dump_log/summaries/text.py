"""A summary as text for people."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from kraftops.answers.cells import cells_of, columns_of
from kraftops.answers.fields import Field, number, text
from kraftops.display.charts import chart, merged
from kraftops.display.columns import folded
from kraftops.display.columns import number as number_column
from kraftops.display.sizes import number_text, size_text
from kraftops.display.times import span_text
from kraftops.dump.summary import answer
from kraftops.dump.summary.logs import log_name
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, table_text

_HEIGHT = 6  # of the chart, in lines
_LABEL = 11  # columns before the chart: the highest count, and the axis
_WIDTH = 80  # of a chart that no terminal shows
_MOST_ROWS = 20  # of each table on a terminal; the rest is counted

Fields = Mapping[str, Any]
_Section = Callable[[Fields, Console], Iterable[str]]
"""Returns the lines of a part of a summary."""


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


def _tabled(console: Console, fields: Sequence[Field], rows: Iterable[Fields]) -> str:
    """Draw a table of fields, without its last newline."""
    cells = (cells_of(fields, row) for row in rows)
    table = Table(columns_of(fields), cells, limit=_MOST_ROWS)
    return table_text(console, table).removesuffix("\n")


def _table(rows_of: Callable[[Fields], Iterable[Fields]], fields: Sequence[Field]) -> _Section:
    """Return a section that is a table, if there is any row."""
    return lambda summary, console: [_tabled(console, fields, rows_of(summary))]


def _named(fields: Iterable[Field], names: str) -> tuple[Field, ...]:
    """Pick fields by name, in this order."""
    by_name = {field.name: field for field in fields}
    return tuple(by_name[name] for name in names.split())


def _damage_sites(name: str) -> _Section:
    fields = (replace(answer.SITE[0], column=folded(name.upper())), *answer.SITE[1:])

    def lines(summary: Fields, console: Console) -> Iterator[str]:
        sites = summary[name]
        yield _tabled(console, fields, sites["first"])
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
        yield _tabled(console, answer.OPEN_TRANSACTION, transactions["open"])


def _tops(name: str, title: str, unit: str, counted: Sequence[Field]) -> _Section:
    """Make a section of the most frequent keys or producers, with the error of their counts."""

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
        yield _tabled(console, counted, certain)
        yield f"of {total}; " + (f"too low by at most {error}" if tops["error"] else "exact")

    return lines


def _sampled(name: str, fields: Sequence[Field]) -> _Section:
    """Make a section with a table that may be only a sample, and then says so."""

    def lines(summary: Fields, console: Console) -> Iterator[str]:
        if things := summary.get(name):
            yield _tabled(console, fields, things[name])
            if not things["exact"]:
                yield "There are more than are kept: these are a sample."

    return lines


def _largest(name: str) -> Callable[[Fields], Iterable[Fields]]:
    return lambda summary: (summary.get("largest") or {}).get(name, ())


def _committed(summary: Fields) -> Iterator[Fields]:
    for group in summary["groups"]["groups"]:
        for offset in group["offsets"]:
            yield {**offset, "group": group["group"]}


def _lag(group: Fields) -> int | None:
    """Return the sum of the known lags of a group's offsets."""
    lags = [offset["lag"] for offset in group["offsets"] if offset["lag"] is not None]
    return sum(lags) if lags else None


def _last_commit(group: Fields) -> str | None:
    return max((offset["committed"] or "" for offset in group["offsets"]), default=None)


def _partition(offset: Fields) -> str:
    return f"{offset['topic']}-{offset['partition']}"


_SHARE = text("share", "", column=number_column("%"))
_SECTIONS: tuple[_Section, ...] = (
    _overview,
    _damage_sites("damage"),
    _damage_sites("undecodable"),
    _table(_distributions, (text("name", "", column="PER BATCH"), *answer.DISTRIBUTION)),
    _table(_types, (*answer.RECORD_TYPE[:3], _SHARE, answer.RECORD_TYPE[3])),
    _table(itemgetter("control"), answer.CONTROL_TYPE),
    _table(itemgetter("codecs"), answer.CODEC),
    _table(
        _largest("records"),
        _named(answer.LARGEST_RECORD, "file offset type bytes keySize valueSize timestamp"),
    ),
    _table(_largest("batches"), answer.LARGEST_BATCH),
    _tops("keys", "HOTTEST KEYS", "records", answer.KEY),
    _tops("largestProducers", "LARGEST PRODUCERS", "bytes", answer.LARGE_PRODUCER),
    _table(itemgetter("leaderEpochs"), answer.EPOCH),
    _history,
    _transactions,
    _sampled("producers", answer.PRODUCER),
    _sampled("transactionalIds", answer.TRANSACTIONAL_ID),
)
_GROUP_SECTIONS: tuple[_Section, ...] = (
    _sampled(
        "groups",
        (
            *answer.GROUP,
            number("lag", "", numeral="amount", column="LAG", get=_lag),
            text("lastCommit", "", column=("LAST COMMIT", 4), get=_last_commit),
        ),
    ),
    _table(
        _committed,
        (
            answer.GROUP[0],
            text("partition", "", column=folded("PARTITION"), cell=_partition),
            *_named(answer.COMMITTED, "offset endOffset lag committed endFile"),
        ),
    ),
)


def _line(name: str, text: str) -> str:
    return f"{name.ljust(13)}{escaped(text)}"


def _count(number: int, thing: str) -> str:
    return f"{number_text(number)} {thing}" + ("" if number == 1 else "s")
