"""What one state of the metadata has that another lacks, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from kraftops.image.state.image import MetadataImage
from kraftops.schema.read import Data
from kraftops.tree.leaves import acl_data
from kraftops.tree.names import entity_name, mechanism_name, resource_name

K = TypeVar("K")
Names = Iterator[str]


def lacking(chosen: MetadataImage, other: MetadataImage) -> dict[str, list[str]]:
    """Return what is in another state and not, or not so, in the chosen one, by kind and name.

    Kinds that nothing is lacking of are left out.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    found = {kind: list(names(chosen, other)) for kind, names in _KINDS.items()}
    return {kind: names for kind, names in found.items() if names}


def _topics(chosen: MetadataImage, other: MetadataImage) -> Names:
    for topic_id, topic in other.topics.items():
        if topic_id not in chosen.topics:
            yield topic.name


def _deleted_topics(chosen: MetadataImage, other: MetadataImage) -> Names:
    """Yield those whose deletion is lacking: they come back."""
    for topic_id, topic in chosen.topics.items():
        if topic_id not in other.topics:
            yield topic.name


class _Differing(NamedTuple):
    topic: str
    number: int
    is_new: bool


def _differing(chosen: MetadataImage, other: MetadataImage) -> Iterator[_Differing]:
    for topic_id, numbers in chosen.fold.different(other.fold).items():
        name = other.topics[topic_id].name
        for number in numbers:
            if other.fold.newest(topic_id, number) is not None:
                yield _Differing(name, number, chosen.fold.newest(topic_id, number) is None)


def _partitions(chosen: MetadataImage, other: MetadataImage) -> Names:
    for one in _differing(chosen, other):
        if one.is_new:
            yield f"{one.topic}-{one.number}"


def _partition_states(chosen: MetadataImage, other: MetadataImage) -> Names:
    """Yield the partitions whose newest replicas, leaders or ISR are lacking."""
    for one in _differing(chosen, other):
        if not one.is_new:
            yield f"{one.topic}-{one.number}"


def _brokers(chosen: MetadataImage, other: MetadataImage) -> Names:
    return (str(broker) for broker in sorted(other.brokers.keys() - chosen.brokers.keys()))


def _configurations(chosen: MetadataImage, other: MetadataImage) -> Names:
    yield from _changed(chosen, other, chosen.configs, other.configs, resource_name)


def _quotas(chosen: MetadataImage, other: MetadataImage) -> Names:
    yield from _changed(chosen, other, chosen.quotas, other.quotas, entity_name)


def _users(chosen: MetadataImage, other: MetadataImage) -> Names:
    yield from _changed(chosen, other, chosen.scram, other.scram, mechanism_name)


def _changed(
    chosen: MetadataImage,
    other: MetadataImage,
    here: Mapping[K, Mapping[str, int]],
    there: Mapping[K, Mapping[str, int]],
    name_of: Callable[[K], str],
) -> Names:
    """Yield the entries of two tables that are not here, say something else, or are gone there."""
    for owner in dict.fromkeys((*there, *here)):
        mine, theirs = here.get(owner, {}), there.get(owner, {})
        for key, address in theirs.items():
            if key not in mine or _read(chosen, mine[key]) != _read(other, address):
                yield f"{name_of(owner)} {key}"
        for key in mine:
            if key not in theirs:
                yield f"{name_of(owner)} {key} (removed)"


def _read(image: MetadataImage, address: int) -> Any:
    return image.read(address)[1]


def _acls(chosen: MetadataImage, other: MetadataImage) -> Names:
    for acl_id, address in other.acls.items():
        if acl_id not in chosen.acls:
            yield _acl_text(acl_data(_read(other, address)))


def _deleted_acls(chosen: MetadataImage, other: MetadataImage) -> Names:
    """Yield those whose deletion is lacking: they permit, or deny, again."""
    for acl_id, address in chosen.acls.items():
        if acl_id not in other.acls:
            yield _acl_text(acl_data(_read(chosen, address)))


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


_KINDS: dict[str, Callable[[MetadataImage, MetadataImage], Names]] = {
    "topics": _topics,
    "deletedTopics": _deleted_topics,
    "partitions": _partitions,
    "partitionStates": _partition_states,
    "brokers": _brokers,
    "configurations": _configurations,
    "quotas": _quotas,
    "users": _users,
    "acls": _acls,
    "deletedAcls": _deleted_acls,
    "tokens": _tokens,
    "features": _features,
}
