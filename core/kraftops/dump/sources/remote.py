"""URIs on a command line: files, directories and patterns in object stores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.dump.sources.partition_directory import Log, logs_in, no_log
from kraftops.errors import SourceError
from kraftops.log.files import file_name
from kraftops.log.remote import CONNECT_SECONDS, Entry, list_directory, s3_endpoint, sizes_of

if TYPE_CHECKING:
    from botocore.client import BaseClient

_S3 = "s3"


class EntryPage(NamedTuple):
    """Some of the entries below a directory; those of all pages are in the order of their names.

    The only page of what is not a directory has None.
    """

    entries: list[Entry] | None
    is_last: bool


EntryPages = Callable[[str], Iterator[EntryPage]]
"""Yields the entries below a directory."""


def whole_listing(uri: str) -> Iterator[EntryPage]:
    """Yield the entries below a directory, all at once.

    Raises:
        SourceError: it cannot be listed.
    """
    yield EntryPage(list_directory(uri, recursive=True), is_last=True)


def listing_pages(uri: str) -> Iterator[EntryPage]:
    """Yield the entries below a directory, a thousand at a time if botocore can ask for them.

    pyarrow waits for the last of them.

    Raises:
        SourceError: it cannot be listed.
    """
    if uri.partition("://")[0].lower() != _S3:
        yield from whole_listing(uri)
        return
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        yield from whole_listing(uri)
        return
    has_begun = False
    try:
        for page in _s3_pages(uri):
            if not (has_begun or page.entries):
                break
            has_begun = True
            yield page
    except (BotoCoreError, ClientError) as error:
        if has_begun:
            raise SourceError(f"cannot read {uri}: {error}") from None
    if not has_begun:  # pyarrow tells an empty directory from none, and has one way to say why not
        yield from whole_listing(uri)


def _s3_pages(uri: str) -> Iterator[EntryPage]:
    bucket, _, path = uri.partition("://")[2].partition("/")
    prefix = f"{path.rstrip('/')}/".lstrip("/")
    pages: Any = _client().get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=bucket, Prefix=prefix):
        entries = [
            Entry(f"s3://{bucket}/{stored['Key']}".rstrip("/"), _size(stored))
            for stored in page.get("Contents", ())
            if stored["Key"] != prefix
        ]
        yield EntryPage(entries, is_last=not page["IsTruncated"])


def _size(stored: dict[str, Any]) -> int | None:
    """Return the bytes of an object; None of one that stands for a directory."""
    return None if stored["Key"].endswith("/") else int(stored["Size"])


def _client() -> BaseClient:
    from botocore.config import Config
    from botocore.session import Session

    # As pyarrow's: a store with an address of its own has no names for its buckets.
    style = {"addressing_style": "path"} if s3_endpoint() else {}
    return Session().create_client(_S3, config=Config(connect_timeout=CONNECT_SECONDS, s3=style))


WILD = re.compile(r"[*?[]")
"""A wildcard of a pattern."""
_NUMBERED = re.compile(r"-[\x00-9]")
_GLOB = re.compile(r"(\*\*/?)|(\*)|(\?)|\[(!?)([^]]+)\]|(.)", re.DOTALL)

_Tree = Mapping[str, list[Entry]]
"""Entries of directories, by their URIs."""


class LogPage(NamedTuple):
    """Some of the logs that a URI stands for; those of all pages are in order."""

    logs: list[Log]
    is_last: bool


def remote_logs(uri: str, *, from_start: bool) -> list[Log]:
    """Return the logs that a URI stands for, by the same rules as for paths.

    One listing of everything below it tells the names and sizes.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory cannot be read, or nothing matches a pattern.
    """
    pages = remote_log_pages(uri, whole_listing, from_start=from_start)
    return [log for page in pages for log in page.logs]


def remote_log_pages(uri: str, listing: EntryPages, *, from_start: bool) -> Iterator[LogPage]:
    """Yield the logs that a URI stands for, as far as a listing has come.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory cannot be read, or nothing matches a pattern.
    """
    if WILD.search(uri):
        logs = list(_matching(uri, from_start=from_start))
        if not logs:
            raise SourceError(f"nothing matches {uri}", code="not-found")
        yield LogPage(logs, is_last=True)
    elif file_name(uri) and (size := sizes_of([uri])[0]) is not None:
        yield LogPage([Log([uri], sizes=(size,))], is_last=True)
    else:
        yield from _below(uri.rstrip("/"), listing(uri), from_start=from_start)


def _below(base: str, pages: Iterable[EntryPage], *, from_start: bool) -> Iterator[LogPage]:
    """Yield the logs in a partition's directory or in a log directory, page by page.

    Raises:
        UsageError: it holds no log.
        SourceError: it cannot be listed.
    """
    waiting: list[Entry] = []
    names: list[str] = []
    has_logs = False
    for entries, is_last in pages:
        if entries is None:
            yield LogPage([Log([base])], is_last=True)
            return
        names += [listed.name for listed in entries if listed.uri.rpartition("/")[0] == base]
        waiting += entries
        count = len(waiting) if is_last else _complete(base, waiting)
        complete, waiting = waiting[:count], waiting[count:]
        logs = _in_directory(base, _tree(base, complete), from_start=from_start)
        has_logs = has_logs or bool(logs)
        is_partition = bool(logs) and logs[0].paths[0].rpartition("/")[0] == base
        if is_last and not has_logs:
            raise no_log(base, names)
        yield LogPage(logs, is_last=is_last or is_partition)
        if is_partition:
            return


def _complete(base: str, entries: Sequence[Entry]) -> int:
    """Return how many entries are of directories that no later entry belongs to or comes before.

    Logs are in the order of `logs_in`, entries in that of their names, where `a-10` and
    `a-1.b-0` come before `a-2`: names wait for all others with the same begin. As long as segments
    may come, whose names are numbers, the directory itself may be a partition's.
    """
    last = _begin(base, entries[-1])
    if last[:1] <= "9" or _begin(base, entries[0]) == last:
        return 0
    count = len(entries)
    while _begin(base, entries[count - 1]) == last:
        count -= 1
    return count


def _begin(base: str, entry: Entry) -> str:
    """Return the directory name below *base* up to `-DIGIT`, by which listings sort partitions."""
    name = entry.uri[len(base) + 1 :].partition("/")[0]
    match = _NUMBERED.search(name)
    return name[: match.start()] if match else name


def _tree(base: str, entries: Iterable[Entry]) -> _Tree:
    """Return the directories from *base* on; a store may list files alone."""
    tree: dict[str, list[Entry]] = {base: []}
    for entry in entries:
        if entry.size is None:
            _add_directory(tree, entry.uri)
            continue
        parent = entry.uri.rpartition("/")[0]
        _add_directory(tree, parent)
        tree[parent].append(entry)
    return tree


def _add_directory(tree: dict[str, list[Entry]], uri: str) -> None:
    if uri not in tree:
        tree[uri] = []
        parent = uri.rpartition("/")[0]
        _add_directory(tree, parent)
        tree[parent].append(Entry(uri, None))


def _in_directory(uri: str, tree: _Tree, *, from_start: bool) -> list[Log]:
    def names_inside(directory: str) -> list[str] | None:
        return [entry.name for entry in tree[directory]] if directory in tree else None

    logs = logs_in(uri, names_inside(uri) or [], names_inside, from_start=from_start)
    return [log._replace(sizes=_sizes(log, tree)) for log in logs]


def _sizes(log: Log, tree: _Tree) -> tuple[int, ...]:
    sizes = {entry.uri: entry.size or 0 for entry in tree[log.paths[0].rpartition("/")[0]]}
    return tuple(sizes[path] for path in log.paths)


def _matching(pattern: str, *, from_start: bool) -> Iterator[Log]:
    """Yield the logs that a pattern matches: logs of directories, and single files.

    Everything below the last directory without a wildcard is listed: object stores do it fast.
    """
    wild = WILD.search(pattern)
    assert wild
    base = pattern[: wild.start()].rpartition("/")[0]
    matches = _regex(pattern.rstrip("/"))
    done: set[str] = set()
    tree = _tree(base, list_directory(base, recursive=True) or ())
    for entry in sorted(entry for entries in tree.values() for entry in entries):
        if not matches.fullmatch(entry.uri) or any(map(done.__contains__, _parents(entry.uri))):
            continue
        if entry.size is not None:
            yield Log([entry.uri], sizes=(entry.size,))
        elif logs := _in_directory(entry.uri, tree, from_start=from_start):
            done.add(entry.uri)
            yield from logs


def _parents(uri: str) -> Iterator[str]:
    while "://" in uri:
        uri = uri.rpartition("/")[0]
        yield uri


def _regex(pattern: str) -> re.Pattern[str]:
    """Return a pattern with `*`, `?`, `[…]` and `**` as a regular expression."""

    def translated(match: re.Match[str]) -> str:
        many, some, one_letter, negation, letters, plain = match.groups()
        if many:
            return "(?:.*/)?" if many.endswith("/") else ".*"
        if some or one_letter:
            return "[^/]*" if some else "[^/]"
        if letters:
            inner = letters.replace("\\", "\\\\").replace("[", "\\[")
            return f"[{'^' if negation else ''}{inner}]"
        return re.escape(plain)

    return re.compile(_GLOB.sub(translated, pattern), re.DOTALL)
