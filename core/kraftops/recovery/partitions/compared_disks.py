"""The disks of several brokers, compared by the newest metadata log that they have."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.image.load.loading import load
from kraftops.recovery.archives import LogSource
from kraftops.recovery.log_copy import partition_folder, read_log
from kraftops.recovery.partitions.answer import DiskComparison
from kraftops.recovery.partitions.comparison import compare
from kraftops.recovery.partitions.disk import read_disks
from kraftops.recovery.partitions.losses import assignments, losses
from kraftops.recovery.refusal import RecoveryRefused


def compare_disks(sources: Sequence[LogSource]) -> DiskComparison:
    """Compare the copies of partitions on disks.

    Raises:
        NotFound: a directory does not exist.
        RecoveryRefused: one is of another cluster, or none has a copy of a partition.
        KraftopsError: a metadata log cannot be read.
    """
    logs = [
        read_log(name, partition_folder(folder, is_unpacked=is_unpacked))
        for name, folder, is_unpacked, _ in sources
    ]
    disks = read_disks(sources)
    clusters = {disk.cluster_id: disk.name for disk in disks if disk.cluster_id}
    if len(clusters) > 1:
        shown = ", ".join(f"{name} of {cluster}" for cluster, name in sorted(clusters.items()))
        raise RecoveryRefused("other-cluster", f"the disks are of several clusters: {shown}")
    copies = [copy for disk in disks for copy in disk.copies]
    if not copies:
        hint = "name log directories of brokers, with their meta.properties"
        raise RecoveryRefused("no-partitions", "none of the disks has a copy of a partition", hint)
    sound = [log for log in logs if not log.is_empty and not log.damage]
    newest = max(sound, key=lambda log: log.rank, default=None)
    table = losses(assignments(load([newest.folder])), copies) if newest else []
    return DiskComparison(compare(copies), newest.name if newest else None, table)
