"""The topics that foreign clients write to, and the settings of a broker that keeps busy files."""

from collections.abc import Mapping
from typing import NamedTuple

SEGMENT_BYTES = 4000
_OFTEN = {"min.cleanable.dirty.ratio": "0.01", "max.compaction.lag.ms": "500"}


class Topic(NamedTuple):
    """A topic to create."""

    partitions: int
    configs: Mapping[str, str]


TOPICS = {
    "librdkafka": Topic(3, {}),
    "aiokafka": Topic(3, {}),
    "python": Topic(2, {}),
    "java": Topic(2, {}),
    "words": Topic(2, {}),
    "counted": Topic(1, {}),
    "appended": Topic(1, {"message.timestamp.type": "LogAppendTime"}),
    "recompressed": Topic(1, {"compression.type": "zstd"}),
    "preallocated": Topic(1, {"preallocate": "true"}),
    "keyed": Topic(2, {"cleanup.policy": "compact", "delete.retention.ms": "1", **_OFTEN}),
    "both": Topic(1, {"cleanup.policy": "compact,delete", **_OFTEN}),
    "payments": Topic(2, {}),
    "balances": Topic(1, {"cleanup.policy": "compact", **_OFTEN}),
    "short": Topic(1, {"retention.bytes": "9000"}),
    "purged": Topic(1, {}),
    "gone": Topic(2, {}),
    "tiered": Topic(2, {"remote.storage.enable": "true", "local.retention.bytes": "1"}),
}
"""By name."""


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, which can be compared."""
    return tuple(map(int, release.split(".")))


def segment_key(release: str) -> str:
    """Return the key that a release lets segments be small with."""
    return "segment.bytes" if numbers(release) < (4, 1) else "internal.segment.bytes"


def configs(name: str, release: str) -> dict[str, str]:
    """Return the configuration of a topic: small segments, and an index entry every few batches."""
    small = {segment_key(release): str(SEGMENT_BYTES), "index.interval.bytes": "300"}
    any_time = {"retention.ms": "-1", "message.timestamp.after.max.ms": str((1 << 63) - 1)}
    return {**small, **any_time, **TOPICS[name].configs}
