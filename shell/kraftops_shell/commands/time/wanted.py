"""The changes that a path and a type of records choose."""

from collections.abc import Sequence
from functools import cache

from kraftops.engine.metadata_state import EntryKey
from kraftops.image.history import record_type
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.search import ANY, TABLES, Wanted
from kraftops.query.filters import normal_type, parse_types
from kraftops.records.decoders import record_types
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.tree.history_subjects import history_subject

_TOPICS = ("topics", "topic-names", "partitions")
TABLES_BELOW = {
    "/": TABLES,
    "/image": TABLES,
    "/image/acls": ("acls",),
    "/image/cluster": ("brokers", "controllers", "failed-replicas"),
    "/image/topics": _TOPICS,
    "/image/topics/byId": _TOPICS,
    "/image/topics/byName": _TOPICS,
}
"""The tables behind directories of several kinds of nodes, or of all topics."""
_TABLES_OF = {
    "topic": ("topics", "topic-names"),
    "removetopic": ("topics", "topic-names"),
    "config": ("configs",),
    "partition": ("partitions",),
    "partitionchange": ("partitions",),
    "clientquota": ("quotas",),
    "featurelevel": ("features",),
    "producerids": ("producer-ids",),
    "registercontroller": ("controllers",),
    "registerbroker": ("brokers",),
    "unregisterbroker": ("brokers",),
    "fencebroker": ("brokers",),
    "unfencebroker": ("brokers",),
    "brokerregistrationchange": ("brokers",),
}
"""The tables that records of a type change, for types that change few."""


@cache
def wanted_below(names: tuple[str, ...], type_: str = "", dialect: str = KAFKA_DIALECT) -> Wanted:
    """Return the changes of a node and what is below it, by records of a type, or all.

    It is the same for the same words. No names are all nodes.

    Raises:
        UsageError: the node has no history, or there is no such type.
    """
    below = TABLES_BELOW.get("/" + "/".join(names))
    if below is TABLES and not type_:
        return ANY
    types = parse_types([type_], record_types("metadata", dialect)) if type_ else frozenset()
    tables = {table for name in types for table in _TABLES_OF.get(name, TABLES)} or set(TABLES)
    subject = None if below else history_subject(names)
    keys = [EntryKey(table) for table in below or () if table in tables]

    def entries(image: MetadataImage) -> Sequence[EntryKey]:
        if subject is None:
            return keys
        return [key for key in subject.entries(image) if key.table in tables]

    def is_wanted(image: MetadataImage, address: int) -> bool:
        return not types or normal_type(record_type(image.record(address), dialect)) in types

    return Wanted(entries, is_wanted)


@cache
def wanted_below_any(
    places: tuple[tuple[str, ...], ...], type_: str = "", dialect: str = KAFKA_DIALECT
) -> Wanted:
    """Return the changes that `wanted_below` has for one of several places.

    Raises:
        UsageError: a node has no history, or there is no such type.
    """
    selections = [wanted_below(names, type_, dialect) for names in places]
    if len(selections) == 1 or ANY in selections:
        return ANY if ANY in selections else selections[0]

    def entries(image: MetadataImage) -> Sequence[EntryKey]:
        return [*dict.fromkeys(key for selection in selections for key in selection.entries(image))]

    return Wanted(entries, selections[0].is_wanted)
