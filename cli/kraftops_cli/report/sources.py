"""The sources of a report: the files that are counted, and the metadata log among them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.sources.names import Source, expand, opened_bundles
from kraftops.dump.sources.parts import sizes_of
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.fileio.mounts import archive_of
from kraftops.image.load.log_size import reach
from kraftops.image.load.sources import files_of
from kraftops.log.files import STANDARD_INPUT, FileKind, file_name
from kraftops.log.streams import open_log
from kraftops.records.internal_topics import METADATA
from kraftops.report.commands import (
    MetadataCommands,
    folder_of,
    of_archive,
    of_metadata_files,
)
from kraftops.report.metadata_log import Span, is_metadata_log
from kraftops.server.nearby import cluster_id_near, log_directories_in
from kraftops.uris import is_remote
from kraftops_cli.syntax.shared_options import SpanOptions
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.terminal.times import note_earlier_end, read_span

if TYPE_CHECKING:
    from kraftops.dump.sources.bundles import Bundle


def log_span(options: SpanOptions, end: Callable[[], int | None], terminal: Terminal) -> Span:
    """Return the span that options name, in what is read up to *end*.

    Raises:
        UsageError: a time is wrong.
    """
    now = int(time.time() * 1000)
    end = cache(end)
    since, until = read_span(options.since, options.until, now, end, terminal)
    note_earlier_end(since, end, terminal)
    if since is not None and until is not None and since > until:
        raise UsageError(f"--since {options.since} is after --until {options.until}")
    return Span(since, until, now)


class MetadataFiles(NamedTuple):
    """A metadata log: the names to read it by, as `files_of` takes them, and what is shown of it.

    *place* is the directory or file that users know it by.
    """

    names: tuple[str, ...]
    place: str
    commands: MetadataCommands
    size: int
    """The bytes of its files."""


class ReportFiles(NamedTuple):
    """All files of a report, its metadata log, and the metadata logs that are left out.

    *folder* is the nearest one that has all of them.
    """

    sources: list[Source]
    metadata: MetadataFiles | None
    others: list[MetadataFiles]
    unreadable: list[SourceError]
    folder: str | None


@contextmanager
def metadata_log_names(
    names: Sequence[str], terminal: Terminal
) -> Iterator[tuple[tuple[str, ...], list[SourceError]]]:
    """Yield the names that a metadata log is read by, and the errors of members that are skipped.

    The errors are written to standard error. Archives are open as long as the context lasts.

    Raises:
        UsageError: no metadata log is in an archive.
        SourceError: an archive cannot be read.
    """
    skipped: list[SourceError] = []

    def skip(error: SourceError) -> None:
        skipped.append(error)
        terminal.failure(error)

    with opened_bundles(names, skip, only_metadata=True) as bundles:
        files = None
        if bundles:
            logs = report_files(names, bundles)
            files = logs.metadata
            if files is None:
                raise UsageError(f"{names[0]}: no metadata log is in it")
            note_furthest(files.place, files.names, len(logs.others), terminal)
        yield files.names if files else tuple(names), skipped


def furthest_log(names: Sequence[str], terminal: Terminal) -> tuple[str, ...]:
    """Return names, but of several metadata logs in directories that which can be read furthest.

    All nodes of a cluster have the same log. The newest by time may be damaged early.

    Raises:
        UsageError: they are of several clusters.
    """
    logs = {name: _metadata_directories_in(name) for name in names}
    directories = [directory for inside in logs.values() for directory in inside]
    if not directories:
        return tuple(names)
    chosen = directories[0]
    if len(directories) > 1:
        _refuse_several_clusters(directories)
        chosen = max(directories, key=lambda directory: reach([directory]))
    note_furthest(chosen, [chosen], len(directories) - 1, terminal)
    return (chosen, *(name for name, inside in logs.items() if not inside))


def _refuse_several_clusters(places: Iterable[str]) -> None:
    """Refuse metadata logs of several clusters: only one would be read.

    Raises:
        UsageError: two are of clusters with other ids.
    """
    by_cluster: dict[str, str] = {}
    for place in places:
        if cluster_id := cluster_id_near([place]):
            by_cluster.setdefault(cluster_id, place)
    if len(by_cluster) > 1:
        logs = ", ".join(f"{place} of {cluster_id}" for cluster_id, place in by_cluster.items())
        raise UsageError(f"these metadata logs are of several clusters: {logs}", "name one of them")


def _metadata_directories_in(name: str) -> list[str]:
    """Return the directories of metadata logs that a directory is, or holds."""
    if is_remote(name) or not os.path.isdir(name):
        return []
    if any(files_of([name])[:3]):
        return [name]
    return [directory for directory in log_directories_in(name) if any(files_of([directory])[:3])]


def note_furthest(place: str, names: Sequence[str], others: int, terminal: Terminal) -> None:
    """Say which of several metadata logs is read, and how far it goes."""
    if others:
        _, end = reach(names)
        terminal.error(
            f"note: of {others + 1} metadata logs, that of {place} can be read furthest: "
            f"to offset {end - 1}"
        )


def report_files(names: Sequence[str], bundles: Mapping[str, Bundle]) -> ReportFiles:
    """Return the files that *names* stand for; of archives those in *bundles*.

    Of several metadata logs, the one that can be read furthest is chosen.

    Raises:
        UsageError: a directory holds no log, or metadata logs are of several clusters.
        SourceError: nothing can be read.
    """
    unreadable: list[SourceError] = []
    found = [one for name in names for one in _expanded(name, unreadable, bundles)]
    sources: list[Source] = []
    for source in {source.path: source for source in found}.values():
        try:
            sources.append(_with_decoder(source))
        except SourceError as error:
            unreadable.append(error)
    if unreadable and not sources:
        raise unreadable[0]
    groups: dict[str, list[Source]] = {}
    for source in sources:
        if source.decoder == METADATA:
            key = os.path.dirname(source.path)
            groups.setdefault(key, []).append(source)
    folder = folder_of(map(_known_as, sources))
    logs = [_metadata_files(group, folder) for group in groups.values()]
    if len(logs) > 1:
        _refuse_several_clusters([log.place for log in logs])
        logs.sort(key=lambda log: (reach(log.names), log.size))
    chosen = logs.pop() if logs else None
    return ReportFiles(
        sources=sources, metadata=chosen, others=logs, unreadable=unreadable, folder=folder
    )


def _known_as(source: Source) -> str:
    """Return the name that users know: a file's archive, its partition's directory, or itself."""
    path = source.path
    return archive_of(path) or (path if source.topic is None else os.path.dirname(path))


def _expanded(
    name: str, unreadable: list[SourceError], bundles: Mapping[str, Bundle]
) -> list[Source]:
    """Return the files of a name: of a metadata log all segments, or else the snapshot alone."""
    try:
        return expand([name], from_start=True, on_unreadable=unreadable.append, bundles=bundles)
    except UsageError:
        return expand([name], on_unreadable=unreadable.append, bundles=bundles)


def _with_decoder(source: Source) -> Source:
    """Return a source with the decoder of metadata if its records are, and no name tells.

    Raises:
        SourceError: it cannot be read, or has neither the name nor the first bytes of a log.
    """
    if source.decoder is not None or source.topic is not None or source.path == STANDARD_INPUT:
        return source
    name = file_name(source.path)
    if name is not None and name.kind is FileKind.CHECKPOINT:
        return replace(source, decoder=METADATA)
    if name is None:
        with open_log(source.path) as log:
            if next(iter(log.batches()), None) is None:
                raise SourceError(f"{source.path} is not a log: it does not begin with a batch")
    try:
        is_metadata = is_metadata_log(source.path)
    except DecodeError:
        is_metadata = False
    return replace(source, decoder=METADATA) if is_metadata else source


def _metadata_files(sources: Sequence[Source], folder: str | None) -> MetadataFiles:
    paths = [source.path for source in sources]
    first = paths[0]
    size = sum(sizes_of(paths))
    if sources[0].topic is None:
        return MetadataFiles(tuple(paths), first, of_metadata_files(paths, None, folder), size)
    place = os.path.dirname(first)
    if archive := archive_of(first):
        return MetadataFiles((place,), place, of_archive(archive, folder), size)
    return MetadataFiles((place,), place, of_metadata_files(paths, place, folder), size)
