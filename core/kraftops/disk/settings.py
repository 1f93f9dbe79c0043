"""The settings of a topic that are in force on a broker, and where each comes from."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kraftops.engine.metadata_state import TOPIC_RESOURCE
from kraftops.engine.timeline_contract import BROKER_RESOURCE
from kraftops.image.state.image import MetadataImage
from kraftops.java.numbers import parse_integer
from kraftops.storage.config.keys import server_keys
from kraftops.storage.config.server_config import ServerConfig

RETENTION_MS, RETENTION_BYTES, POLICY = "retention.ms", "retention.bytes", "cleanup.policy"
LOCAL_MS, LOCAL_BYTES = "local.retention.ms", "local.retention.bytes"
TIERED, COPY_DISABLED = "remote.storage.enable", "remote.log.copy.disable"
SEGMENT_MS, SEGMENT_BYTES = "segment.ms", "segment.bytes"
DIRTY_RATIO, MIN_LAG, MAX_LAG = (
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "max.compaction.lag.ms",
)
DELETE_DELAY = "file.delete.delay.ms"
CHECK_INTERVAL, CLEANER = "log.retention.check.interval.ms", "log.cleaner.enable"
_MINUTE, _HOUR = 60_000, 3_600_000
_KEYS: Mapping[str, tuple[tuple[str, int], ...]] = {
    POLICY: (("log.cleanup.policy", 1),),
    RETENTION_MS: (
        ("log.retention.ms", 1),
        ("log.retention.minutes", _MINUTE),
        ("log.retention.hours", _HOUR),
    ),
    RETENTION_BYTES: (("log.retention.bytes", 1),),
    SEGMENT_MS: (("log.roll.ms", 1), ("log.roll.hours", _HOUR)),
    SEGMENT_BYTES: (("log.segment.bytes", 1),),
    DELETE_DELAY: (("log.segment.delete.delay.ms", 1),),
    TIERED: (),
    COPY_DISABLED: (),
    LOCAL_MS: (("log.local.retention.ms", 1),),
    LOCAL_BYTES: (("log.local.retention.bytes", 1),),
    DIRTY_RATIO: (("log.cleaner.min.cleanable.ratio", 1),),
    MIN_LAG: (("log.cleaner.min.compaction.lag.ms", 1),),
    MAX_LAG: (("log.cleaner.max.compaction.lag.ms", 1),),
    CHECK_INTERVAL: ((CHECK_INTERVAL, 1),),
    CLEANER: ((CLEANER, 1),),
}
"""Keys of topics, and those of brokers that stand for them, the first one first, with the ms of
their unit (`KafkaConfig.logRetentionTimeMillis`, `ServerTopicConfigSynonyms`). The last two are of
brokers alone."""


class Setting(NamedTuple):
    """A value in force; its source is topic, broker, brokers, configuration or default."""

    key: str
    value: str
    source: str


class TopicSettings:
    """The settings of a topic by key."""

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self._settings = settings

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._settings.values())

    def text(self, key: str) -> str:
        return self._settings[key].value

    def source(self, key: str) -> str:
        """Return where a value comes from."""
        return self._settings[key].source

    def number(self, key: str) -> int:
        """Return a value that is a whole number; -1 (without a limit) where it is not one."""
        number = parse_integer(self.text(key), 64)
        return -1 if number is None else number

    def ratio(self, key: str) -> float:
        """Return a value that is a share; 0 where it is not a number."""
        try:
            return float(self.text(key))
        except ValueError:
            return 0.0

    def is_on(self, key: str) -> bool:
        return self.text(key).lower() == "true"

    @property
    def policies(self) -> set[str]:
        """The cleanup policies: `delete` and `compact`, both or none."""
        return {policy.strip() for policy in self.text(POLICY).split(",") if policy.strip()}

    @property
    def is_copied_to_tier(self) -> bool:
        """Whether segments go to a tier (`UnifiedLog.remoteLogEnabledAndRemoteCopyEnabled`)."""
        return self.is_on(TIERED) and not self.is_on(COPY_DISABLED)

    @property
    def retention_ms(self) -> int:
        """How long segments stay on the disk, in ms; -1 without a limit."""
        return self._retention(LOCAL_MS, RETENTION_MS)

    @property
    def retention_bytes(self) -> int:
        """How many bytes of segments stay on the disk; -1 without a limit."""
        return self._retention(LOCAL_BYTES, RETENTION_BYTES)

    @property
    def retention_key(self) -> str:
        """The key of `retention_ms`."""
        return self._key(LOCAL_MS, RETENTION_MS)

    def _retention(self, local: str, whole: str) -> int:
        return max(-1, self.number(self._key(local, whole)))

    def _key(self, local: str, whole: str) -> str:
        # -2 stands for the retention of the whole log (`LogConfig.localRetentionMs`).
        return local if self.is_copied_to_tier and self.number(local) != -2 else whole


def topic_settings(
    topic: str, node_id: int | None, image: MetadataImage | None, config: ServerConfig | None
) -> TopicSettings:
    """Return the settings of a topic on a broker.

    Without an image, dynamic configurations are unknown, and without a configuration the broker's.

    Raises:
        KraftopsError: a source of the image can no longer be read.
    """
    layers = (
        ("broker", _dynamic(image, BROKER_RESOURCE, "" if node_id is None else str(node_id))),
        ("brokers", _dynamic(image, BROKER_RESOURCE, "")),
        (
            "configuration",
            {key: prop.value for key, prop in config.given.items()} if config else {},
        ),
    )
    own = _dynamic(image, TOPIC_RESOURCE, topic)
    settings = {}
    for key, synonyms in _KEYS.items():
        if key in own:
            settings[key] = Setting(key, own[key], "topic")
        else:
            settings[key] = _of_broker(key, synonyms, layers)
    return TopicSettings(settings)


def _of_broker(
    key: str,
    synonyms: tuple[tuple[str, int], ...],
    layers: tuple[tuple[str, Mapping[str, str]], ...],
) -> Setting:
    for synonym, unit in synonyms:
        for source, values in layers:
            if values.get(synonym, "").strip():
                return Setting(key, _in_ms(values[synonym].strip(), unit), source)
    for synonym, unit in synonyms:
        default = server_keys()[synonym].default
        if default is not None:
            return Setting(key, _in_ms(default, unit), "default")
    return Setting(key, "false", "default")  # the keys that only topics have


def _in_ms(value: str, unit: int) -> str:
    number = parse_integer(value, 64)
    return value if unit == 1 or number is None else str(number * unit if number >= 0 else -1)


def _dynamic(image: MetadataImage | None, kind: int, name: str) -> dict[str, str]:
    if image is None:
        return {}
    addresses = image.configs.get((kind, name), {})
    return {key: image.read(address)[1]["value"] or "" for key, address in addresses.items()}
