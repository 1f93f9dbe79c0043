"""Settings of topics that decide what a start does, and what may be missing without a loss."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.partition_directory import partition_log
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import names_in
from kraftops.log.ranges import ByteRange
from kraftops.memory import Budget
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from kraftops.records.internal_topics import METADATA

_TOPIC, _BROKER = 2, 4
"""Types of resources (Kafka's `ConfigResource.Type`)."""
_KEYS = ("cleanup.policy", "remote.storage.enable", "index.interval.bytes")
_BROKER_DEFAULTS = {"log.cleanup.policy": "cleanup.policy", "log.index.interval.bytes": _KEYS[2]}
"""Keys of the cluster-wide defaults of brokers, with those of topics that they stand for."""
_INDEX_INTERVAL = 4096  # `log.index.interval.bytes` of Kafka (LogConfig)


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Settings of a topic; None is unknown."""

    cleanup_policy: str | None = None
    is_tiered: bool | None = None
    index_interval_bytes: int = _INDEX_INTERVAL


@dataclass(frozen=True, slots=True)
class Topics:
    """What metadata logs say of topics; without one (*is_known*) nothing is certain.

    Attributes:
        configs: by topic and key; the key is in no topic's where the default holds.
        defaults: the cluster-wide defaults, by the topics' keys.
        ids: of the topics that exist or existed, by name.
        names: of the topics that exist.
    """

    is_known: bool
    configs: Mapping[str, Mapping[str, str]]
    defaults: Mapping[str, str]
    ids: Mapping[str, Collection[str]]
    names: Container[str]

    def settings(self, topic: str | None, *, is_tiered: bool | None) -> TopicSettings:
        """Return the settings of a topic; *is_tiered* is what its log directory says of it."""
        if not self.is_known:
            return TopicSettings(is_tiered=is_tiered)
        own = self.configs.get(topic or "", {})
        interval = own.get(_KEYS[2], self.defaults.get(_KEYS[2], ""))
        return TopicSettings(
            own.get(_KEYS[0], self.defaults.get(_KEYS[0])),
            # A topic's key alone: there is no default of a broker for it.
            own.get(_KEYS[1]) == "true",
            int(interval) if interval.isdecimal() else _INDEX_INTERVAL,
        )


UNKNOWN_TOPICS = Topics(is_known=False, configs={}, defaults={}, ids={}, names=())


def read_topics(folders: Iterable[str], budget: Budget) -> Topics:
    """Return what the metadata logs in some directories say; their damage is reported elsewhere."""
    configs: dict[str, dict[str, str]] = {}
    defaults: dict[str, str] = {}
    ids: dict[str, list[str]] = {}
    live: dict[str, str] = {}
    folders = list(folders)
    for folder in folders:
        for row, value in _records(folder, budget):
            if row.type == "TOPIC_RECORD":
                ids.setdefault(value["name"], []).append(str(row.topic_id))
                live[str(row.topic_id)] = value["name"]
            elif row.type == "REMOVE_TOPIC_RECORD":
                configs.pop(live.pop(str(row.topic_id), ""), None)
            elif row.type == "CONFIG_RECORD":
                _configure(value, configs, defaults)
    return Topics(
        is_known=bool(folders),
        configs=configs,
        defaults=defaults,
        ids=ids,
        names=frozenset(live.values()),
    )


def _configure(
    value: Mapping[str, Any], configs: dict[str, dict[str, str]], defaults: dict[str, str]
) -> None:
    if value["resourceType"] == _TOPIC and value["name"] in _KEYS:
        settings, key = configs.setdefault(value["resourceName"], {}), value["name"]
    elif value["resourceType"] == _BROKER and not value["resourceName"]:
        settings, key = defaults, _BROKER_DEFAULTS.get(value["name"], "")
    else:
        return
    if value["value"] is None:
        settings.pop(key, None)
    elif key:
        settings[key] = value["value"]


def _records(folder: str, budget: Budget) -> Iterator[tuple[Row, dict[str, Any]]]:
    import json

    types = frozenset({"topic", "removetopic", "config"})
    query = Query(decoder=METADATA, budget=budget, filter=Filter(types=types))
    with suppress(OSError, SourceError, UsageError):
        log = partition_log(folder, names_in(folder), from_start=False)
        for path in log.paths if log else ():
            for row in part_rows(ByteRange(path), query, Report()):
                if row.value and not row.error:
                    yield row, json.loads(row.value)
