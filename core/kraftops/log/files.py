"""Names of log directories and of the files in them (Kafka's `LogFileUtils`, `Snapshots`)."""

import os.path
import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.fileio.mounts import exists
from kraftops.java.numbers import parse_integer
from kraftops.uris import is_remote


class FileKind(Enum):
    """Kind of a file, by its suffix."""

    LOG = ".log"
    CHECKPOINT = ".checkpoint"
    INDEX = ".index"
    TIME_INDEX = ".timeindex"
    TXN_INDEX = ".txnindex"
    PRODUCER_SNAPSHOT = ".snapshot"


_KINDS = {kind.value: kind for kind in FileKind}
RENAMED = {
    ".deleted": "waits for its deletion",
    ".swap": "was to replace a segment when the server stopped",
    ".cleaned": "is an unfinished result of compaction",
    ".part": "is an unfinished snapshot",
}
"""Meanings of second suffixes."""

ARCHIVES = (".gz", ".zst", ".xz")
"""Ends of the names of archived logs."""

_BUNDLES = (
    *(".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"),
    *(".tgz", ".tbz2", ".txz", ".tzst", ".zip"),
)

STANDARD_INPUT = "-"
"""Name of the log that is read from standard input."""

BOOTSTRAP_CHECKPOINT = "bootstrap.checkpoint"
METADATA_TOPIC = "__cluster_metadata"
METADATA_PARTITION = f"{METADATA_TOPIC}-0"
PARTITION_NAME = re.compile(r"(.+)-([0-9]{1,10})(\.[0-9a-f]{32}-(?:delete|future|stray))?")
"""Name of a partition's directory: topic, partition, and a suffix for its deletion or move."""
_INT64 = range(-(1 << 63), 1 << 63)
_INT32 = range(-(1 << 31), 1 << 31)
_ID = "[A-Za-z0-9_-]{22}"
_TIERED_NAME = re.compile(rf"([0-9]{{20}})-({_ID})(\.[a-z_.-]+)")
_TIERED_DIRECTORIES = (
    re.compile(rf"(?:.*/)?(?P<topic>[^/]+)-(?P<partition>[0-9]{{1,10}})-(?P<id>{_ID})"),
    re.compile(rf"(?:.*/)?(?P<topic>[^/]+)-(?P<id>{_ID})/(?P<partition>[0-9]{{1,10}})"),
)
"""Directories of tiered segments: of Kafka's `LocalTieredStorage`, of Aiven's plugin."""
TIERED_TOPIC = re.compile(rf".+-{_ID}")
"""Directory of a topic in Aiven's layout, with a directory for each partition."""


class TieredName(NamedTuple):
    """Name of a file of a tiered segment: its offset, its id, and the rest as its kind."""

    base_offset: int
    segment_id: str
    kind: str


class FileName(NamedTuple):
    """File of a known kind.

    *renamed* is its second suffix, *archive* the last suffix of an archived log, or both are empty.
    """

    path: str
    kind: FileKind
    renamed: str
    archive: str = ""

    @property
    def has_records(self) -> bool:
        """Whether it is a log or snapshot."""
        return self.kind in (FileKind.LOG, FileKind.CHECKPOINT)

    @property
    def proper_name(self) -> str:
        """The name without directory and second suffixes."""
        name = self.path.rpartition("/")[2]
        return name.removesuffix(self.archive).removesuffix(self.renamed)

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input, whose name says nothing."""
        return self.path == STANDARD_INPUT

    @property
    def base_offset(self) -> int:
        """The offset in the name, before its first dot or the id of a tiered segment.

        Raises:
            UsageError: there is none.
        """
        name = self.proper_name
        return offset_in(name[:20] if tiered_name(name) else name)

    @property
    def is_tiered(self) -> bool:
        """Whether it is a file of a tiered segment, which has an id in its name."""
        return bool(self.segment_id)

    @property
    def segment_id(self) -> str:
        """The id of a tiered segment in the name; empty for another file."""
        tiered = tiered_name(self.proper_name)
        return tiered.segment_id if tiered else ""

    @property
    def is_bootstrap(self) -> bool:
        """Whether it is the bootstrap checkpoint, which no offset names."""
        return self.proper_name == BOOTSTRAP_CHECKPOINT

    @property
    def snapshot_id(self) -> tuple[int, int]:
        """The end offset (exclusive) and epoch of a checkpoint.

        Raises:
            UsageError: the name is not of that form.
        """
        name = self.proper_name
        return _number(name[:20], _INT64), _number(name[21:31], _INT32)

    def sibling(self, kind: FileKind) -> str:
        """Return the path of another file of this segment, renamed likewise if that exists."""
        directory, name = os.path.split(self.path)
        path = os.path.join(directory, name.partition(".")[0] + kind.value)
        renamed = path + self.renamed
        return renamed if self.renamed and exists(renamed) else path


def has_bundle_name(path: str) -> bool:
    """Tell whether a name is that of an archive of directories, tar or zip."""
    return path.lower().endswith(_BUNDLES)


def file_name(path: str) -> FileName | None:
    """Return the parsed name of a file, or None if it is not of a known kind."""
    if path == STANDARD_INPUT:
        return FileName(path, FileKind.LOG, "")
    parts = _parts_of(path.rpartition("/")[2])
    return FileName(path, *parts) if parts else None


@lru_cache(1024)  # idle partitions have the same names
def _parts_of(name: str) -> tuple[FileKind, str, str] | None:
    """Return the kind of a file, its second suffix, and that of an archive."""
    stem, suffix = _split_suffix(name)
    archive = suffix if suffix in ARCHIVES else ""
    if archive:
        stem, suffix = _split_suffix(stem)
    renamed = suffix if suffix in RENAMED else ""
    if renamed:
        suffix = _split_suffix(stem)[1]
    kind = _KINDS.get(suffix)
    if kind is None:
        return None
    # Indexes are read at any position, archives only from one end to the other.
    if archive and kind not in (FileKind.LOG, FileKind.CHECKPOINT):
        return None
    return kind, renamed, archive


@lru_cache(1024)  # idle partitions have the same names
def offset_in(name: str) -> int:
    """Return the offset in the name of a file, before its first dot.

    Raises:
        UsageError: there is none.
    """
    return _number(name.partition(".")[0], _INT64)


def tiered_name(path: str) -> TieredName | None:
    """Return the parsed name of a file of a tiered segment; None for another file."""
    name = path.rpartition("/")[2]
    # The id comes after twenty digits and a hyphen: most names need no look at the rest.
    match = _TIERED_NAME.fullmatch(name) if name[20:21] == "-" else None
    return TieredName(int(match[1]), match[2], match[3]) if match else None


def tiered_topic_id(directory: str) -> str | None:
    """Return the id of the topic in the name of a tiered partition's directory; None without."""
    match = _tiered_directory(directory)
    return match["id"] if match else None


def partition_of(path: str) -> tuple[str, int] | None:
    """Return topic and partition of the log that a file belongs to; None if no directory says it.

    Tiered segments have an id in their name, and directories of their own form.
    """
    if path == STANDARD_INPUT:
        return None
    directory, _, name = path.rpartition("/")
    if _TIERED_NAME.match(name):
        match = _tiered_directory(directory)
        topic, partition = match.group("topic", "partition") if match else ("", "-1")
    else:
        folder = directory.rpartition("/")[2]
        if folder in ("", os.curdir, os.pardir):  # only then its name is not in the path
            folder = absolute_path(directory).rpartition("/")[2]
        match = PARTITION_NAME.fullmatch(folder)
        topic, partition = match.group(1, 2) if match else ("", "-1")
    if match is None or int(partition) not in _INT32:
        return None
    return topic, int(partition)


def _tiered_directory(path: str) -> re.Match[str] | None:
    absolute = absolute_path(path)
    matches = (pattern.fullmatch(absolute) for pattern in _TIERED_DIRECTORIES)
    return next(filter(None, matches), None)


def absolute_path(directory: str) -> str:
    return directory if is_remote(directory) else os.path.abspath(directory)


def _split_suffix(name: str) -> tuple[str, str]:
    dot = name.rfind(".")
    return (name, "") if dot < 0 else (name[:dot], name[dot:])


def _number(text: str, allowed: range) -> int:
    """Return the number that `Long.parseLong` reads in a name."""
    number = parse_integer(text, 64)
    if number is None or number not in allowed:
        raise UsageError(f"{text!r} in the name is not an offset")
    return number
