"""What the state at the end of the chosen log lacks of another one, by kind and name."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from kraftops.image.state.image import MetadataImage
from kraftops.tree.leaves import acl_data
from kraftops.tree.names import entity_name, mechanism_name, resource_name

Names = Iterator[str]
NamesOf = Callable[[MetadataImage, MetadataImage], Names]


def missing_state(chosen: MetadataImage, other: MetadataImage) -> dict[str, list[str]]:
    """Return the names of what *chosen* lacks, or has in another state than *other*, by kind.

    Kinds without a name are left out.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    missing = {kind: list(names_of(chosen, other)) for kind, (_, names_of) in _KINDS.items()}
    return {kind: names for kind, names in missing.items() if names}


def _added(
    table_of: Callable[[MetadataImage], Mapping[Any, Any]],
    name_of: Callable[[MetadataImage, Any], str],
) -> NamesOf:
    """Make a function that yields the entries of a table that only the other image has."""

    def names(chosen: MetadataImage, other: MetadataImage) -> Names:
        entries = table_of(chosen)
        return (name_of(other, key) for key in table_of(other) if key not in entries)

    return names


def _different_partitions(chosen: MetadataImage, other: MetadataImage, *, is_new: bool) -> Names:
    """Yield the partitions of *other* that differ: those that *chosen* has not, or the others."""
    for topic_id, numbers in chosen.fold.different(other.fold).items():
        topic = other.topics[topic_id].name
        for number in numbers:
            if other.fold.newest(topic_id, number) is None:
                continue
            if (chosen.fold.newest(topic_id, number) is None) == is_new:
                yield f"{topic}-{number}"


def _changed(
    table_of: Callable[[MetadataImage], Mapping[Any, Mapping[str, int]]],
    name_of: Callable[[Any], str],
) -> NamesOf:
    """Make a function that yields the entries of a table that the other image has changed."""

    def names(chosen: MetadataImage, other: MetadataImage) -> Names:
        table, other_table = table_of(chosen), table_of(other)
        for owner in dict.fromkeys((*other_table, *table)):
            entries, other_entries = table.get(owner, {}), other_table.get(owner, {})
            for key, address in other_entries.items():
                if key not in entries or _read(chosen, entries[key]) != _read(other, address):
                    yield f"{name_of(owner)} {key}"
            for key in entries:
                if key not in other_entries:
                    yield f"{name_of(owner)} {key} (removed)"

    return names


def _read(image: MetadataImage, address: int) -> Any:
    return image.read(address)[1]


def _acl_text(image: MetadataImage, acl_id: Any) -> str:
    acl = acl_data(_read(image, image.acls[acl_id]))
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


def _producer_ids(chosen: MetadataImage, other: MetadataImage) -> Names:
    """Yield the producer ids that *other* alone has given out (`ProducerIdControlManager`)."""
    end, other_end = map(next_producer_id, (chosen, other))
    if other_end > end:
        yield f"{end} to {other_end - 1}"


def next_producer_id(image: MetadataImage) -> int:
    """Return `nextProducerId` of the newest ProducerIdsRecord; 0 without one."""
    address = image.producer_ids
    return 0 if address is None else int(_read(image, address)["nextProducerId"])


def _reversed(names_of: NamesOf) -> NamesOf:
    """Return what *names_of* yields of the other log: what it has deleted comes back."""
    return lambda chosen, other: names_of(other, chosen)


_TOPICS = _added(attrgetter("topics"), lambda image, topic_id: image.topics[topic_id].name)
_BROKERS = _added(lambda image: dict(sorted(image.brokers.items())), lambda _, broker: str(broker))
_ACLS = _added(attrgetter("acls"), _acl_text)
_KINDS: dict[str, tuple[str, NamesOf]] = {
    "topics": ("topics", _TOPICS),
    "deletedTopics": ("topics that were deleted, and come back", _reversed(_TOPICS)),
    "partitions": ("partitions", partial(_different_partitions, is_new=True)),
    "partitionStates": (
        "newest states of partitions",
        partial(_different_partitions, is_new=False),
    ),
    "brokers": ("brokers", _BROKERS),
    "configurations": ("configurations", _changed(attrgetter("configs"), resource_name)),
    "quotas": ("quotas", _changed(attrgetter("quotas"), entity_name)),
    "users": ("SCRAM users", _changed(attrgetter("scram"), mechanism_name)),
    "acls": ("ACLs", _ACLS),
    "deletedAcls": ("ACLs that were deleted, and come back", _reversed(_ACLS)),
    "tokens": ("delegation tokens", _added(attrgetter("tokens"), lambda _, token: str(token))),
    "features": ("features", _features),
    "producerIds": ("producer ids that were handed out, and are skipped", _producer_ids),
}
KINDS = {kind: meaning for kind, (meaning, _) in _KINDS.items()}
"""Kinds of missing names, as people read them."""
