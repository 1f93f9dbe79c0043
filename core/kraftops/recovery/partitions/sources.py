"""Log directories of brokers, and archives of them, with the copies of partitions in each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.archives import LogSource
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.recovery.partitions.disk import read_copies
from kraftops.server.log_directory import read_log_directory


@dataclass(frozen=True, slots=True)
class BrokerDisk:
    """A log directory of a node, or a copy of one; *name* is that of the command line.

    With *is_unpacked* the directory is a temporary one, made from an archive.
    """

    name: str
    directory: str
    node_id: int
    cluster_id: str | None
    copies: tuple[PartitionCopy, ...]
    is_unpacked: bool = False


def read_disks(sources: Iterable[LogSource]) -> list[BrokerDisk]:
    """Return the log directories among sources, each once; those without a node id are left out.

    Raises:
        RecoveryRefused: a file cannot be read.
    """
    disks: dict[str, BrokerDisk] = {}
    for name, place, is_unpacked in sources:
        directory = log_directory_of(place)
        real_path = os.path.realpath(directory)
        log_directory = read_log_directory(directory)
        meta = log_directory.meta
        if meta is None or meta.node_id is None or real_path in disks:
            continue
        shown = name if is_unpacked else None
        copies = tuple(read_copies(log_directory, meta.node_id, shown))
        disks[real_path] = BrokerDisk(
            name, directory, meta.node_id, meta.cluster_id, copies, is_unpacked
        )
    return list(disks.values())


def log_directory_of(place: str) -> str:
    """Return the log directory that a directory is, or that holds it as the metadata partition."""
    if os.path.basename(os.path.realpath(place)) == METADATA_PARTITION:
        return os.path.dirname(os.path.realpath(place))
    return place


def pack_command(name: str) -> str:
    """Return the command that packs what is read of a log directory, without records of topics."""
    return (
        f"(cd /var/lib/kafka && find . -type f \\( -path './{METADATA_PARTITION}/*' "
        "-o ! -name '*.log' ! -name '*index' \\)) "
        f"| tar -czf {name}.tar.gz -C /var/lib/kafka -T -"
    )


def copies_on(disks: Sequence[BrokerDisk]) -> list[PartitionCopy]:
    """Return all copies on some disks."""
    return [copy for disk in disks for copy in disk.copies]
