"""Kafka's text of small plain logs, many at a time: to open a scan of each takes longer."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import file_head
from kraftops.engine.scan_contract import Request
from kraftops.engine.scanning import open_scan
from kraftops.errors import UsageError
from kraftops.log.files import FileKind, file_name
from kraftops.log.held_files import small_files
from kraftops.log.ranges import ByteRange
from kraftops.query.query import NO_LIMIT, Query

_FILES = 32  # at a time: of each 64 KiB, and a megabyte of text


class PlainText(NamedTuple):
    """The text of a file of a number of bytes."""

    text: bytes
    size: int


def plain_texts(
    paths: Iterable[str], query_of: Callable[[str], Query]
) -> Iterator[PlainText | None]:
    """Yield the text of each file that is small and plain; None of others."""
    remaining = iter(paths)
    while block := list(islice(remaining, _FILES)):
        texts: dict[str, PlainText] = {}
        for query, group in groupby(block, query_of):
            texts.update(_texts(filter(_is_segment, group), query))
        yield from map(texts.get, block)


def _texts(paths: Iterable[str], query: Query) -> Iterator[tuple[str, PlainText]]:
    request = Request("", query)
    if request.is_chosen or not query.output_format.is_text or query.max_bytes != NO_LIMIT:
        return
    scan = open_scan(request)
    for group in small_files(paths):
        texts = scan.engine.texts(group.content, group.stops)
        for path, size, text in zip(group.paths, group.sizes, texts, strict=True):
            if text is not None:
                head = file_head(ByteRange(path), query, Report())
                yield path, PlainText(head + text, size)


def _is_segment(path: str) -> bool:
    """Tell by its name whether a file is an uncompressed segment with a valid base offset."""
    file = file_name(path)
    if file is None or file.is_stdin or file[1:] != (FileKind.LOG, "", ""):
        return False
    try:
        return file.base_offset >= 0
    except UsageError:
        return False
