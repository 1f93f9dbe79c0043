"""Names on a command line: files, directories, patterns, standard input, URIs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import count, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.sources.partition_directory import Log, logs_in, no_log
from kraftops.dump.sources.remote import WILD, listing_pages, remote_log_pages, remote_logs
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import is_directory, names_in
from kraftops.log.files import (
    PARTITION_NAME,
    STANDARD_INPUT,
    file_name,
    has_bundle_name,
)
from kraftops.records.internal_topics import decoder_for_topic
from kraftops.server.nearby import log_directories_in
from kraftops.uris import is_remote, local_path

if TYPE_CHECKING:
    from kraftops.dump.sources.bundles import Bundle

OnUnreadable = Callable[[SourceError], None]
"""Takes the error of a partition that cannot be read, while the others are."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read, or `-`, standard input.

    *decoder*, *topic* and *partition* are by the name of the directory, or None. Sources with the
    same *group* are consecutive parts of one log. *size* is in bytes, where a listing told it.
    """

    path: str
    decoder: str | None
    topic: str | None
    partition: int | None
    group: int
    size: int | None = field(default=None, compare=False)


def expand(
    names: Iterable[str],
    *,
    from_start: bool = False,
    raw: bool = False,
    on_unreadable: OnUnreadable | None = None,
    bundles: Mapping[str, Bundle] | None = None,
) -> list[Source]:
    """Return the sources that *names* stand for, in their order.

    A partition's directory stands for its segments; the metadata log's directory for its newest
    snapshot and the segments after it. A log directory stands for all its partitions. A name with a
    wildcard is a pattern if no file has this name.

    Args:
        names: of files, which need not exist, and directories; patterns with `*`, `?`, `[…]` and
            `**`; URIs of all these; or `-`.
        from_start: of a metadata log, take all segments and no snapshot.
        raw: choose no decoder.
        on_unreadable: takes the error of each partition in a directory that cannot be read; by
            default it is raised.
        bundles: the archives of `bundles_among` *names*, by their paths; each stands for all
            partitions in it.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory cannot be read, or a pattern matches nothing.
    """
    options = _Options(from_start, on_unreadable, bundles or {})
    logs = [log for name in names for log in _logs(name, options)]
    return list(_sources(logs, count(), raw=raw))


class SourcePage(NamedTuple):
    """Some of the sources that names stand for; those of all pages are in order."""

    sources: list[Source]
    is_last: bool


def expand_by_page(
    uris: Sequence[str], *, from_start: bool = False, raw: bool = False
) -> Iterator[SourcePage]:
    """Yield the sources that URIs in stores stand for, as far as listings have come.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory cannot be read, or a pattern matches nothing.
    """
    groups = count()
    for number, uri in enumerate(uris, 1):
        for logs, is_last in remote_log_pages(uri, listing_pages, from_start=from_start):
            sources = list(_sources(logs, groups, raw=raw))
            yield SourcePage(sources, is_last=is_last and number == len(uris))


def _sources(logs: Iterable[Log], groups: Iterator[int], *, raw: bool) -> Iterator[Source]:
    """Yield the files of logs, and number these."""
    for log, group in zip(logs, groups, strict=False):
        decoder = None if raw or log.topic is None else decoder_for_topic(log.topic)
        for path, size in zip_longest(log.paths, log.sizes):
            yield Source(path, decoder, log.topic, log.partition, group, size)


class _Options(NamedTuple):
    """How directories are looked at; see `expand`."""

    from_start: bool
    on_unreadable: OnUnreadable | None = None
    bundles: Mapping[str, Bundle] = {}


def _logs(name: str, options: _Options) -> list[Log]:
    if name == STANDARD_INPUT:
        return [Log([name])]
    if "://" in name:
        name = local_path(name)
        if is_remote(name):
            return remote_logs(name, from_start=options.from_start)
    if is_directory(name):
        logs = _in_directory(name, names_below(name), options)
        if not logs:
            inside = [path for path in log_directories_in(name) if path != name]
            logs = [
                log for path in inside for log in _in_directory(path, names_below(path), options)
            ]
        if not logs and file_name(name):
            return [Log([name])]  # refused like any file that cannot be read
        if not logs:
            raise no_log(name, names_below(name))
        return logs
    if os.path.lexists(name) or not WILD.search(name):
        return _of_file(name, options)
    logs = list(_matching(name, options))
    if not logs:
        raise SourceError(f"nothing matches {name}", code="not-found")
    return logs


def _matching(pattern: str, options: _Options) -> Iterator[Log]:
    """Yield the logs that a pattern matches: logs of directories, and single files."""
    for path in matching_paths(pattern):
        if is_directory(path):
            yield from _in_directory(path, _readable_names(path, options), options)
        else:
            yield from _of_file(path, options)


def _of_file(path: str, options: _Options) -> list[Log]:
    bundle = options.bundles.get(path)
    return bundle.logs(from_start=options.from_start) if bundle else [Log([path])]


def matching_paths(name: str) -> Iterator[str]:
    """Yield the files and the directories with logs that a pattern matches; or an existing name.

    `**` matches a directory and then everything in it; its files must not come twice.
    """
    from glob import iglob

    if os.path.lexists(name):
        yield name
        return
    options = _Options(from_start=True)
    done: set[str] = set()
    for path in sorted(iglob(name, recursive=True)):
        normal = os.path.normpath(path)
        if not done.isdisjoint(_with_parents(normal)):
            continue
        if not is_directory(path):
            yield path
        elif _in_directory(path, _readable_names(path, options), options):
            done.add(normal)
            yield path


def bundles_among(names: Iterable[str]) -> list[str]:
    """Return the archives of directories on this machine among names and patterns."""
    local = [local_path(name) if "://" in name else name for name in names]
    paths = [
        path
        for name in local
        if not is_remote(name) and (has_bundle_name(name) or WILD.search(name))
        for path in matching_paths(name)
    ]
    return [path for path in dict.fromkeys(paths) if has_bundle_name(path) and os.path.isfile(path)]


def opened_bundles(
    names: Iterable[str], on_skipped: OnUnreadable, *, only_metadata: bool = False
) -> AbstractContextManager[Mapping[str, Bundle]]:
    """Return the archives of directories among names; paths lead into them in the context."""
    archives = bundles_among(names)
    if not archives:
        return nullcontext({})
    from kraftops.dump.sources.bundles import opened

    return opened(archives, on_skipped, only_metadata=only_metadata)


def refuse_bundles(names: Iterable[str]) -> None:
    """Refuse archives of directories for Spark.

    Raises:
        UsageError: there is one.
    """
    if archives := bundles_among(names):
        hint = "unpack it, and name the directory"
        raise UsageError(f"--spark reads no archive of directories: {archives[0]}", hint)


def refuse_remote_bundles(names: Iterable[str]) -> None:
    """Refuse archives of directories in object stores: only local files are read in place.

    Raises:
        UsageError: there is one.
    """
    for name in names:
        if is_remote(name) and has_bundle_name(name):
            raise UsageError(
                f"{name} is an archive of directories in an object store",
                "copy it to this machine, or unpack it there, and name the directory",
            )


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        parent = os.path.dirname(path)
        path = parent if parent != path else ""


def _in_directory(path: str, names: list[str], options: _Options) -> list[Log]:
    def names_inside(directory: str) -> list[str] | None:
        return _readable_names(directory, options) if is_directory(directory) else None

    return logs_in(path, names, names_inside, from_start=options.from_start)


def names_below(directory: str) -> list[str]:
    """Return the names in a directory.

    Raises:
        SourceError: it cannot be listed.
    """
    try:
        return names_in(directory)
    except OSError as error:
        raise SourceError.of(directory, error) from None


def _readable_names(directory: str, options: _Options) -> list[str]:
    """Return the names in a directory that was found, and not named by the user.

    The list is empty if a server has just deleted it, or if it is unreadable and not named as a
    partition, such as `lost+found`.

    Raises:
        SourceError: the directory of a partition cannot be read, and no callback takes the error.
    """
    try:
        return names_below(directory)
    except SourceError as error:
        name = os.path.basename(os.path.normpath(directory))
        if PARTITION_NAME.fullmatch(name) and is_directory(directory):
            if options.on_unreadable is None:
                raise
            options.on_unreadable(error)
        return []
