"""What a start of a broker makes of its partitions: Kafka's loader, asked for each of them.

It reads what Kafka reads. After an unclean stop that is whole segments; a check of all partitions
says more, and takes longer.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kraftops.display import quoting
from kraftops.display.sizes import many, size_text
from kraftops.dump.check.partition import check_partition
from kraftops.dump.check.start import (
    DirectoryLoads,
    Start,
    damaged_checkpoint,
    expected_start,
    foretold,
    placed,
    server_findings,
)
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.check.topics import UNKNOWN_TOPICS, Topics, TopicSettings
from kraftops.dump.sources.parts import size_of
from kraftops.engine.metadata_state import TOPIC_RESOURCE
from kraftops.errors import SourceError
from kraftops.fileio.mounts import exists
from kraftops.fileio.reading import is_forbidden, lost_target
from kraftops.findings.catalogue import for_only_replica
from kraftops.findings.finding import Finding, Place, Severity, stop_finding, unless_forbidden
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.directories import (
    NO_TOPIC_ID,
    OTHER_DIRECTORY,
    DirectoryOwner,
    is_misnamed,
    misplacement,
)
from kraftops.log.files import FileKind
from kraftops.server.loader.load_plan import (
    LOG_START,
    RECOVERY_POINT,
    FolderKind,
    PartitionLoad,
)
from kraftops.server.loader.segment import MOST_BYTES
from kraftops.server.log_directory import Duplicate, LogDirectory, duplicates
from kraftops.server.partition_data import is_cut_short
from kraftops.server.partition_files import PartitionFiles, partition_files
from kraftops.storage.logdirs.node import Node

_RECOVERED_BYTES = 512 << 20
"""Bytes of unflushed segments that are read for a node: a second or two of work. Kafka itself reads
all of them, which takes minutes on a broker with thousands of partitions."""
NOT_FORETOLD = "not-foretold"

_INDEX_INTERVAL = 4096
"""`log.index.interval.bytes`: a segment that is not larger has no entry, and is read at once."""


@dataclass(slots=True)
class Allowance:
    """The bytes of unflushed segments that may still be read."""

    bytes: int


def with_only_replicas(
    findings: Iterable[Finding], image: MetadataImage | None
) -> Iterator[Finding]:
    """Yield findings; of partitions with one replica without the advice to fetch it again."""
    for finding in findings:
        topic, number = finding.place.topic, finding.place.partition
        state = None
        if image and number is not None and (topic_id := image.topic_ids.get(topic or "")):
            state = image.partition(topic_id, number)
        yield for_only_replica(finding) if state and state.has_one_replica else finding


def loading_findings(
    node: Node,
    image: MetadataImage | None,
    release: str,
    allowance: Allowance | None = None,
    *,
    is_whole: bool = True,
) -> Iterator[Finding]:
    """Yield what keeps a broker, or one of its log directories, from loading its partitions.

    Args:
        node: a broker.
        image: the metadata; None if there is none that is whole.
        release: of Kafka, whose loader is asked.
        allowance: of bytes of unflushed segments to read; what is read of it is taken off.
        is_whole: whether partitions have all their segments, and not the last alone, or none.

    Raises:
        KraftopsError: a file, or a source of the image, can no longer be read.
    """
    allowance = allowance or Allowance(_RECOVERED_BYTES)
    findings = _loading_findings(node, image, release, allowance, is_whole=is_whole)
    return with_only_replicas(findings, image)


def _loading_findings(
    node: Node, image: MetadataImage | None, release: str, allowance: Allowance, *, is_whole: bool
) -> Iterator[Finding]:
    skipped = list[int]()
    surroundings = Surroundings((), node.budget)
    surroundings.topics = _topics(image)
    directories: list[DirectoryLoads] = []
    for directory in node.data_directories:
        for checkpoint in directory.plan.damaged:
            yield damaged_checkpoint(checkpoint, directory.java_path)
        loads: list[PartitionLoad] = []
        # What checkpoints know of such a name is of the other partition.
        misnamed = {
            os.path.basename(partition.path)
            for partition in directory.partitions()
            if image and is_misnamed(image, partition.topic, partition.topic_id)
        }
        for name, (topic, number, kind) in directory.plan.folders.items():
            path = os.path.join(directory.path, name)
            settings = surroundings.topics.settings(
                topic, is_tiered=directory.is_topic_tiered(topic)
            )
            try:
                files = _readable_files(path)
                if not (is_whole or files.segments):
                    continue
                size = _bytes_to_read(files, directory)
                if 2 * size > allowance.bytes:  # a check of what is damaged reads it once more
                    skipped.append(size)
                    continue
                allowance.bytes -= size
                start = foretold(files, directory, settings, release)
            except SourceError as error:
                yield from _unreadable(error, path, directory)
                continue
            for refusal in start.refusals():
                yield placed(refusal, path, topic, number, directory)
            has_start = is_whole and settings.is_tiered is False
            # A start deletes it with all that it has (`LogManager.addLogToBeDeleted`).
            is_kept = kind is not FolderKind.DELETED and name not in misnamed
            is_lacking = is_whole and _lacks_records(files, settings)
            is_hiding = has_start and _hides_start(start, directory)
            is_losing = (
                is_lacking or is_hiding or _loses(start, files, directory, has_start=has_start)
            )
            total = sum(files.size_of(segment.log) for segment in files.segments)
            # A check reads all of it for producer ids.
            is_forgetting = directory.plan.was_clean and not files.producer_snapshots
            is_forgetting = is_whole and is_forgetting and 0 < total <= allowance.bytes
            if is_kept and (is_losing or is_forgetting):
                allowance.bytes -= total if is_forgetting else size
                check = check_partition(path, directory, surroundings)
                losses = [
                    finding
                    for finding in check.findings
                    if (finding.severity is Severity.LOSS or _is_told(finding))
                    and finding.code != NO_TOPIC_ID  # the assignments tell that one
                    and (is_whole or finding.code != "missing-start")
                ]
                # What other files prove says more than where the start cuts.
                yield from sorted(losses, key=lambda finding: finding.code == "start-cuts-log")
            loads += [PartitionLoad.of(name, outcome) for outcome in start.outcomes[:1]]
        directories.append(DirectoryLoads(directory, loads))
    owner = DirectoryOwner(node.config.node_id, None)
    twice = (
        _assigned_first(duplicate, node, image)
        for duplicate in duplicates(node.data_directories)
        # A broker renames a stray before it looks for others of its name (`LogManager.loadLog`).
        if image is None or misplacement(image, owner, duplicate.partition) is None
    )
    yield from server_findings(directories, twice, is_whole_server=True)
    if skipped:
        yield Finding(
            NOT_FORETOLD,
            Severity.NOTE,
            f"a start reads {size_text(sum(skipped))} of {many(len(skipped), 'partition')} that are"
            " unflushed or without an index, which are not read here",
            Place(node=node.config.node_id, file=node.config.path),
            "check the log directories to be sure",
            tuple(
                f"kafka-dump-log --check {quoting.quote_path(directory.java_path)}"
                for directory in node.data_directories
            ),
        )


def _assigned_first(duplicate: Duplicate, node: Node, image: MetadataImage | None) -> Duplicate:
    """Order a partition that is there twice: the one where the metadata has it comes first."""
    path = os.path.dirname(duplicate.first.path)
    directory = {candidate.path: candidate for candidate in node.data_directories}[path]
    directory_id = directory.meta.directory_id if directory.meta else None
    owner = DirectoryOwner(node.config.node_id, directory_id)
    misplaced = image and misplacement(image, owner, duplicate.first)
    if misplaced and misplaced.code == OTHER_DIRECTORY:
        return Duplicate(directory, duplicate.first, duplicate.partition)
    return duplicate


def _readable_files(path: str) -> PartitionFiles:
    """Return the files of a partition.

    Raises:
        SourceError: one of them cannot be read; a server opens all of them.
    """
    files = partition_files(path)
    assert files.folder
    for name in {*files.names} - files.folder.files.keys() - files.folder.directories:
        if target := lost_target(file := os.path.join(path, name)):
            reason = f"it is a symbolic link to {target}, where nothing is"
            raise SourceError(reason, code="not-found", path=file)
    for name in files.names:
        if is_forbidden(file := os.path.join(path, name)):
            raise SourceError.of(file, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    return files


def _unreadable(error: SourceError, path: str, directory: LogDirectory) -> Iterator[Finding]:
    """Yield a finding if a partition cannot be read, unless a server has deleted it."""
    if exists(path):
        name = directory.plan.folders[os.path.basename(path)]
        file = str(error.known.get("path", path))
        place = Place(directory.node_id, directory.path, name.topic, name.partition, file)
        finding = stop_finding("unreadable", error.message, place)
        if target := lost_target(file):
            cure = "mount the disk of the file, or put it back"
            finding = replace(finding, cure=cure)
            # The loader makes a new segment through the link (4.3.1), as on an empty mount point.
            if file.endswith(".log") and os.path.isdir(os.path.dirname(target)):
                text = f"{error.message}: a start makes an empty one there"
                finding = replace(finding, severity=Severity.LOSS, text=text)
        yield unless_forbidden(finding, file)


def _bytes_to_read(files: PartitionFiles, directory: LogDirectory) -> int:
    """Return the bytes of the segments that a start reads: unflushed ones after an unclean stop."""
    if (
        directory.plan.was_clean
    ):  # from the last entry of the index on (`LogSegment.readNextOffset`)
        sizes = [
            files.size_of(segment.log)
            for segment in files.segments[-1:]
            if not files.size_of(segment.indexes.get(FileKind.INDEX, ""))
        ]
        return sum(size for size in sizes if size > _INDEX_INTERVAL)
    point = directory.offset(RECOVERY_POINT, files.topic, files.partition) or 0
    bases = [segment.base_offset for segment in files.segments]
    first = max((base for base in bases if base <= point), default=0)
    sizes = [size_of(segment.log) for segment in files.segments]
    if max(sizes, default=0) > MOST_BYTES:
        return 0  # it is refused before any is read
    return sum(size for size, base in zip(sizes, bases, strict=True) if base >= first)


def _topics(image: MetadataImage | None) -> Topics:
    if image is None:
        return UNKNOWN_TOPICS
    configs = {
        name: {key: str(image.read(address)[1].get("value")) for key, address in settings.items()}
        for (resource_type, name), settings in image.configs.items()
        if resource_type == TOPIC_RESOURCE
    }
    return Topics(is_known=True, configs=configs, defaults={}, ids={}, names=image.topic_ids)


def _lacks_records(files: PartitionFiles, settings: TopicSettings) -> bool:
    """Tell whether a segment before the last lacks its end; a cleaner may leave nothing of one."""
    is_compacted = "compact" in (settings.cleanup_policy or "")
    return not is_compacted and any(is_cut_short(files, segment) for segment in files.segments[:-1])


def _is_told(finding: Finding) -> bool:
    return finding.code in ("checkpoint-differs", "no-producers") and finding.is_severe


def _hides_start(start: Start, directory: LogDirectory) -> bool:
    """Tell whether a checkpoint hides records that were not deleted: an epoch begins before it.

    Retention and DeleteRecords cut the epochs with the log (`maybeIncrementLogStartOffset`).
    """
    outcome = start.outcome
    if outcome is None or not (outcome.segments and outcome.epochs_read):
        return False
    name = directory.plan.folders[os.path.basename(start.path)]
    log_start = directory.offset(LOG_START, name.topic, name.partition) or 0
    first_epoch = min(entry.start_offset for entry in outcome.epochs_read)
    return max(first_epoch, outcome.segments[0]) < log_start <= (outcome.end_offset or 0)


def _loses(
    start: Start, files: PartitionFiles, directory: LogDirectory, *, has_start: bool
) -> bool:
    """Tell whether a start finds fewer records than other files know of.

    With *has_start* those from the start on that other files tell should be there.
    """
    outcome = start.outcome
    if outcome is None or outcome.end_offset is None or directory.holder:
        return False
    name = directory.plan.folders[os.path.basename(start.path)]
    first_epoch = min((entry.start_offset for entry in outcome.epochs_read or ()), default=None)
    expected = expected_start(directory, name.topic, name.partition, first_epoch)
    lacks_start = has_start and expected and expected[0] < (outcome.local_start_offset or 0)
    is_short = outcome.end_offset < directory.noted_end(files)
    # A check tells a torn end from whole batches that are cut with it.
    return bool(lacks_start or is_short or outcome.deleted_segments or outcome.cuts)
