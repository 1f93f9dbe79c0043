"""Checks of a metadata log and its state for what a real server would refuse.

The rules are those of Kafka's `PartitionRegistration`, `ClusterControlManager`,
`ReplicationControlManager` and of its images' `write`, which refuses what a metadata.version cannot
hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kraftops.engine.metadata_state import (
    LOST_DIRECTORY,
    EntryKey,
    PartitionCondition,
    PartitionState,
)
from kraftops.findings.finding import Finding, Place
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.findings import LATE_START, NEWER_FEATURE, STATE, log_finding
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.newest import newest_record
from kraftops.storage.bootstrap.releases import KRAFT_VERSION, METADATA_VERSION, by_level
from kraftops.storage.releases.table import Release, releases
from kraftops.uuids import is_reserved, to_text

if TYPE_CHECKING:
    from kraftops.records.control_types import KRaftVersionRecord


def verify(image: MetadataImage) -> Iterator[Finding]:
    """Yield findings about the records of a log, then about the state that they make.

    A finding has the offset of its record, where there is one. The state of a log that begins late
    is not checked.

    Raises:
        KraftopsError: while iterating, a source can no longer be read.
    """
    yield from image.findings
    if any(finding.code == LATE_START for finding in image.log_findings):
        return
    if image.metadata_version is None:
        yield log_finding(STATE, "there is no metadata.version: no server accepts this state")
    yield from feature_findings(image, releases()[-1])
    yield from _unwritable(image)
    yield from _topics(image)
    yield from _broker_directories(image)
    yield from _partitions(image)


def state_finding(
    image: MetadataImage, code: str, text: str, entry: EntryKey, cure: str = ""
) -> Finding:
    """Return a finding about an entry of the state, with the position of its last change."""
    return log_finding(code, text, place_of(image, entry), cure)


def place_of(image: MetadataImage, entry: EntryKey) -> Place:
    """Return the place of the last change of an entry, as far as the log tells."""
    last = image.last_change(lambda past: newest_record(past, entry))
    newest = newest_record(image, entry)
    if last is None or newest is None:
        return Place()
    name, position, _ = last.image.store.place(last.address)
    return Place(file=name, position=position, offset=last.change.offset, address=newest.address)


def feature_findings(image: MetadataImage, release: Release) -> Iterator[Finding]:
    """Yield the features of a state whose levels a release does not know."""
    levels = {name: level for name, (level, _) in image.features.items() if level > 0}
    if image.metadata_version is not None:
        levels[METADATA_VERSION] = image.metadata_version[0]
    for name, level in levels.items():
        if not release.supports(name, level):
            reason = f"Kafka {release.name} does not know {name}={level}"
            yield state_finding(image, NEWER_FEATURE, reason, EntryKey("features", (name,)))
    address = image.quorum.kraft_version
    if address is not None:
        record: KRaftVersionRecord = image.read_control(address)
        level = record["kRaftVersion"]
        if level and not release.supports(KRAFT_VERSION, level):
            reason = f"Kafka {release.name} does not know {KRAFT_VERSION}={level}"
            yield image.finding_at(NEWER_FEATURE, reason, address)


class _Gate(NamedTuple):
    """Entries that an image can have from a level of metadata.version on."""

    level: int
    description: str
    entries: Callable[[MetadataImage], Iterable[EntryKey]]


def _brokers_with(has: Callable[[BrokerState], bool], image: MetadataImage) -> Iterator[EntryKey]:
    for broker_id, broker in image.brokers.items():
        if has(image.broker_state(broker, whole=False)):
            yield EntryKey("brokers", (broker_id,))


def _partitions_with_directories(image: MetadataImage) -> Iterator[EntryKey]:
    for topic_id, numbers in image.fold.partitions_with(
        PartitionCondition.WITH_DIRECTORIES
    ).items():
        yield from (EntryKey("partitions", (topic_id, number)) for number in numbers)


_GATES = (
    _Gate(
        11,
        "SCRAM credentials",
        lambda image: (
            EntryKey("scram", (mechanism, user))
            for mechanism, users in image.scram.items()
            for user in users
        ),
    ),
    _Gate(
        14,
        "delegation tokens",
        lambda image: (EntryKey("tokens", (token,)) for token in image.tokens),
    ),
    _Gate(
        15,
        "controller registrations",
        lambda image: (EntryKey("controllers", (number,)) for number in image.controllers),
    ),
    _Gate(
        17,
        "log directories of brokers",
        lambda image: _brokers_with(lambda state: bool(state["logDirs"]), image),
    ),
    _Gate(17, "directories of partitions", _partitions_with_directories),
    _Gate(
        30,
        "cordoned log directories",
        lambda image: _brokers_with(lambda state: state["cordonedLogDirs"] is not None, image),
    ),
)


def _unwritable(image: MetadataImage) -> Iterator[Finding]:
    """Yield the first entry of each kind that the image's metadata.version cannot have."""
    if image.metadata_version is None:
        return
    level = image.metadata_version[0]
    for gate in _GATES:
        entry = next(iter(gate.entries(image)), None) if level < gate.level else None
        if entry is not None:
            present, least = by_level(level), by_level(gate.level)
            reason = (
                f"{gate.description} cannot be written at metadata.version "
                f"{present.name if present else level}, "
                f"they need {least.name if least else gate.level}"
            )
            yield state_finding(image, STATE, reason, entry)


def _topics(image: MetadataImage) -> Iterator[Finding]:
    if len(image.topic_ids) == len(image.topics):
        return
    for topic_id, topic in image.topics.items():
        if image.topic_ids.get(topic.name) != topic_id:
            reason = f"there is another topic of the name {topic.name} than {to_text(topic_id)}"
            yield state_finding(image, STATE, reason, EntryKey("topics", (topic_id,)))


def _log_dirs(image: MetadataImage) -> dict[int, list[bytes]]:
    return {
        broker_id: image.broker_state(broker, whole=False)["logDirs"]
        for broker_id, broker in image.brokers.items()
    }


def _broker_directories(image: MetadataImage) -> Iterator[Finding]:
    owners: dict[bytes, int] = {}
    for broker_id, directories in _log_dirs(image).items():
        for directory in directories:
            owner = owners.setdefault(directory, broker_id)
            if owner != broker_id:
                reason = (
                    f"directory {to_text(directory)} is of broker {owner} and of broker {broker_id}"
                )
                yield state_finding(image, STATE, reason, EntryKey("brokers", (broker_id,)))


def _partitions(image: MetadataImage) -> Iterator[Finding]:
    directories = _log_dirs(image)
    for topic_id, numbers in image.fold.suspects(directories).items():
        name = image.topics[topic_id].name
        for number in numbers:
            state = image.partition(topic_id, number)
            assert state is not None
            entry = EntryKey("partitions", (topic_id, number))
            for problem in _problems(state, directories):
                reason = f"partition {name}-{number}: {problem}"
                yield state_finding(image, STATE, reason, entry)


def _problems(state: PartitionState, directories: Mapping[int, Sequence[bytes]]) -> Iterator[str]:
    """Yield why the state of a partition is impossible, given the directories of all brokers."""
    replicas = state.replicas
    distinct = set(replicas)  # a hostile list can be long
    if not replicas:
        yield "it has no replicas"
    if len(distinct) < len(replicas):
        yield f"a broker is twice among its replicas {replicas}"
    unknown = [broker for broker in replicas if broker not in directories]
    if unknown:
        yield f"it has replicas on {_brokers(unknown)}, not registered"
    for subset, name in (
        (state.isr, "ISR"),
        (state.eligible_leader_replicas, "ELR"),
        (state.adding_replicas, "list of replicas to add"),
        (state.removing_replicas, "list of replicas to remove"),
    ):
        others = [broker for broker in subset if broker not in distinct]
        if others:
            yield f"its {name} has {_brokers(others)}, not among its replicas {replicas}"
    yield from _leader_problems(state, directories)
    in_sync = set(state.isr)
    for broker, directory in zip(replicas, state.directories, strict=False):
        registered = directories.get(broker)
        if directory == LOST_DIRECTORY and broker in in_sync:
            yield f"broker {broker} is in its ISR, and the directory there is lost"
        elif registered and directory not in registered and not is_reserved(directory):
            yield (
                f"it is in directory {to_text(directory)} of broker {broker}, "
                "which has no such directory"
            )


def _leader_problems(
    state: PartitionState, directories: Mapping[int, Sequence[bytes]]
) -> Iterator[str]:
    leader, isr = state.leader, state.isr
    if leader < -1:
        yield f"its leader is {leader}"
    elif leader >= 0 and leader not in isr:
        yield f"its leader, {_brokers([leader])}, is not in its ISR {isr}"
        if leader not in directories and leader not in state.replicas:
            yield f"its leader, {_brokers([leader])}, is not registered"


def _brokers(ids: Sequence[int]) -> str:
    names = ", ".join(map(str, ids))
    return f"broker {names}" if len(ids) == 1 else f"brokers {names}"
