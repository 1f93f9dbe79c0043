"""Text files of a partition and a log directory: checkpoints, leader epochs, partition metadata."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from kraftops.errors import DecodeError, SourceError
from kraftops.java.numbers import parse_integer
from kraftops.server.loader import thrown
from kraftops.server.loader.thrown import LoadError
from kraftops.uuids import ZERO, from_text

LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
LARGEST_TEXT = 16 << 20  # bytes: half a million partitions in a checkpoint
_MOST_ENTRIES = (1 << 31) - 3  # an array of more is beyond any heap
_WHITE_SPACE = r"[ \t\n\x0b\f\r]+"  # `\s` of java.util.regex

T = TypeVar("T")


class EpochEntry(NamedTuple):
    """A leader epoch and the first offset of it."""

    epoch: int
    start_offset: int


class LeaderEpochs:
    """The epochs of a log by Kafka's `LeaderEpochFileCache`, in the order of their numbers."""

    def __init__(self, entries: Iterable[EpochEntry]) -> None:
        """Take in the entries of a checkpoint, which may be in any order.

        Raises:
            LoadError: an epoch or an offset is negative.
        """
        self._entries: list[EpochEntry] = []
        for entry in entries:
            self.assign(entry)

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        """All epochs, in order."""
        return tuple(self._entries)

    @property
    def latest(self) -> int | None:
        return self._entries[-1].epoch if self._entries else None

    def assign(self, entry: EpochEntry) -> bool:
        """Add an epoch, and remove those that contradict it; False if it changes nothing.

        Raises:
            LoadError: the epoch or its offset is negative.
        """
        if entry.epoch < 0 or entry.start_offset < 0:
            raise LoadError(
                thrown.ILLEGAL_ARGUMENT,
                f"Received invalid partition leader epoch entry {entry.epoch} {entry.start_offset}",
                LEADER_EPOCHS,
            )
        if self._entries:
            latest = self._entries[-1]
            if entry.epoch == latest.epoch and entry.start_offset >= latest.start_offset:
                return False
        self._remove_last(
            lambda other: other.epoch >= entry.epoch or other.start_offset >= entry.start_offset
        )
        self._entries.append(entry)
        return True

    def _remove_last(self, goes: Callable[[EpochEntry], bool]) -> None:
        while self._entries and goes(self._entries[-1]):
            self._entries.pop()

    def truncate_from_end(self, end_offset: int) -> None:
        """Remove epochs that begin at or after the end of the log."""
        if end_offset >= 0:
            self._remove_last(lambda entry: entry.start_offset >= end_offset)

    def truncate_from_start(self, start_offset: int) -> None:
        """Let the first epoch begin at the start of the log."""
        count = 0
        while count < len(self._entries) and self._entries[count].start_offset <= start_offset:
            count += 1
        if count:
            first = EpochEntry(self._entries[count - 1].epoch, start_offset)
            self._entries[:count] = [first]

    def clear(self) -> None:
        """Forget all epochs."""
        self._entries.clear()


def epoch_entries(raw: bytes) -> list[EpochEntry]:
    """Return the entries of a leader-epoch-checkpoint.

    Raises:
        LoadError: Kafka's exception.
    """

    def entry(words: list[str]) -> EpochEntry:
        epoch, start = _integer(words[0], 32), _integer(words[1], 64)
        return EpochEntry(epoch, start)

    return _checkpoint_entries(raw, 2, entry, LEADER_EPOCHS)


def offset_entries(raw: bytes, name: str) -> dict[tuple[str, int], int]:
    """Return the offsets by topic and partition of a checkpoint of a log directory.

    Raises:
        LoadError: Kafka's exception (`OffsetCheckpointFile`).
    """

    def entry(words: list[str]) -> tuple[tuple[str, int], int]:
        return (words[0], _integer(words[1], 32)), _integer(words[2], 64)

    return dict(_checkpoint_entries(raw, 3, entry, name))


def _checkpoint_entries(
    raw: bytes, words: int, entry: Callable[[list[str]], T], name: str
) -> list[T]:
    """Return the entries of a checkpoint (`CheckpointFile`): a version, a count, and lines.

    Nothing, not even a version, is an empty checkpoint. Damage of the lines before the entries is
    an IOException, and so a KafkaStorageException; a word in an entry that is not a number is
    neither.
    """
    failure = LoadError(thrown.STORAGE, f"Error while reading checkpoint file {name}", name)
    lines = _lines(raw, name)
    if lines and parse_integer(lines[0], 32) != 0:
        raise failure
    if len(lines) < 2:
        return []
    count = parse_integer(lines[1], 32)
    if count is None:
        raise failure
    if count < 0:
        raise LoadError(thrown.ILLEGAL_ARGUMENT, f"Illegal Capacity: {count}", name)
    if count > _MOST_ENTRIES:
        raise LoadError(thrown.OUT_OF_MEMORY, "Requested array size exceeds VM limit", name)
    entries = []
    for line in lines[2:]:
        parts = _split(line, _WHITE_SPACE)
        if len(parts) != words:
            raise failure
        try:
            entries.append(entry(parts))
        except LoadError as error:
            error.file = name
            raise
    if len(entries) != count:
        raise failure
    return entries


def topic_id_of(raw: bytes) -> bytes:
    """Return the topic id of a partition.metadata (`PartitionMetadataReadBuffer`).

    Raises:
        LoadError: Kafka's exception.
    """
    failure = LoadError(
        thrown.STORAGE,
        f"Error while reading partition metadata file {PARTITION_METADATA}",
        PARTITION_METADATA,
    )
    lines = iter(_lines(raw, PARTITION_METADATA))
    version = parse_integer(_value(next(lines, None), failure), 32)
    if version is None or version < 0:  # of a newer version the same two lines are read
        raise failure
    try:
        topic_id = from_text(_value(next(lines, None), failure))
    except DecodeError as error:
        raise LoadError(thrown.ILLEGAL_ARGUMENT, error.message, PARTITION_METADATA) from None
    if topic_id == ZERO:
        raise failure
    return topic_id


def _value(line: str | None, failure: LoadError) -> str:
    if line is None:
        reason = "the file has no such line"
        raise LoadError(thrown.NULL_POINTER, reason, PARTITION_METADATA)
    parts = _split(line, ":" + _WHITE_SPACE)
    if len(parts) != 2:
        raise failure
    return parts[1]


def _lines(raw: bytes, name: str) -> list[str]:
    """Return the lines as a BufferedReader of strict UTF-8 does.

    Raises:
        LoadError: the bytes are not UTF-8, or too many for a file of Kafka's.
    """
    if len(raw) > LARGEST_TEXT:
        raise SourceError(f"{name} has more than {LARGEST_TEXT} bytes")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise LoadError(thrown.STORAGE, f"Error while reading {name}", name) from None
    lines = re.split("\r\n|\r|\n", text)
    if not lines[-1]:
        lines.pop()
    return lines


def _split(line: str, separator: str) -> list[str]:
    """Return the parts as `Pattern.split` does, without empty ones at the end."""
    parts = re.split(separator, line)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _integer(text: str, bits: int) -> int:
    number = parse_integer(text, bits)
    if number is None:
        raise LoadError(thrown.NUMBER_FORMAT, f'For input string: "{text}"')
    return number
