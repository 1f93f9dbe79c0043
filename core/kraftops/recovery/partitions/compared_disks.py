"""The disks of several brokers, compared by the newest metadata log that they have."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.image.load.loading import load
from kraftops.recovery.archives import LogSource
from kraftops.recovery.log_copy import partition_folder, read_log
from kraftops.recovery.partitions.answer import DiskComparison
from kraftops.recovery.partitions.comparison import compare
from kraftops.recovery.partitions.losses import assignments, losses
from kraftops.recovery.partitions.sources import copies_on, read_disks
from kraftops.recovery.refusal import RecoveryRefused


def compare_disks(sources: Sequence[LogSource]) -> DiskComparison:
    """Compare the copies of partitions on disks.

    Raises:
        NotFound: a directory does not exist.
        RecoveryRefused: one is of another cluster, or none has a copy of a partition.
        KraftopsError: a metadata log cannot be read.
    """
    logs = [read_log(source.name, partition_folder(source.folder)) for source in sources]
    disks = read_disks(sources)
    clusters = {disk.cluster_id: disk.name for disk in disks if disk.cluster_id}
    if len(clusters) > 1:
        shown = ", ".join(f"{name} of {cluster}" for cluster, name in sorted(clusters.items()))
        raise RecoveryRefused("other-cluster", f"the disks are of several clusters: {shown}")
    copies = copies_on(disks)
    if not copies:
        hint = "name log directories of brokers, with their meta.properties"
        raise RecoveryRefused("no-partitions", "none of the disks has a copy of a partition", hint)
    sound = [log for log in logs if not log.is_empty and not log.damage]
    newest = max(sound, key=lambda log: log.rank, default=None)
    table = losses(assignments(load([newest.folder])), copies) if newest else []
    return DiskComparison(compare(copies), newest.name if newest else None, table)
