"""What `kafka-storage info` answers: the log directories of a node, each with all that is known."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from kraftops.answers.fields import Answer, boolean, levels, number, part, parts, size, text, texts
from kraftops.display import columns
from kraftops.display.sizes import many
from kraftops.findings.answer import FINDINGS
from kraftops.findings.finding import Finding
from kraftops.server.log_directory import LogDirectory
from kraftops.server.metadata_log.log import MetadataLog
from kraftops.storage.config.server_config import ServerConfig
from kraftops.uuids import to_text


@dataclass(frozen=True, slots=True)
class NodeState:
    """The log directories of a node; *problems* are those of Kafka's tool, *findings* are ours."""

    config: ServerConfig
    directories: Sequence[LogDirectory]
    problems: Sequence[str]
    findings: Sequence[Finding]


_SNAPSHOT = (
    number("endOffset", "offset after its last record"),
    number("epoch", "epoch of that record"),
    size("bytes", "size of the file", get="size"),
)
_SEGMENT = (
    number("baseOffset", "first offset of the segment"),
    size("bytes", "size of the file", get="size"),
)
_METADATA_LOG = (
    number("endOffset?", "offset after its last record"),
    parts("snapshots", "files of snapshots", _SNAPSHOT),
    parts("segments", "files of segments", _SEGMENT),
    number("kraftVersion?", "level of kraft.version", get="quorum.kraft_version"),
    texts(
        "voters?",
        "voters as the log has them, ID@HOST:PORT:DIRECTORY_ID",
        get=lambda log: (
            None if log.quorum.voters is None else [str(voter) for voter in log.quorum.voters]
        ),
    ),
    texts("damage", "places that cannot be read", get=lambda log: [*map(str, log.damage)]),
)
_BOOTSTRAP = (
    levels("features", "levels of features"),
    texts("scramUsers", "users with SCRAM records", get=lambda file: [*file.scram_users]),
    text("damage?", "what cannot be read"),
    boolean("isUsable", "whether a server takes the file"),
)
_HOLDER = (
    number("pid", "0 for a process outside of this container"),
    text("command?", "command line"),
    text("text", "both for people", get=str),
)
DIRECTORY = (
    text(
        "path",
        "log directory, as it is configured",
        column=columns.folded("DIRECTORY", style="name"),
    ),
    boolean(
        "isMetadata",
        "whether the metadata log belongs in it",
        column="ROLE",
        cell=lambda directory: "metadata" if directory.is_metadata else "data",
    ),
    boolean("exists", "whether there is a directory"),
    boolean(
        "isFormatted",
        "whether meta.properties can be read",
        get=lambda directory: bool(directory.meta),
    ),
    text(
        "clusterId?",
        "cluster id in meta.properties",
        column=("CLUSTER ID", 3),
        get="meta.cluster_id",
    ),
    number("nodeId?", "node id in meta.properties", column=("NODE", 2), get="meta.node_id"),
    text(
        "directoryId?",
        "directory id in meta.properties",
        column=("DIRECTORY ID", 5),
        get=lambda directory: (
            directory.meta and directory.meta.directory_id and to_text(directory.meta.directory_id)
        ),
    ),
    number("version?", "version of meta.properties", column=("VERSION", 9), get="meta.version"),
    text(
        "problem?",
        "why the directory cannot be used or read",
        get=lambda directory: directory.problem or directory.read_problem,
    ),
    number(
        "partitions",
        "directories of partitions in it",
        column=("PARTITIONS", 4),
        get="partition_count",
    ),
    part(
        "metadataLog?",
        "log of __cluster_metadata-0, if it is there",
        _METADATA_LOG,
        column=columns.folded("METADATA LOG", 6),
        get="log",
        cell=lambda directory: directory.log and _log_text(directory.log),
    ),
    part("bootstrap?", "content of bootstrap.checkpoint, if it is there", _BOOTSTRAP),
    size("freeBytes?", "free space of the file system", column=("FREE", 1), get="status.free"),
    size("sizeBytes?", "size of the file system", get="status.size"),
    text(
        "user?",
        "owner of the directory",
        column=("OWNER", 8),
        get=lambda directory: directory.status and _user_name(directory.status.user),
        cell=lambda directory: (
            directory.status
            and f"{_user_name(directory.status.user)}:{_group_name(directory.status.group)}"
        ),
    ),
    text(
        "group?",
        "group of the directory",
        get=lambda directory: directory.status and _group_name(directory.status.group),
    ),
    text(
        "mode?",
        "permissions, octal as 0755",
        column=("MODE", 10),
        get=lambda directory: directory.status and f"{directory.status.mode:04o}",
    ),
    part(
        "lockHolder?",
        "process that holds the lock, if there is one",
        _HOLDER,
        column=columns.folded("IN USE BY", 7),
        get="holder",
        cell=lambda directory: directory.holder and str(directory.holder),
    ),
)
"""The fields of a log directory."""

INFO = Answer(
    (
        number("nodeId?", "node id", get="config.node_id"),
        texts("roles", "process.roles", get=lambda node: sorted(node.config.roles)),
        parts("directories", "log directories, in the order of the configuration", DIRECTORY),
        texts("problems", "problems as Kafka's tool has them", get=lambda node: [*node.problems]),
        FINDINGS,
    )
)


def _log_text(log: MetadataLog) -> str:
    count = f"{many(len(log.snapshots), 'snapshot')}, {many(len(log.segments), 'segment')}"
    return f"{count}, to offset {log.end_offset}"


def _user_name(number: int) -> str:
    import pwd

    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return str(number)


def _group_name(number: int) -> str:
    import grp

    with suppress(KeyError):
        return grp.getgrgid(number).gr_name
    return str(number)
