"""Logs compared with the chosen one: what the chosen one lacks, by offsets and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.recovery.log_copy import LogCopy
from kraftops.schema.message import Data
from kraftops.tree.leaves import acl_data
from kraftops.tree.names import entity_name, mechanism_name, resource_name

K = TypeVar("K")
Names = Iterator[str]
NamesOf = Callable[[MetadataImage, MetadataImage], Names]


@dataclass(frozen=True, slots=True)
class ComparedLog:
    """A log, compared with the chosen one.

    Attributes:
        log: the log.
        common_end: the offset up to which both are equal.
        missing: the names of what the chosen log lacks, by kind.
        image: its state, where the chosen log lacks records of it.
        is_own: whether it is the log of this node.
        is_chosen: whether it goes on.
    """

    log: LogCopy
    common_end: int
    missing: Mapping[str, Sequence[str]]
    image: MetadataImage | None
    is_own: bool
    is_chosen: bool

    @property
    def ahead(self) -> range:
        """The offsets of its records that the chosen log lacks."""
        return range(self.common_end, max(self.log.end, self.common_end))


def compare_logs(
    logs: Sequence[LogCopy], common_ends: Sequence[int], chosen: LogCopy, image: MetadataImage
) -> tuple[ComparedLog, ...]:
    """Return the logs, the chosen one first, then the best; *image* is the state at its end.

    The first of *logs* is that of this node.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    compared = []
    for log, end in zip(logs, common_ends, strict=True):
        is_ahead = log.end > end and not log.is_empty
        other = load([log.folder]) if is_ahead else None
        missing = missing_state(image, other) if other else {}
        compared.append(ComparedLog(log, end, missing, other, log is logs[0], log is chosen))
    compared.sort(key=lambda each: (each.is_chosen, each.log.rank), reverse=True)
    return tuple(compared)


def missing_state(chosen: MetadataImage, other: MetadataImage) -> dict[str, list[str]]:
    """Return the names of what *chosen* lacks, or has in another state than *other*, by kind.

    Kinds without a name are left out.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    missing = {kind: list(names_of(chosen, other)) for kind, (_, names_of) in _KINDS.items()}
    return {kind: names for kind, names in missing.items() if names}


def _topics(chosen: MetadataImage, other: MetadataImage) -> Names:
    for topic_id, topic in other.topics.items():
        if topic_id not in chosen.topics:
            yield topic.name


def _different_partitions(chosen: MetadataImage, other: MetadataImage, *, is_new: bool) -> Names:
    """Yield the partitions of *other* that differ: those that *chosen* has not, or the others."""
    for topic_id, numbers in chosen.fold.different(other.fold).items():
        topic = other.topics[topic_id].name
        for number in numbers:
            if other.fold.newest(topic_id, number) is None:
                continue
            if (chosen.fold.newest(topic_id, number) is None) == is_new:
                yield f"{topic}-{number}"


def _brokers(chosen: MetadataImage, other: MetadataImage) -> Names:
    return (str(broker) for broker in sorted(other.brokers.keys() - chosen.brokers.keys()))


def _configurations(chosen: MetadataImage, other: MetadataImage) -> Names:
    return _changed(chosen, other, chosen.configs, other.configs, resource_name)


def _quotas(chosen: MetadataImage, other: MetadataImage) -> Names:
    return _changed(chosen, other, chosen.quotas, other.quotas, entity_name)


def _users(chosen: MetadataImage, other: MetadataImage) -> Names:
    return _changed(chosen, other, chosen.scram, other.scram, mechanism_name)


def _changed(
    chosen: MetadataImage,
    other: MetadataImage,
    chosen_table: Mapping[K, Mapping[str, int]],
    other_table: Mapping[K, Mapping[str, int]],
    name_of: Callable[[K], str],
) -> Names:
    """Yield the entries that *other_table* has added, changed or removed."""
    for owner in dict.fromkeys((*other_table, *chosen_table)):
        entries, other_entries = chosen_table.get(owner, {}), other_table.get(owner, {})
        for key, address in other_entries.items():
            if key not in entries or _read(chosen, entries[key]) != _read(other, address):
                yield f"{name_of(owner)} {key}"
        for key in entries:
            if key not in other_entries:
                yield f"{name_of(owner)} {key} (removed)"


def _read(image: MetadataImage, address: int) -> Any:
    return image.read(address)[1]


def _acls(chosen: MetadataImage, other: MetadataImage) -> Names:
    for acl_id, address in other.acls.items():
        if acl_id not in chosen.acls:
            yield _acl_text(acl_data(_read(other, address)))


def _acl_text(acl: Data) -> str:
    return (
        f"{acl['permissionType']} {acl['principal']} {acl['operation']} on {acl['resourceType']} "
        f"{acl['resourceName']} ({acl['patternType']}) from {acl['host']}"
    )


def _features(chosen: MetadataImage, other: MetadataImage) -> Names:
    levels = {name: level for name, (level, _) in chosen.features.items()}
    for name, (level, _) in other.features.items():
        if levels.get(name) != level:
            yield f"{name}={level}"
    if other.metadata_version and other.metadata_version[:1] != (chosen.metadata_version or ())[:1]:
        yield f"metadata.version={other.metadata_version[0]}"


def _tokens(chosen: MetadataImage, other: MetadataImage) -> Names:
    return (token for token in other.tokens if token not in chosen.tokens)


def _producer_ids(chosen: MetadataImage, other: MetadataImage) -> Names:
    """Yield the producer ids that *other* alone has given out (`ProducerIdControlManager`)."""
    end, other_end = map(next_producer_id, (chosen, other))
    if other_end > end:
        yield f"{end} to {other_end - 1}"


def next_producer_id(image: MetadataImage) -> int:
    """Return the first producer id that no broker has been given."""
    address = image.producer_ids
    return 0 if address is None else int(_read(image, address)["nextProducerId"])


def _reversed(names_of: NamesOf) -> NamesOf:
    """Return what *names_of* yields of the other log: what it has deleted comes back."""
    return lambda chosen, other: names_of(other, chosen)


_KINDS: dict[str, tuple[str, NamesOf]] = {
    "topics": ("topics", _topics),
    "deletedTopics": ("topics that were deleted, and come back", _reversed(_topics)),
    "partitions": ("partitions", partial(_different_partitions, is_new=True)),
    "partitionStates": (
        "newest states of partitions",
        partial(_different_partitions, is_new=False),
    ),
    "brokers": ("brokers", _brokers),
    "configurations": ("configurations", _configurations),
    "quotas": ("quotas", _quotas),
    "users": ("SCRAM users", _users),
    "acls": ("ACLs", _acls),
    "deletedAcls": ("ACLs that were deleted, and come back", _reversed(_acls)),
    "tokens": ("delegation tokens", _tokens),
    "features": ("features", _features),
    "producerIds": ("producer ids that were handed out, and are skipped", _producer_ids),
}
KINDS = {kind: meaning for kind, (meaning, _) in _KINDS.items()}
"""Kinds of missing names, as people read them."""
