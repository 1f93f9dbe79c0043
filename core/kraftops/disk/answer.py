"""What `kraftops disk` answers: bytes by topic, partition, directory and broker."""

from kraftops.answers.fields import Answer, Field, boolean, number, parts, size, text
from kraftops.disk.why import REPLICA
from kraftops.display.columns import folded
from kraftops.server.loader.load_plan import FolderKind

STATES = {
    FolderKind.CURRENT: "current",
    FolderKind.DELETED: "deleted",
    FolderKind.FUTURE: "future",
    FolderKind.STRAY: "stray",
}
"""What a partition's directory is; `future` is a copy that moves here from another directory."""


def _bytes(name: str, get: str, help_text: str, title: str, priority: int = 0) -> Field:
    return size(name, help_text, column=(title, priority), get=get)


_SPACE = (
    _bytes("bytes", "space.total", "all of the following sizes that are known", "BYTES"),
    _bytes("logBytes", "space.log", "segments in use, and snapshots of metadata", "LOG", 4),
    _bytes("indexBytes?", "space.index", "their indexes", "INDEXES", 5),
    _bytes("pendingDeletionBytes?", "space.pending_deletion",
           "what was renamed, and is deleted soon", "DELETED", 2),
    _bytes("strayBytes?", "space.stray",
           "partitions that the cluster does not know, or not here", "STRAY", 6),
    _bytes("tierCacheBytes?", "space.tier_cache",
           "indexes of tiered segments, fetched by readers", "TIER CACHE", 8),
    _bytes("otherBytes?", "space.other", "all other files", "OTHER", 9),
    _bytes("allocatedBytes?", "space.allocated",
           "what the file system gave: less where files are sparse", "ON DISK"),
    number("segments?", "segments in use", numeral="amount",
           column=("SEGMENTS", 7), get="space.segments"),
    _bytes("writtenBytesPerDay?", "growth.written",
           "what was written on the last day, by the times of segments", "WRITTEN/DAY", 3),
    _bytes("growthBytesPerDay?", "growth.net",
           "what remains of that after retention", "GROWTH/DAY", 1),
)  # fmt: skip
_NAME = text("topic", "the topic", column=folded("TOPIC", style="name"), get="first.topic")
TOPIC = (
    _NAME,
    number("replicas", "directories of its partitions", numeral="amount",
           column=("REPLICAS", 3), get=lambda total: len(total.replicas)),
    boolean("isTiered?", "whether segments go to a tier; null if that is not known",
            column=("TIERED", 9), get="first.is_tiered"),
    *_SPACE,
)  # fmt: skip
PARTITION = (
    _NAME,
    number("partition", "the partition", column="PARTITION", get="first.partition"),
    number("broker?", "broker that has it", column=("BROKER", 3), get="first.broker"),
    text("directory", "log directory that it is in", column=folded("DIRECTORY", 4),
         get="first.directory"),
    text("state", "what the directory is; future: a copy that moves here", values=STATES.values(),
         column=("STATE", 2), get=lambda total: STATES[total.first.kind]),
    *_SPACE,
)  # fmt: skip
_BROKER = number("broker?", "the broker; null without meta.properties",
                 column="BROKER", get="directory.broker")  # fmt: skip
BROKER = (
    _BROKER,
    number("directories", "log directories", numeral="amount",
           column=("DIRECTORIES", 3), get=lambda total: len(total.directories)),
    *_SPACE,
)  # fmt: skip
DIRECTORY = (
    text("directory", "path of the log directory", column=folded("DIRECTORY", style="name"),
         get="directory.path"),
    _BROKER,
    _bytes("freeBytes?", "directory.volume.free", "free space of its file system", "FREE"),
    _bytes("sizeBytes?", "directory.volume.size", "size of its file system", "SIZE", 2),
    _bytes("elsewhereBytes?", "directory.elsewhere",
           "what takes up space there outside of these log directories", "ELSEWHERE", 3),
    text("volumeUnknown?", "why nothing is known of its file system; null if something is",
         get="directory.volume_unknown"),
    number("daysLeft?", "days until it is full at the present rate; null if it does not grow",
           numeral="decimal", column="DAYS LEFT",
           get="directory.days_left", cell=lambda total: None
           if total.directory.days_left is None else f"{total.directory.days_left:.1f}"),
    *_SPACE,
)  # fmt: skip
DISK = Answer(
    (
        parts("directories", "the log directories", DIRECTORY, may_be_missing=True),
        parts("brokers", "the brokers", BROKER, may_be_missing=True),
        parts("topics", "the topics; first what takes most of the disk", TOPIC,
              may_be_missing=True),
        parts("partitions", "their replicas, in the same order", PARTITION, may_be_missing=True),
        parts("replicas", "with --why, instead of all others", REPLICA,
              get=lambda whys: whys, may_be_missing=True),
    ),
    "Sizes are bytes by the names of files; with --bootstrap-server, only those of logs are known.",
)  # fmt: skip
"""The first four are of a `DiskUsage`, their rows are `Total`s."""
DIRECTORIES, BROKERS, TOPICS, PARTITIONS, WHY = DISK.fields
GROUPS = {"topic": TOPICS, "partition": PARTITIONS, "broker": BROKERS}
"""The tables that `--group-by` chooses from."""
