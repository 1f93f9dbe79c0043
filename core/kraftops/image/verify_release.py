"""What of a log a release of Kafka cannot read: records, and levels of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import cast

from kraftops.errors import DecodeError
from kraftops.image.findings import Finding, Kind
from kraftops.image.image import MetadataImage
from kraftops.image.store import POSITION_BITS, Held
from kraftops.image.verify import state_finding
from kraftops.records.readability import RELEASES, last_version, release_of
from kraftops.schema.tables.metadata import MESSAGES
from kraftops.storage.releases import (
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    METADATA_VERSIONS,
    by_level,
    level_of,
)
from kraftops.varint import read_uvarint

_NAMES = {message.key: message.name for message in MESSAGES.values()}


def release_findings(image: MetadataImage, release: str) -> Iterator[Finding]:
    """Yield what a release (`3.9`, `3.9.1`) cannot read of all that the image was loaded from.

    One finding is about all records of a type and version, with the offset of the first.

    Raises:
        UsageError: nothing is known of the release.
        KraftopsError: while iterating, a source cannot be read any more.
    """
    release = release_of(release)
    first: dict[tuple[int, int], int] = {}
    counts: Counter[tuple[int, int]] = Counter()
    for number in image.store.numbers() if image.dialect == "kafka" else ():
        base = number << POSITION_BITS
        for frame, position in _frames(image.store.batch(number)):
            first.setdefault(frame, base + position)
            counts[frame] += 1
    for (key, version), count in sorted(counts.items()):
        name = _NAMES.get(key)
        last = None if name is None else last_version(name, release)
        if last is not None and version <= last:
            continue
        what = f"{name or f'records of type {key}'} version {version}"
        reads = "knows no such records" if last is None else f"reads only up to {last}"
        reason = f"{what} ({count} in all, the first one here): Kafka {release} {reads}"
        yield state_finding(image, Kind.RELEASE, reason, first[key, version])
    yield from _features(image, release)


def _frames(held: Held) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield type and version of the records of a batch that have frames, and where each is."""
    p = held.start
    while p < len(held.data):
        try:
            end, frame = _frame(held.data, p)
        except (DecodeError, IndexError):
            return  # what follows was not applied either
        if frame is not None:
            yield frame, p
        p = end


def _frame(b: bytes, p: int) -> tuple[int, tuple[int, int] | None]:
    """Return where a record ends, and type and version if it has them."""
    n, q = read_uvarint(b, p)
    end = q + (n >> 1)
    q += 1
    while b[q] > 127:  # the time
        q += 1
    q += 1
    while b[q] > 127:  # the offset
        q += 1
    q += 1
    if b[q] != 1:  # a key, which control records have
        return end, None
    _, q = read_uvarint(b, q + 1)
    if b[q] != 1 or q + 3 > end:
        return end, None
    number, q = read_uvarint(b, q + 1)
    version, _ = read_uvarint(b, q)
    return end, (number, version)


def _features(image: MetadataImage, release: str) -> Iterator[Finding]:
    found = {name: pair for name, pair in image.features.items() if pair[0] > 0}
    if image.metadata_version is not None:
        found[METADATA_VERSION] = image.metadata_version
    address = image.quorum.kraft_version
    if address is not None:
        level = cast("int", image.read_control(address)["kRaftVersion"])
        if level:
            found[KRAFT_VERSION] = level, address
    for name, (level, address) in found.items():
        since = _since(name, level)
        if since is None or RELEASES.index(since) > RELEASES.index(release):
            reason = f"{name}={level} is not what Kafka {release} knows"
            yield state_finding(image, Kind.RELEASE, reason, address)


def _since(name: str, level: int) -> str | None:
    """Return the release that knows a level of a feature first; None where none does."""
    if name == METADATA_VERSION:
        known = by_level(level)
    elif name not in FEATURES:
        return None
    else:
        try:
            found = level_of(name, level)
        except KeyError:
            return None
        needs = dict(found.requires).get(METADATA_VERSION, found.bootstraps_at)
        known = by_level(max(needs, METADATA_VERSIONS[0].level))
    return known.release if known and known.release in RELEASES else None
