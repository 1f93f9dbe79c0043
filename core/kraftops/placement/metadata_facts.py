"""Facts of the metadata log about brokers and partitions: since when, and who led them last."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from kraftops.engine.metadata_state import LOST_DIRECTORY, BrokerEntry, NewestRecord
from kraftops.image.history import record_type
from kraftops.image.state.broker import BrokerState, changed_broker
from kraftops.image.state.changes import Change
from kraftops.image.state.image import MetadataImage
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.uuids import to_text

_RESERVED = 100
"""The first ids name no directory (`DirectoryId.reserved`)."""


class LoggedChange(NamedTuple):
    """A change in the metadata log; *time* is in ms. Where *is_upper_bound*, it came before."""

    offset: int
    time: int
    record: str
    is_upper_bound: bool


class Leadership(NamedTuple):
    """The replicas that may have all records: eligible leaders (KIP-966), and the last leader."""

    eligible: tuple[int, ...] = ()
    last_leader: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataFacts:
    """Facts of a log, as far as they were asked for; without a log there are none.

    *fenced* and *failed* are the changes since when a broker is down or lacks a directory;
    *lost_replicas* are in directories that a broker has no more.
    """

    fenced: Mapping[int, LoggedChange] = field(default_factory=dict)
    failed: Mapping[int, LoggedChange] = field(default_factory=dict)
    failed_directories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    lost_replicas: frozenset[tuple[int, TopicPartition]] = frozenset()
    partition_changes: Mapping[TopicPartition, LoggedChange] = field(default_factory=dict)
    leaderships: Mapping[TopicPartition, Leadership] = field(default_factory=dict)


def facts_of(image: MetadataImage | None, placement: Placement) -> MetadataFacts:
    """Read since when brokers are fenced and directories failed, and partitions unhealthy.

    Without an image, there are none.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    if image is None:
        return MetadataFacts()
    fenced, failed, failed_directories = {}, {}, {}
    present: dict[int, frozenset[bytes]] = {}
    for broker, entry in image.brokers.items():
        state = image.broker_state(entry, whole=False)
        present[broker] = frozenset(state["logDirs"])
        if state["fenced"]:
            fenced[broker] = _since(image, entry, {**state, "fenced": False}, itemgetter("fenced"))
        at_first = image.broker_state(entry._replace(addresses=entry.addresses[:1]), whole=False)
        gone = {*at_first["logDirs"]} - present[broker]
        if gone:
            failed_directories[broker] = tuple(sorted(map(to_text, gone)))
            failed[broker] = _since(image, entry, at_first, partial(_lacks, gone))
    changes, leaderships, lost = {}, {}, set()
    for partition, replicas in placement.partitions.items():
        if len(replicas.isr) >= len(replicas.replicas) and replicas.leader >= 0:
            continue
        key = image.topic_ids[partition.topic], partition.number
        last = image.last_change(partial(_newest, key))
        if last is not None:
            changes[partition] = _logged(last.image, last.address, last.change)
        there = image.partition(*key)
        assert there is not None  # the placement is that of the image
        leaderships[partition] = Leadership(
            tuple(there.eligible_leader_replicas), tuple(there.last_known_elr)
        )
        for broker, directory in zip(there.replicas, there.directories, strict=True):
            is_named = int.from_bytes(directory) >= _RESERVED
            # Without any directory in its registration, a broker is of a release before JBOD.
            is_gone = is_named and bool(present.get(broker)) and directory not in present[broker]
            if is_gone or directory == LOST_DIRECTORY:
                lost.add((broker, partition))
    return MetadataFacts(
        fenced=fenced,
        failed=failed,
        failed_directories=failed_directories,
        lost_replicas=frozenset(lost),
        partition_changes=changes,
        leaderships=leaderships,
    )


def _since(
    image: MetadataImage,
    entry: BrokerEntry,
    opposite: BrokerState,
    is_so: Callable[[BrokerState], bool],
) -> LoggedChange:
    """Find the newest change that made *is_so* true of what was its *opposite*.

    The entry has no changes that later ones have undone.
    """
    first, *later = entry.addresses
    for address in reversed(later):
        if is_so(changed_broker(opposite, *image.read(address))):
            return _logged(image, address, image.change(address))
    return _logged(image, first, image.change(first))


def _lacks(directories: Collection[bytes], state: BrokerState) -> bool:
    return not {*directories} & {*state["logDirs"]}


def _newest(key: tuple[bytes, int], image: MetadataImage) -> NewestRecord | None:
    return image.fold.newest(*key)


def _logged(image: MetadataImage, address: int, change: Change) -> LoggedChange:
    record = record_type(image.record(address), image.dialect)
    return LoggedChange(change.offset, change.timestamp, record, change.is_upper_bound)
