"""The newest record of each entry of the state, by the tables of the fold's contract."""

from collections.abc import Callable, Mapping

from kraftops.engine.metadata_state import VERSION_FEATURE, EntryKey, NewestRecord
from kraftops.image.state.image import MetadataImage


def newest_record(image: MetadataImage, entry: EntryKey) -> NewestRecord | None:
    """Return the record that changed an entry last; None if there is no entry.

    Besides the tables of `EntryChange`, `quorum` has control records by the attributes of `Quorum`.
    """
    return _NEWEST[entry.table](image, *entry.key)


def _single(address: int | None) -> NewestRecord | None:
    return None if address is None else NewestRecord(address, 1)


def _topic(image: MetadataImage, topic_id: bytes) -> NewestRecord | None:
    topic = image.fold.topic(topic_id)
    return None if topic is None else NewestRecord(topic.address, 1)


def _broker(image: MetadataImage, broker_id: int) -> NewestRecord | None:
    broker = image.brokers.get(broker_id)
    return None if broker is None else broker.newest


def _feature(image: MetadataImage, name: str) -> NewestRecord | None:
    level = image.metadata_version if name == VERSION_FEATURE else image.features.get(name)
    return None if level is None else NewestRecord(level[1], 1)


_NEWEST: Mapping[str, Callable[..., NewestRecord | None]] = {
    "topics": _topic,
    "partitions": lambda image, topic_id, number: image.fold.newest(topic_id, number),
    "brokers": _broker,
    "controllers": lambda image, key: _single(image.controllers.get(key)),
    "failed-replicas": lambda image, key: _single(image.failed_replicas.get(key)),
    "configs": lambda image, type_, name, key: _single(
        image.configs.get((type_, name), {}).get(key)
    ),
    "quotas": lambda image, entity, key: _single(image.quotas.get(entity, {}).get(key)),
    "acls": lambda image, key: _single(image.acls.get(key)),
    "scram": lambda image, mechanism, user: _single(image.scram.get(mechanism, {}).get(user)),
    "tokens": lambda image, key: _single(image.tokens.get(key)),
    "features": _feature,
    "producer-ids": lambda image: _single(image.producer_ids),
    "quorum": lambda image, name: _single(getattr(image.quorum, name)),
}
