"""What of a metadata log would make a real server choke: records, and what they amount to.

The rules are those of Kafka's `PartitionRegistration`, `ClusterControlManager`,
`ReplicationControlManager` and of its images' `write`, which refuses what a metadata.version cannot
hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from kraftops.image.findings import Finding, Kind
from kraftops.image.image import MetadataImage
from kraftops.image.plain import PlainPartition, plain_partitions
from kraftops.schema.read import Data
from kraftops.storage.releases import LATEST_PRODUCTION, by_level, level_of
from kraftops.uuids import ZERO, is_reserved, to_text

_LOST = bytes(15) + b"\x02"
_KEPT = 1 << 16


def verify(image: MetadataImage) -> Iterator[Finding]:
    """Yield what is wrong with a log: with its records first, then with the state they make.

    Each finding has the offset of the record that it is about, where there is one. Of a log that
    begins late only the records are looked at.

    Raises:
        KraftopsError: while iterating, a source cannot be read any more.
    """
    yield from image.findings
    if any(finding.kind is Kind.START for finding in image.log_findings):
        return
    yield from _features(image)
    yield from _unwritable(image)
    yield from _topics(image)
    yield from _broker_directories(image)
    yield from _partitions(image)


def state_finding(image: MetadataImage, kind: Kind, reason: str, address: int | None) -> Finding:
    """Return a finding about what the record at *address* made."""
    if address is None:
        return Finding(kind, reason)
    name, position, _ = image.store.place(address)
    return Finding(kind, reason, image.change(address).offset, name, position, address)


def _features(image: MetadataImage) -> Iterator[Finding]:
    release = LATEST_PRODUCTION.release
    if image.metadata_version is None:
        yield Finding(Kind.STATE, "there is no metadata.version: no server takes this state")
    else:
        level, address = image.metadata_version
        if level > LATEST_PRODUCTION.level:
            reason = f"metadata.version={level} is not what Kafka {release} knows"
            yield state_finding(image, Kind.STATE, reason, address)
    for name, (level, address) in image.features.items():
        try:
            level_of(name, level)
        except KeyError:
            reason = f"{name}={level} is not what Kafka {release} knows"
            yield state_finding(image, Kind.STATE, reason, address)


class _Gate(NamedTuple):
    """What can only be in an image from a level of metadata.version on: where it is, if it is."""

    level: int
    what: str
    addresses: Callable[[MetadataImage], Iterable[int]]


def _brokers_with(field: str, nothing: object, image: MetadataImage) -> Iterator[int]:
    for broker in image.brokers.values():
        if image.broker_state(broker.addresses)[field] != nothing:
            yield broker.addresses[-1]


def _partitions_with_directories(image: MetadataImage) -> Iterator[int]:
    for topic in image.topics.values():
        for number in topic.numbers():
            addresses = image.partition_addresses(topic, number)
            state = image.partition_state(addresses)
            if any(one != ZERO for one in cast("list[bytes]", state["directories"])):
                yield addresses[-1]


_GATES = (
    _Gate(
        11,
        "SCRAM credentials",
        lambda image: (address for users in image.scram.values() for address in users.values()),
    ),
    _Gate(14, "delegation tokens", lambda image: image.tokens.values()),
    _Gate(15, "controller registrations", lambda image: image.controllers.values()),
    _Gate(17, "log directories of brokers", lambda image: _brokers_with("logDirs", [], image)),
    _Gate(17, "directories of partitions", _partitions_with_directories),
    _Gate(
        30, "cordoned log directories", lambda image: _brokers_with("cordonedLogDirs", None, image)
    ),
)


def _unwritable(image: MetadataImage) -> Iterator[Finding]:
    """Yield what the image's own metadata.version cannot hold, the first record of each sort."""
    if image.metadata_version is None:
        return
    level = image.metadata_version[0]
    for gate in _GATES:
        address = next(iter(gate.addresses(image)), None) if level < gate.level else None
        if address is not None:
            known, least = by_level(level), by_level(gate.level)
            reason = (
                f"{gate.what} cannot be written at metadata.version "
                f"{known.name if known else level}, they need {least.name if least else gate.level}"
            )
            yield state_finding(image, Kind.STATE, reason, address)


def _topics(image: MetadataImage) -> Iterator[Finding]:
    for topic_id, topic in image.topics.items():
        if image.topic_ids.get(topic.name) != topic_id:
            reason = f"there is another topic of the name {topic.name} than {to_text(topic_id)}"
            yield state_finding(image, Kind.STATE, reason, topic.address)


def _broker_directories(image: MetadataImage) -> Iterator[Finding]:
    owners: dict[bytes, int] = {}
    for broker_id, broker in image.brokers.items():
        for one in cast("list[bytes]", image.broker_state(broker.addresses)["logDirs"]):
            owner = owners.setdefault(one, broker_id)
            if owner != broker_id:
                reason = f"directory {to_text(one)} is of broker {owner} and of broker {broker_id}"
                yield state_finding(image, Kind.STATE, reason, broker.addresses[-1])


def _partitions(image: MetadataImage) -> Iterator[Finding]:
    directories = {
        broker_id: frozenset(cast("list[bytes]", image.broker_state(broker.addresses)["logDirs"]))
        for broker_id, broker in image.brokers.items()
    }
    sound: set[tuple[bytes, int, bytes]] = set()  # what is so of one partition is so of all
    for topic in image.topics.values():
        for number, plain in plain_partitions(image, topic):
            if plain and _essence(plain) in sound:
                continue
            addresses = image.partition_addresses(topic, number)
            reasons = list(_reasons(image.partition_state(addresses), directories))
            for reason in reasons:
                yield state_finding(
                    image, Kind.STATE, f"partition {topic.name}-{number}: {reason}", addresses[-1]
                )
            if plain and not reasons:
                if len(sound) >= _KEPT:
                    sound.clear()
                sound.add(_essence(plain))


def _essence(plain: PlainPartition) -> tuple[bytes, int, bytes]:
    arrays, leader, _, _, directories = plain
    return arrays, leader, directories


def _reasons(state: Data, directories: dict[int, frozenset[bytes]]) -> Iterator[str]:
    """Yield why the state of a partition cannot be; *directories* are those of known brokers."""
    replicas = cast("list[int]", state["replicas"])
    isr, leader = cast("list[int]", state["isr"]), cast("int", state["leader"])
    if not replicas:
        yield "it has no replicas"
    if len(set(replicas)) < len(replicas):
        yield f"a broker is twice among its replicas {replicas}"
    unknown = [one for one in replicas if one not in directories]
    if unknown:
        yield f"it has replicas on {_brokers(unknown)}, not registered"
    for field, what in _SUBSETS:
        others = [one for one in cast("list[int]", state[field]) if one not in replicas]
        if others:
            yield f"its {what} has {_brokers(others)}, not among its replicas {replicas}"
    if leader < -1:
        yield f"its leader is {leader}"
    elif leader >= 0 and leader not in isr:
        yield f"its leader, {_brokers([leader])}, is not in its ISR {isr}"
        if leader not in directories and leader not in replicas:
            yield f"its leader, {_brokers([leader])}, is not registered"
    for broker, one in zip(replicas, cast("list[bytes]", state["directories"]), strict=False):
        known = directories.get(broker)
        if one == _LOST and broker in isr:
            yield f"broker {broker} is in its ISR, and the directory there is lost"
        elif known and one not in known and not is_reserved(one):
            yield f"it is in directory {to_text(one)} of broker {broker}, which has no such"


_SUBSETS = (
    ("isr", "ISR"),
    ("eligibleLeaderReplicas", "ELR"),
    ("addingReplicas", "list of replicas to add"),
    ("removingReplicas", "list of replicas to remove"),
)


def _brokers(ids: Sequence[int]) -> str:
    names = ", ".join(map(str, ids))
    return f"broker {names}" if len(ids) == 1 else f"brokers {names}"
