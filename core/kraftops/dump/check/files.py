"""Checks of files that are named alone: a segment with its indexes, a snapshot."""

from collections.abc import Iterable
from contextlib import suppress

from kraftops.dump.check.batches import LogBatches
from kraftops.dump.check.epochs import EpochCheck
from kraftops.dump.check.findings import Findings, PartitionCheck
from kraftops.dump.check.log_walk import Compaction, LogWalk, Recovery
from kraftops.dump.check.records import Reading, note_records, scan_of
from kraftops.dump.check.transactions import snapshot_producers
from kraftops.dump.sources.partition_directory import is_whole
from kraftops.dump.sources.parts import size_of
from kraftops.errors import SourceError, UsageError
from kraftops.findings.finding import Severity
from kraftops.log.files import FileKind, FileName, file_name, partition_of
from kraftops.log.log_file import LogFile
from kraftops.memory import ALONE, Budget, Turn
from kraftops.records.internal_topics import METADATA, decoder_for_topic
from kraftops.server.partition_files import PartitionFiles, SegmentFiles

_OF_SEGMENTS = (FileKind.LOG, FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX)


def can_be_checked(path: str) -> bool:
    """Tell whether a file can be checked alone: a part of a segment, or a snapshot; no archive."""
    file = file_name(path)
    return file is not None and not (file.archive or file.is_stdin)


def grouped(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the files that are checked together: those of a segment, or a file alone."""
    groups: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        file = file_name(path)
        assert file
        key = file.sibling(FileKind.LOG) if file.kind in _OF_SEGMENTS else path
        groups.setdefault(key, []).append(path)
    return [tuple(group) for group in groups.values()]


def check_files(
    paths: tuple[str, ...], decoder: str | None, budget: Budget, turn: Turn = ALONE
) -> PartitionCheck:
    """Check files of `grouped`: what they say themselves, and about each other.

    Of an index the log is read too. Whether offsets are missing is unknown.

    Args:
        paths: the files.
        decoder: of the records; None is that of the topic that the directory names.
        budget: what each file may cost.
        turn: that of this process.
    """
    files = [file for path in paths if (file := file_name(path))]
    first = files[0]
    topic, partition = partition_of(first.path) or (None, None)
    if decoder is None and topic is not None:
        decoder = decoder_for_topic(topic)
    findings = Findings()
    try:
        if first.kind in _OF_SEGMENTS:
            check = _segment(files, Reading(decoder, budget, turn), findings)
        else:
            if first.kind is FileKind.PRODUCER_SNAPSHOT:
                snapshot_producers(first.path, budget, findings, Severity.RISK)
            else:
                _snapshot(first, Reading(decoder or METADATA, budget, turn), findings)
            size = size_of(first.path)
            check = PartitionCheck(first.path, None, None, bytes=size, findings=findings.all())
    except SourceError as error:
        check = PartitionCheck(first.path, topic, partition, unreadable=error.message)
    return check.of_file(topic, partition)


def _snapshot(file: FileName, reading: Reading, findings: Findings) -> None:
    if not is_whole(file):
        findings.add("bad-snapshot", file.path, "it is damaged, or its end is missing")
    with LogFile(file.path) as log, scan_of(reading.request(file.path)) as scan:
        batches = LogBatches(log, scan, reading.meter())
        for _ in batches:
            pass
    note_records({file.path: batches.notes}, findings)


def _segment(files: list[FileName], reading: Reading, findings: Findings) -> PartitionCheck:
    log = files[0].sibling(FileKind.LOG)
    by_kind = {file.kind: file.path for file in files}
    log = by_kind.pop(FileKind.LOG, log)
    segment = SegmentFiles(_base_offset(files[0], log), log, by_kind)
    partition = PartitionFiles.of_segment(segment)
    epochs = EpochCheck(partition, findings, log_start=None)
    epochs.ignore()
    compaction = Compaction(is_done=True)  # perhaps
    walk = LogWalk(epochs, Recovery(is_known=False), compaction, reading)
    walk.run()
    note_records(walk.notes, findings)
    return PartitionCheck(
        path=log,
        topic=None,
        partition=None,
        segments=1,
        bytes=size_of(log),
        start=segment.base_offset,
        end=walk.next_offset,
        losses=tuple(findings.losses),
        findings=findings.all(),
    )


def _base_offset(file: FileName, log: str) -> int:
    with suppress(UsageError):
        return file.base_offset
    with LogFile(log) as opened:
        return int.from_bytes(opened.read_at(0, 8), signed=True)
