"""URIs on a command line: files, directories and patterns in object stores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from kraftops.dump.sources.partition_directory import Log, no_log, partition_log
from kraftops.errors import SourceError
from kraftops.log.files import PARTITION_NAME, TIERED_TOPIC, file_name
from kraftops.log.remote import Entry, list_directory, sizes_of

WILD = re.compile(r"[*?[]")
"""A wildcard of a pattern."""
_GLOB = re.compile(r"(\*\*/?)|(\*)|(\?)|\[(!?)([^]]+)\]|(.)", re.DOTALL)

_Tree = Mapping[str, list[Entry]]
"""Entries of directories, by their URIs."""


def remote_logs(uri: str, *, from_start: bool) -> list[Log]:
    """Return the logs that a URI stands for, by the same rules as for paths.

    One listing of everything below it tells the names and sizes.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory cannot be read, or nothing matches a pattern.
    """
    if WILD.search(uri):
        found = list(_matching(uri, from_start=from_start))
        if not found:
            raise SourceError(f"nothing matches {uri}", code="not-found")
        return found
    if file_name(uri) and (size := sizes_of([uri])[0]) is not None:
        return [Log([uri], sizes=(size,))]
    entries = list_directory(uri, recursive=True)
    if entries is None:
        return [Log([uri])]
    uri = uri.rstrip("/")
    tree = _tree(uri, entries)
    found = _in_directory(uri, tree, from_start=from_start)
    if not found:
        raise no_log(uri, [entry.name for entry in tree.get(uri, [])])
    return found


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
    while uri not in tree:
        tree[uri] = []
        parent = uri.rpartition("/")[0]
        tree.setdefault(parent, []).append(Entry(uri, None))
        uri = parent


def _in_directory(uri: str, tree: _Tree, *, from_start: bool) -> list[Log]:
    """Return the log in a partition's directory, or the logs in a log directory."""
    entries = tree.get(uri, [])
    log = _partition_log(uri, entries, from_start=from_start)
    if log:
        return [log]
    found = []
    for entry in entries:
        match = PARTITION_NAME.fullmatch(entry.name)
        if entry.size is not None or (match and match[3]):
            continue
        inner = tree[entry.uri]
        if TIERED_TOPIC.fullmatch(entry.name) and not any(one.size is not None for one in inner):
            logs = _in_directory(entry.uri, tree, from_start=from_start)
        else:
            log = _partition_log(entry.uri, inner, from_start=from_start)
            logs = [log] if log else []
        found += [(log.topic or entry.name, log.partition or 0, log) for log in logs]
    found.sort(key=lambda entry: entry[:2])
    return [log for _, _, log in found]


def _partition_log(uri: str, entries: list[Entry], *, from_start: bool) -> Log | None:
    sizes = {entry.name: entry.size for entry in entries if entry.size is not None}
    log = partition_log(uri, [*sizes], from_start=from_start)
    return log and log._replace(sizes=tuple(sizes[path.rpartition("/")[2]] for path in log.paths))


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

    def translated(found: re.Match[str]) -> str:
        many, some, one, negation, letters, plain = found.groups()
        if many:
            return "(?:.*/)?" if many.endswith("/") else ".*"
        if some or one:
            return "[^/]*" if some else "[^/]"
        if letters:
            inner = letters.replace("\\", "\\\\").replace("[", "\\[")
            return f"[{'^' if negation else ''}{inner}]"
        return re.escape(plain)

    return re.compile(_GLOB.sub(translated, pattern), re.DOTALL)
