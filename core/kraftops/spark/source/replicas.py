"""One copy of each partition, where log directories of several brokers are read."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kraftops.dump.small_files import small_file
from kraftops.dump.sources.names import Source
from kraftops.dump.sources.parts import source_sizes
from kraftops.errors import SourceError
from kraftops.log.files import FileKind, file_name

BrokerIdentity = tuple[Any, Any]
"""The id of a cluster and that of a node."""


@dataclass(frozen=True, slots=True)
class Replicas:
    """The *sources* that are read: of each partition the newest copy; *others* are left out."""

    sources: tuple[Source, ...]
    others: frozenset[str]
    """The directories of the other copies."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of a partition: its *directory*, and its place among the others."""

    directory: str
    broker: str
    newest: tuple[int, int, int]
    """The last leader epoch; base offset and bytes of the last segment, which tell its end."""


def newest_replicas(sources: Sequence[Source]) -> Replicas:
    """Return the sources without copies of partitions that other brokers have, too.

    Copies are of one partition if their brokers are of one cluster (`meta.properties`), and their
    topics of one id (`partition.metadata`). Of them the one is read that a leader would truncate
    least: with the newest leader epoch, then with the highest end.
    """
    logs: dict[str, list[Source]] = {}
    for source in sources:
        logs.setdefault(os.path.dirname(source.path), []).append(source)
    copies: dict[object, list[_Copy]] = {}
    by_partition = directories_by_partition(logs).values()
    directories = [name for several in by_partition if len(several) > 1 for name in several]
    parents = {os.path.dirname(directory) for directory in directories}
    identities = {path: broker_identity(path) for path in parents}
    for directory in directories:
        identity = identities[os.path.dirname(directory)]
        key, copy = _copy(directory, logs[directory], identity)
        copies.setdefault(key, []).append(copy)
    others = set()
    for several in copies.values():
        if len({copy.broker for copy in several}) > 1:
            kept = max(several, key=lambda copy: copy.newest)
            others |= {copy.directory for copy in several if copy.broker != kept.broker}
    kept_sources = (source for source in sources if os.path.dirname(source.path) not in others)
    return Replicas(tuple(kept_sources), frozenset(others))


def directories_by_partition(names: Iterable[str]) -> dict[str, list[str]]:
    """Return directories of partitions by their last names, `TOPIC-PARTITION`."""
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(os.path.basename(name), []).append(name)
    return by_name


def _copy(directory: str, log: Sequence[Source], identity: BrokerIdentity) -> tuple[object, _Copy]:
    cluster, broker = identity
    topic_id = _content(os.path.join(directory, "partition.metadata")).get("topicId")
    entries = _content(os.path.join(directory, "leader-epoch-checkpoint")).get("entries", [])
    name = file_name(log[-1].path)
    base = name.base_offset if name and name.kind is FileKind.LOG else -1
    (size,) = source_sizes(log[-1:])
    # A start drops epochs that begin where the log ends (`LeaderEpochFileCache.truncateFromEnd`):
    # of a log whose last segment is empty, that is its base offset.
    epochs = [entry["epoch"] for entry in entries if size or entry["startOffset"] < base]
    copy = _Copy(directory, str(broker), (max(epochs, default=-1), base, size))
    if cluster is None or broker is None:
        return directory, copy  # no file says whose it is: a log of its own
    return (cluster, os.path.basename(directory), topic_id), copy


def broker_of(directory: str) -> int | None:
    """Return the id of the broker with this log directory; None if no file tells it."""
    with suppress(TypeError, ValueError):
        return int(broker_identity(directory)[1])
    return None


def broker_identity(directory: str) -> BrokerIdentity:
    """Return the cluster and the node that a log directory is of; None of what no file tells."""
    properties = _content(os.path.join(directory, "meta.properties"))
    return properties.get("cluster.id"), properties.get("node.id", properties.get("broker.id"))


def _content(path: str) -> Mapping[str, Any]:
    """Return the data of a small file; none if it is not there."""
    try:
        return (small_file(path) or {}).get("data") or {}
    except SourceError:
        return {}
