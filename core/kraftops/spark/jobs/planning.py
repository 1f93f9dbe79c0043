"""Splits: what one task of Spark reads, by the sizes of the files and the number of cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kraftops.dump.sources.names import Source
from kraftops.dump.sources.parts import plan_parts, sizes_of
from kraftops.log.files import file_name
from kraftops.log.ranges import ByteRange
from kraftops.query.query import NO_LIMIT, Query
from kraftops.uris import is_remote

LEAST_BYTES = 16 << 20
MOST_BYTES = 256 << 20
_TASKS_A_CORE = 4  # so that the last ones do not wait long for one
_ARCHIVE_FACTOR = 4  # how much more is in an archive than it takes, about
_FILE_BYTES = 64 << 10  # what it costs to open a file, in bytes that could be read meanwhile
_MOST_PIECES = 10_000


class Piece(NamedTuple):
    """A part of a file, and what its directory says of it: decoder, topic and partition."""

    part: ByteRange
    decoder: str | None = None
    topic: str | None = None
    partition: int | None = None


class Split(NamedTuple):
    """What one task reads: pieces in order; *size* is about how many bytes they are."""

    number: int
    pieces: tuple[Piece, ...]
    size: int


def query_of(query: Query, decoder: str | None) -> Query:
    """Return the query of a piece: with the decoder of its directory, if it has one."""
    if query.decoder is not None or decoder is None:
        return query
    return replace(query, decoder=decoder, deep_iteration=True)


def split_bytes(total: int, cores: int) -> int:
    """Return how large splits should be: several for each core, none too small or too large."""
    return max(LEAST_BYTES, min(MOST_BYTES, total // (cores * _TASKS_A_CORE)))


def plan(
    sources: Sequence[Source],
    cores: int,
    *,
    max_bytes: int = NO_LIMIT,
    size: int | None = None,
    cut: Callable[[Sequence[str], int, int], list[list[ByteRange]]] | None = None,
) -> list[Split]:
    """Return the splits of sources, in order.

    A file is cut at the boundaries of its batches, small files are put together. Files far away
    must be fetched to be cut, so that they are not where there are enough of them for all cores. Of
    files that nobody can read there are splits, too: who reads them says so.

    Args:
        sources: what to read.
        cores: how many tasks run at a time.
        max_bytes: how much of each log is read.
        size: how large splits should be; by data and cores if that is not said.
        cut: cuts files into parts, given the size of parts and *max_bytes*; here by default.
    """
    sizes = sizes_of(source.path for source in sources)
    target = split_bytes(sum(sizes), cores) if size is None else size
    large = [one.path for one, bytes_ in zip(sources, sizes, strict=True) if bytes_ > target]
    if size is None and sum(map(is_remote, large)) >= cores * _TASKS_A_CORE:
        large = [path for path in large if not is_remote(path)]
    parts = dict(zip(large, (cut or cut_here)(large, target, max_bytes), strict=True))
    return list(_packed(_pieces(sources, sizes, parts), target))


def cut_here(paths: Sequence[str], target: int, max_bytes: int) -> list[list[ByteRange]]:
    """Return the parts of each of some files, which are read for that."""
    return [list(plan_parts([path], target, max_bytes, cut_remote=True)) for path in paths]


def _pieces(
    sources: Iterable[Source], sizes: Iterable[int], parts: Mapping[str, Sequence[ByteRange]]
) -> Iterator[tuple[Piece, int]]:
    """Yield pieces and about how many bytes each is."""
    for source, size in zip(sources, sizes, strict=True):
        path, about = source.path, (source.decoder, source.topic, source.partition)
        if path not in parts:
            name = file_name(path)
            is_archive = name is not None and bool(name.archive)
            yield Piece(ByteRange(path), *about), size * _ARCHIVE_FACTOR if is_archive else size
            continue
        for part in parts[path]:
            # Numbers of devices and files are those of one machine.
            piece = Piece(part._replace(file_id=None), *about)
            yield piece, size if part.stop is None else part.stop - part.start


def _packed(pieces: Iterable[tuple[Piece, int]], target: int) -> Iterator[Split]:
    number, size = 0, 0
    held: list[Piece] = []
    for piece, bytes_ in pieces:
        cost = bytes_ + _FILE_BYTES
        if held and (size + cost > target or len(held) >= _MOST_PIECES):
            yield Split(number, tuple(held), size)
            number, held, size = number + 1, [], 0
        held.append(piece)
        size += cost
    if held:
        yield Split(number, tuple(held), size)
