"""The first pass over a metadata log: which of its bytes count, and what crosses entities.

One load of the log without an image finds gaps, damage, the end of time travel and snapshots that
are not whole; it takes over what is known of parts already.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

from kraftops.image.load.loading import loaded_by
from kraftops.image.load.prescan import DryLoader, Names, Run, Stretch
from kraftops.image.replay.replay import Limits
from kraftops.image.state.changes import Change, Provenance
from kraftops.image.state.findings import Finding
from kraftops.image.state.image import MetadataImage
from kraftops.log.ranges import ByteRange

_ID = 16  # bytes of a topic's id


class Hashes(NamedTuple):
    """Hashes by topic ids: 20 bytes for each, since every worker has all of them.

    *ids* are in order, one behind the other, and so are the hashes, of 4 bytes each.
    """

    ids: bytes
    hashes: bytes

    def get(self, topic_id: bytes) -> int | None:
        """Return the hash of a topic's id, None if it is unknown."""
        at = bisect_left(_Ids(self.ids), topic_id)
        if self.ids[at * _ID : (at + 1) * _ID] != topic_id:
            return None
        return int.from_bytes(self.hashes[4 * at : 4 * at + 4])


class _Ids:
    """Ids that lie one behind the other."""

    def __init__(self, ids: bytes) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids) // _ID

    def __getitem__(self, at: int) -> bytes:
        return self._ids[at * _ID : (at + 1) * _ID]


def hash_of(name: str) -> int:
    """Return the hash of a topic's name."""
    return crc32(name.encode("utf-8", "surrogatepass"))


class Before(NamedTuple):
    """What the log before a snapshot has: see `kraftops.image.load.prior_state.prior_state_of`.

    *loads* are the stretches of each load of an image, one after the other.
    """

    loads: list[list[Stretch]]
    unchanged: Change | None

    @property
    def source(self) -> int:
        """The first number of its sources, which come after all others."""
        return min(one.source for load in self.loads for one in load)


class FirstPass(NamedTuple):
    """What the first pass found: stretches in order, names of topics, findings about the log.

    *groups* has for a topic's id what all that is about the topic goes together by: the hash of its
    own name, or of that of another which had the same id, which *aliases* has by the own. *ranges*
    has, by such hashes, masks of the ranges of partitions that there are besides the first.
    *offset* is the last that the state covers. *before* is not looked for unless it is asked for.
    """

    stretches: list[Stretch]
    groups: Hashes
    aliases: dict[str, str]
    ranges: dict[int, int]
    findings: list[Finding]
    provenance: Provenance
    offset: int
    before: Before | None

    @property
    def all_stretches(self) -> list[Stretch]:
        """All stretches, in the order of their sources."""
        return [*self.stretches, *(one for load in self.loads for one in load)]

    @property
    def loads(self) -> list[list[Stretch]]:
        """The loads of what is before."""
        return self.before.loads if self.before else []


def make_first_pass(
    names: Sequence[str],
    limits: Limits,
    dialect: str,
    runs: Mapping[str, Sequence[tuple[ByteRange, Run | None]]] | None = None,
    *,
    with_past: bool = False,
) -> FirstPass:
    """Return what counts of the metadata log that *names* stand for.

    Args:
        names: files or directories of the log.
        limits: how far it counts.
        dialect: of its records.
        runs: what is known of all parts of some files, by their paths.
        with_past: look for what led to a snapshot, too.

    Raises:
        SourceError: it cannot be read, or holds no metadata records.
        UsageError: it does not reach back to what is asked for.
    """

    def make(may_grow: bool) -> DryLoader:
        return DryLoader(MetadataImage(dialect), limits, may_grow=may_grow, runs=runs)

    loader = loaded_by(make, list(names), limits)
    before = _before(loader) if with_past else None
    groups, aliases = _groups(loader.dry.names)
    ranges: dict[int, int] = {}
    for topic_id, mask in loader.dry.names.ranges.items():
        group = groups.get(topic_id)
        if group is not None:
            ranges[group] = ranges.get(group, 0) | mask
    image = loader.image
    findings = _plain(image.log_findings)
    stretches = loader.dry.stretches
    end = image.provenance, image.offset
    return FirstPass(stretches, groups, aliases, ranges, findings, *end, before)


def _before(loader: DryLoader) -> Before | None:
    """Return what led to the snapshot that was loaded; its names are added to the loader's."""
    past = loader.image.prior_state
    if past is None:
        return None
    first, loads = len(loader.image.store.sources()), []
    for one in loader.others:
        if one.image is past.image:
            loads.append(
                [stretch._replace(source=first + stretch.source) for stretch in one.dry.stretches]
            )
            loader.dry.names.add(one.dry.names)
    return Before(loads, past.unchanged)


def _plain(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings without addresses, which mean nothing to others."""
    return [finding._replace(address=None) for finding in findings]


def _groups(names: Names) -> tuple[Hashes, dict[str, str]]:
    """Return the group of each id, and those of names that are not groups themselves."""
    roots: dict[str, str] = {}

    def root(name: str) -> str:
        while roots.get(name, name) != name:
            name = roots[name]
        return name

    ids: dict[bytes, str] = {}
    for topic_id, name in names.pairs:
        one, other = root(ids.setdefault(topic_id, name)), root(name)
        if one != other:
            roots[other] = one
    aliases = {name: root(name) for _, name in names.pairs if root(name) != name}
    order = sorted(ids)
    hashes = b"".join(hash_of(root(ids[topic_id])).to_bytes(4) for topic_id in order)
    return Hashes(b"".join(order), hashes), aliases
