"""Checks of a log for what a release cannot read, and of registrations that block an upgrade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from kraftops.engine.choice import index_records
from kraftops.engine.fold_contract import POSITION_BITS
from kraftops.engine.metadata_state import EntryKey
from kraftops.errors import DecodeError
from kraftops.findings.finding import Finding
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.findings import NEWER_RECORD, UPGRADE, log_finding
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import InflatedBatch
from kraftops.image.verify.verify import feature_findings, state_finding
from kraftops.log.batch import read_record
from kraftops.records.dialects import KAFKA_DIALECT, dialect
from kraftops.records.readability import last_version, release_of
from kraftops.schema.tables import messages
from kraftops.storage.bootstrap.releases import (
    FEATURES,
    METADATA_VERSION,
    MetadataVersion,
    default_level,
)
from kraftops.storage.releases.table import release_named

if TYPE_CHECKING:
    from kraftops.records.metadata_types import RegisterControllerRecord

_NAMES = {message.key: message.name for message in messages("metadata").values()}


def release_findings(image: MetadataImage, release: str) -> Iterator[Finding]:
    """Yield the records and features of an image's log that a release (`3.9`, `3.9.1`) cannot read.

    A finding is about all records of a type and version, with the offset of the first.

    Raises:
        UsageError: the release is unknown.
        KraftopsError: while iterating, a source can no longer be read.
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


_NOT_SUPPORTED = (0, 0)  # level 0 stands for a feature that is off (KIP-584)


def upgrade_findings(image: MetadataImage, target: MetadataVersion) -> Iterator[Finding]:
    """Yield the registrations that block an upgrade of the features to a release.

    Fenced brokers and controllers that are long gone count like all others, as in Kafka.
    """
    level = None
    if image.metadata_version is None:
        yield log_finding(UPGRADE, "there is no metadata.version to begin with")
    else:
        level, _ = image.metadata_version
        if level > target.level:
            reason = f"metadata.version is {level} already, above {target.level} of {target.name}"
            entry = EntryKey("features", (METADATA_VERSION,))
            cure = "the only way back is a copy from before the upgrade"
            yield state_finding(image, UPGRADE, reason, entry, cure)
    target_levels = {METADATA_VERSION: target.level}
    target_levels |= {name: default_level(name, target.level) for name in FEATURES}
    for broker_id, broker in image.brokers.items():
        state = image.broker_state(broker)
        kind = "fenced broker" if state["fenced"] else "broker"
        cure = "upgrade it"
        commands: tuple[str, ...] = ()
        if state["fenced"]:
            cure = "upgrade it, or unregister it if it is gone"
            commands = (f"kafka-cluster unregister --id {broker_id}",)
        if blocked := _blocked(state, target_levels):
            reason = f"{kind} {broker_id} {blocked}"
            entry = EntryKey("brokers", (broker_id,))
            yield replace(state_finding(image, UPGRADE, reason, entry, cure), commands=commands)
    for controller_id, address in image.controllers.items():
        cure = "upgrade it, or if it is gone, start it once more in the new release to register"
        if blocked := _blocked(image.read(address)[1], target_levels):
            reason = f"controller {controller_id} {blocked}"
            entry = EntryKey("controllers", (controller_id,))
            yield state_finding(image, UPGRADE, reason, entry, cure)


def _blocked(
    state: BrokerState | RegisterControllerRecord, target_levels: dict[str, int]
) -> str | None:
    """Return the first level that a registration does not support; None if it has all."""
    ranges = {
        feature["name"]: (feature["minSupportedVersion"], feature["maxSupportedVersion"])
        for feature in state["features"]
    }
    for name, level in target_levels.items():
        first, last = ranges.get(name, _NOT_SUPPORTED)
        if not first <= level <= last:
            supported = f"supports {name} {first}-{last}" if name in ranges else f"knows no {name}"
            return f"{supported}, blocks {level}"
    return None
