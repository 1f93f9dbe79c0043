"""Checks of a log for records and feature levels that a release of Kafka cannot read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from kraftops.engine.choice import index_records
from kraftops.engine.fold_contract import POSITION_BITS
from kraftops.errors import DecodeError
from kraftops.findings.finding import Finding
from kraftops.image.state.findings import NEWER_RECORD
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import InflatedBatch
from kraftops.image.verify.verify import feature_findings
from kraftops.log.batch import read_record
from kraftops.records.dialects import KAFKA_DIALECT, dialect
from kraftops.records.readability import last_version, release_of
from kraftops.schema.tables import messages
from kraftops.storage.releases.table import release_named

_NAMES = {message.key: message.name for message in messages("metadata").values()}


def release_findings(image: MetadataImage, release: str) -> Iterator[Finding]:
    """Yield the records and features of an image's log that a release (`3.9`, `3.9.1`) cannot read.

    A finding is about all records of a type and version, with the offset of the first.

    Raises:
        UsageError: the release is unknown.
        KraftopsError: while iterating, a source cannot be read any more.
    """
    release = release_of(release)
    first: dict[tuple[int, int], int] = {}
    counts: Counter[tuple[int, int]] = Counter()
    for number in image.store.numbers() if dialect(image.dialect).is_released else ():
        base = number << POSITION_BITS
        for frame, position, count in _frames(image.store.batch(number)):
            first.setdefault(frame, base + position)
            counts[frame] += count
    for (key, version), count in sorted(counts.items()):
        name = _NAMES.get(key)
        last = None if name is None else last_version(name, release)
        if last is not None and version <= last:
            continue
        described = f"{name or f'records of type {key}'} version {version}"
        reads = "knows no such records" if last is None else f"reads only up to {last}"
        reason = f"{described} ({count} in all, the first one here): Kafka {release} {reads}"
        yield image.finding_at(NEWER_RECORD, reason, first[key, version])
    named = release_named(release)
    assert named
    yield from feature_findings(image, named)


def _frames(batch: InflatedBatch) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yield type and version of records with frames, the first position, and the count."""
    for group in index_records(KAFKA_DIALECT, batch.data, batch.start, 0, batch.records):
        if group.type is not None and group.version is not None:
            yield (group.type, group.version), group.start, group.total
            continue
        record, _ = read_record(batch.data, group.start, batch.base_offset, batch.base_timestamp)
        if record.key is None:  # control records have one
            with suppress(DecodeError):
                frame = dialect(KAFKA_DIALECT).read_frame(record.value or b"")
                yield (frame.type, frame.version), group.start, 1
