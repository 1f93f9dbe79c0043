"""Scan of a metadata log: the byte ranges that count, and the facts that all shards need.

One load of the log without an image finds gaps, damage, the end of time travel and incomplete
snapshots; it uses the results of the prescan.
"""

from __future__ import annotations

import os
import pickle
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from tempfile import TemporaryDirectory
from typing import NamedTuple
from uuid import uuid4
from zlib import crc32

from kraftops.findings.finding import Finding
from kraftops.image.load.loading import loaded_by
from kraftops.image.load.prescan import CountedRange, PrescanLoader, PrescanReplay, ScannedPart
from kraftops.image.load.topic_ranges import TopicRanges
from kraftops.image.replay.limits import Limits
from kraftops.image.state.changes import Change, Provenance
from kraftops.image.state.image import MetadataImage
from kraftops.log.ranges import ByteRange
from kraftops.spark.session.failures import job_errors
from kraftops.spark.session.session import Session
from kraftops.spark.session.shipping import sent_file

_ID = 16  # bytes of a topic's id

PrescannedRanges = Mapping[str, Sequence[tuple[ByteRange, ScannedPart | None]]]
"""Byte ranges of files by path, each with the result of its prescan."""


@dataclass(frozen=True, slots=True)
class SearchedLog:
    """Metadata log that is searched: its files or directories, up to which limits, and its dialect.

    *with_prior_state* asks also for the state before a snapshot.
    """

    names: tuple[str, ...]
    limits: Limits
    dialect: str
    with_prior_state: bool = False


class TopicHashes(NamedTuple):
    """Hashes by topic ids in 20 bytes each, since every worker has all of them.

    *ids* are concatenated in order, and so are the hashes, of 4 bytes each.
    """

    ids: bytes
    hashes: bytes

    def get(self, topic_id: bytes) -> int | None:
        """Return the hash of a topic's id, None if it is unknown."""
        index = bisect_left(_Ids(self.ids), topic_id)
        if self.ids[index * _ID : (index + 1) * _ID] != topic_id:
            return None
        return int.from_bytes(self.hashes[4 * index : 4 * index + 4])


class _Ids:
    """Sequence of concatenated ids."""

    def __init__(self, ids: bytes) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids) // _ID

    def __getitem__(self, index: int) -> bytes:
        return self._ids[index * _ID : (index + 1) * _ID]


def hash_of(name: str) -> int:
    """Return the hash of a topic's name."""
    return crc32(name.encode("utf-8", "surrogatepass"))


class PriorLog(NamedTuple):
    """Log before a snapshot; see `kraftops.image.load.prior_state.prior_state_of`.

    *loads* are the counted ranges of each load of an image, in order.
    """

    loads: list[list[CountedRange]]
    unchanged: Change | None

    @property
    def source(self) -> int:
        """Number of its first source; its sources come after all others."""
        return min(counted.source for load in self.loads for counted in load)


class LogScan(NamedTuple):
    """Result of the scan: counted ranges in order, names of topics, findings about the log.

    *hashes* has the hash of each topic, by id. Topics that had the same id share the hash of one of
    their names; *aliases* has that name by each of the others. *ranges* has masks of the partition
    ranges besides the first, by hash. *offset* is the last one that the state covers. *prior* is
    None unless it is asked for.
    """

    counted: list[CountedRange]
    hashes: TopicHashes
    aliases: dict[str, str]
    ranges: dict[int, int]
    findings: list[Finding]
    provenance: Provenance
    offset: int
    prior: PriorLog | None

    @property
    def all_counted(self) -> list[CountedRange]:
        """All counted ranges, in the order of their sources."""
        return [*self.counted, *(counted for load in self.loads for counted in load)]

    @property
    def loads(self) -> list[list[CountedRange]]:
        """Loads of the prior log."""
        return self.prior.loads if self.prior else []


def scan_log(log: SearchedLog, scanned: PrescannedRanges | None = None) -> LogScan:
    """Return the result of a scan of a metadata log.

    Args:
        log: the log.
        scanned: results of the prescan, of all byte ranges of some files.

    Raises:
        SourceError: it cannot be read, or holds no metadata records.
        UsageError: it does not reach back to its limits.
    """
    loader = loaded_by(
        lambda may_grow: PrescanLoader(
            PrescanReplay(MetadataImage(log.dialect), log.limits), may_grow=may_grow, parts=scanned
        ),
        list(log.names),
        log.limits,
    )
    prior = _prior_log(loader) if log.with_prior_state else None
    hashes, aliases = _hashes(loader.prescan.topics)
    ranges: dict[int, int] = {}
    for topic_id, mask in loader.prescan.topics.ranges.items():
        topic = hashes.get(topic_id)
        if topic is not None:
            ranges[topic] = ranges.get(topic, 0) | mask
    image = loader.image
    return LogScan(
        loader.prescan.ranges,
        hashes,
        aliases,
        ranges,
        _without_addresses(image.log_findings),
        image.provenance,
        image.offset,
        prior,
    )


def _prior_log(loader: PrescanLoader) -> PriorLog | None:
    """Return the log before the loaded snapshot; its topic names are added to the loader's."""
    past = loader.image.prior_state
    if past is None:
        return None
    first, loads = len(loader.image.store.sources()), []
    for load in loader.others:
        if load.image is past.image:
            loads.append(
                [counted._replace(source=first + counted.source) for counted in load.prescan.ranges]
            )
            loader.prescan.topics.update(load.prescan.topics)
    return PriorLog(loads, past.unchanged)


def _without_addresses(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings without addresses, which hold only in the image that found them."""
    return [finding.moved(address=None) for finding in findings]


def _hashes(names: TopicRanges) -> tuple[TopicHashes, dict[str, str]]:
    """Return the hashes by topic id, and the names that stand for others, by these."""
    roots: dict[str, str] = {}

    def root(name: str) -> str:
        while roots.get(name, name) != name:
            name = roots[name]
        return name

    ids = names.names
    for topic_id, name in names.renamed:
        root_name, other = root(ids[topic_id]), root(name)
        if root_name != other:
            roots[other] = root_name
    aliases = {name: root(name) for name in roots}
    order = sorted(ids)
    hashes = b"".join(hash_of(root(ids[topic_id])).to_bytes(4) for topic_id in order)
    return TopicHashes(b"".join(order), hashes), aliases


@dataclass(frozen=True)
class ScanFile:
    """File with the result of a scan, which may be too large for each task.

    *path* is a path of this machine, or a name that Spark knows.
    """

    path: str

    @property
    def value(self) -> LogScan:
        """The result; a worker keeps it for its next task."""
        return _read(self.path)


@contextmanager
def sent(session: Session, scan: LogScan) -> Iterator[ScanFile]:
    """Send a result to all workers; on this machine, its file is deleted at the end."""
    with TemporaryDirectory() as directory:
        path = os.path.join(directory, f"scan-{uuid4().hex}")
        with open(path, "wb") as file:
            pickle.dump(scan, file)
        if session.settings.is_local:
            yield ScanFile(path)
            return
        with job_errors("the scan cannot be sent to the workers"):
            session.spark.addArtifacts(path, file=True)
        yield ScanFile(os.path.basename(path))


@lru_cache(1)
def _read(path: str) -> LogScan:
    with open(path if os.path.isabs(path) else sent_file(path), "rb") as file:
        scan: LogScan = pickle.load(file)  # noqa: S301 - written by `sent`
    return scan
