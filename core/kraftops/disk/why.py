"""Why nothing is deleted of a partition: all that is needed for it, read from log directories."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.answers.fields import boolean, number, parts, size, text, time
from kraftops.disk.retention import Reason, RetentionState, read_retention, reason, reasons
from kraftops.disk.settings import topic_settings
from kraftops.display.columns import Column, folded
from kraftops.dump.tiers.remote_metadata import read_remote_metadata
from kraftops.errors import KraftopsError, UsageError
from kraftops.image.verify.assignments import image_in
from kraftops.log.files import METADATA_TOPIC
from kraftops.memory import Budget
from kraftops.records.internal_topics import REMOTE_TOPIC
from kraftops.server.loader.load_plan import FolderKind, parse_folder_name
from kraftops.server.log_directory import LogDirectory
from kraftops.server.partition_files import topic_id_of
from kraftops.storage.config.server_config import ServerConfig
from kraftops.uuids import to_text


@dataclass(frozen=True, slots=True)
class Why:
    """What keeps the segments of a replica, and why."""

    state: RetentionState
    reasons: Sequence[Reason]


class Broker(NamedTuple):
    """The log directories of a broker, and its configuration where that is named."""

    config: ServerConfig | None
    directories: Sequence[LogDirectory]

    @property
    def may_have_topics(self) -> bool:
        """Whether it is not a controller, by its configuration or by what is in the directories."""
        if self.config:
            return "broker" in self.config.roles
        return not all(directory.has_metadata_alone for directory in self.directories)


def why_kept(brokers: Sequence[Broker], topic: str, partition: int | None, now: int) -> list[Why]:
    """Return why nothing is deleted, of each replica in the log directories of brokers.

    *partition* None stands for all of the topic.

    Raises:
        UsageError: none of them has the partition, or it is the metadata log.
        KraftopsError: a file can no longer be read.
    """
    if topic == METADATA_TOPIC:
        raise UsageError(
            "the metadata log is deleted up to its snapshots, not by the retention of topics",
            hint="metadata.max.retention.ms and metadata.max.retention.bytes bound it",
        )
    whys = [why for broker in brokers for why in _of_broker(broker, topic, partition, now)]
    if whys:
        return whys
    from difflib import get_close_matches

    name = topic if partition is None else f"{topic}-{partition}"
    directories = [directory for broker in brokers for directory in broker.directories]
    text = f"{name} is not in {', '.join(directory.path for directory in directories)}"
    hint = "kraftops disk --group-by partition has all"
    if not any(broker.may_have_topics for broker in brokers):
        text += ", which has the metadata log alone"
        hint = "name log directories of brokers: those of controllers have no topics"
    folders = {name for directory in directories for name in directory.folder.directories}
    there = {folder.topic for folder in map(parse_folder_name, folders) if folder}
    if near := get_close_matches(
        name, folders if topic in there or partition is not None else there
    ):
        hint = f"did you mean {' or '.join(sorted(near))}?"
    raise UsageError(text, hint, code="not-found", topic=topic)


def _of_broker(broker: Broker, topic: str, asked: int | None, now: int) -> Iterator[Why]:
    directories = broker.directories
    images = (image_in(directory.path) for directory in directories if directory.is_metadata)
    image = next(filter(None, images), None)
    replicas = sorted(
        (folder.partition, index)
        for index, directory in enumerate(directories)
        for folder in map(parse_folder_name, directory.folder.directories)
        if folder and folder.kind is FolderKind.CURRENT and folder.topic == topic
        if asked in (None, folder.partition)
    )
    for partition, index in replicas:
        directory = directories[index]
        settings = topic_settings(topic, directory.node_id, image, broker.config)
        copied_to = None
        if settings.is_copied_to_tier:
            copied_to = _copied_to(
                directories, os.path.join(directory.path, f"{topic}-{partition}"), partition
            )
        state = read_retention(directory, topic, partition, settings, now)
        stated = reasons(state, copied_to)
        if image is None:
            stated.append(reason("settings-unknown"))
        if broker.config is None:
            stated.append(reason("defaults-unknown"))
        yield Why(state, stated)


def _copied_to(directories: Sequence[LogDirectory], path: str, partition: int) -> int | None:
    """Return the last offset of a partition in the tier, as `__remote_log_metadata` here tells."""
    topic_id = topic_id_of(path)
    logs = [
        os.path.join(directory.path, name)
        for directory in directories
        for name in directory.folder.directories
        if name.startswith(f"{REMOTE_TOPIC}-")
    ]
    if topic_id is None or not logs:
        return None
    try:
        metadata = read_remote_metadata(logs, Budget())
        remote = metadata.partitions.get((to_text(topic_id), partition))
    except KraftopsError:
        return None
    return max((segment.end for segment in remote.live), default=None) if remote else None


SETTING = (
    text("key", "key of a topic or broker", column=Column("SETTING", style="name")),
    text("value", "value in force", column=folded("VALUE")),
    text("source", "topic; broker or brokers (dynamic); configuration (the file); or default",
         values=("topic", "broker", "brokers", "configuration", "default"), column="FROM"),
)  # fmt: skip
SEGMENT = (
    number("baseOffset", "its first offset", column="SEGMENT"),
    size("bytes", "size of its log", column="BYTES", get="size"),
    boolean("isActive", "whether records are appended to it", column=("ACTIVE", 3)),
    time("largestTimestamp?", "last timestamp in its time index; null without one",
         column=("LARGEST TIMESTAMP", 1)),
    time("modified", "when it was written last", column=("WRITTEN", 2)),
    time("goesAt?", "when retention takes it, if nothing holds it up; null for never",
         column="DUE AT"),
)  # fmt: skip
_TRANSACTION = (
    number("producerId", "its producer"),
    number("firstOffset", "its first offset"),
    time("time", "time of its last batch"),
)
_REASON = (
    text("reason", "a word for programs", get="kind"),
    text("text", "a sentence"),
    text("cure?", "what to do", get=lambda reason: reason.cure or None),
)
REPLICA = (
    text("topic", "the topic", get="state.topic"),
    number("partition", "the partition", get="state.partition"),
    number("broker?", "the broker", get="state.directory.node_id"),
    text("directory", "its log directory", get="state.directory.path"),
    time("now", "the time that this describes", get="state.now"),
    parts("reasons", "why its segments stay", _REASON),
    parts("settings", "settings in force", SETTING, get="state.settings"),
    parts("segments", "the segments, by offset", SEGMENT, get="state.segments"),
    parts("transactions", "open in the newest producer snapshot", _TRANSACTION,
          get="state.transactions"),
    size("pendingDeletionBytes", "renamed segments", get="state.waiting"),
    number("cleanOffset?", "the cleaner has compacted up to here", get="state.clean_offset"),
    number("highWatermark?", "as the broker noted it last", get="state.high_watermark"),
    number("logStartOffset?", "first offset for consumers, if noted", get="state.log_start"),
)  # fmt: skip
