"""Walk over the segments of a partition, batch by batch, with all that lies beside them.

Damage ends no walk: it goes on at the next whole batch. The rules for what a start cuts off are
those of Kafka's `LogLoader` and `LogSegment.recover`.
"""

import os
from collections.abc import Container, Mapping
from contextlib import ExitStack
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from kraftops.display.sizes import many
from kraftops.dump.check.batches import LogBatches
from kraftops.dump.check.epochs import EpochCheck
from kraftops.dump.check.findings import Findings, Loss, lost_text, offsets_text
from kraftops.dump.check.index_checks import (
    IndexCheck,
    IndexContext,
    OffsetIndexCheck,
    TimeIndexCheck,
)
from kraftops.dump.check.records import Reading, keys_rule_out_compaction, scan_of
from kraftops.dump.check.transactions import (
    Producers,
    TxnIndexCheck,
    snapshot_differences,
    snapshot_producers,
)
from kraftops.dump.sources.parts import size_of
from kraftops.engine.scan_contract import ABORT, NO_PRODUCER, Note, SeenBatch
from kraftops.findings.finding import Severity
from kraftops.log.batch import HEADER, HEADER_SIZE, LOG_OVERHEAD, SMALLEST_LENGTH
from kraftops.log.damage.salvage import Gap
from kraftops.log.files import FileKind
from kraftops.log.indexes import OffsetIndex
from kraftops.log.log_file import LogFile
from kraftops.log.producers import ProducerState
from kraftops.server.partition_files import SegmentFiles

_KNOWN_MAGICS = (0, 1, 2)  # `RecordBatch.MAGIC_VALUE_V0` to `MAGIC_VALUE_V2`
_MOST_GAPS = 3  # between segments: a lost one leaves one, compaction leaves many


class Recovery(NamedTuple):
    """What a start does to segments.

    *rebuilt* has the base offsets of the segments that a start reads and whose indexes it rebuilds.
    *is_known* is False for a copied partition: a start may, or not. *is_stopped* says that no
    server writes the log. From the positions *cuts* on, by the paths of logs, a start removes what
    is there. No reader gets what is before *log_start*.
    """

    rebuilt: Container[int] = ()
    is_known: bool = True
    is_stopped: bool = False
    cuts: Mapping[str, int] = MappingProxyType({})
    log_start: int = 0

    def removes(self, path: str, position: int) -> bool:
        """Tell whether a start removes the bytes of a log from a position on."""
        cut = self.cuts.get(path)
        return cut is not None and position >= cut


class LogSpan(NamedTuple):
    """The first offset of the whole batches in a log, and the one after the last."""

    first: int
    end: int


class Hole(NamedTuple):
    """Bytes of a log without a whole batch, from the offset *first* on.

    *last* is the last offset of the damaged batch, by its own header, or None. A torn one was not
    completely written.
    """

    path: str
    position: int
    size: int
    reason: str
    first: int
    last: int | None = None
    is_zeros: bool = False
    is_torn: bool = True


class OffsetGap(NamedTuple):
    """Offsets that no batch has, the last one included; *position* is after them.

    *is_between* says that a segment ends before them, and the next one begins after them.
    """

    path: str
    position: int
    first: int
    last: int
    is_between: bool


class Compaction(NamedTuple):
    """What is known of compaction, which leaves gaps in offsets.

    *is_done* says that the log is compacted, or that its topic is not; None is unknown. *is_ours*
    says that the cleaner of this broker may have done it: else a broker has copied the gaps.
    """

    is_done: bool | None
    is_ours: bool = True


class LogWalk:
    """Walk over a log: findings, and what is known of its offsets at its end."""

    def __init__(
        self, epochs: EpochCheck, recovery: Recovery, compaction: Compaction, reading: Reading
    ) -> None:
        """Begin before the first segment."""
        self._files, self._recovery = epochs.files, recovery
        self._least_lost = recovery.log_start
        """The first offset that can be lost: those before it are deleted, or in other segments."""
        self._epochs, self._findings = epochs, epochs.findings
        self.is_compacted = compaction.is_done is True
        self._compaction, self._reading = compaction, reading
        self._meter = reading.meter()
        self.producers = Producers()
        self.spans: dict[str, LogSpan] = {}
        """The offsets of the whole batches in each log, by its path, where a start cuts some."""
        self.ends: dict[str, int] = {}
        """The ends of the undamaged segments, exclusive, by the paths of their logs."""
        self.notes: dict[str, list[Note]] = {}
        """What is wrong with records of whole batches, by the paths of logs."""
        segments = self._files.segments
        self.next_offset = segments[0].base_offset if segments else 0
        self._hole: Hole | None = None
        self._gaps: list[OffsetGap] = []
        self.unexplained: list[OffsetGap] = []
        """Those that compaction may have left, or a loss."""
        self._snapshots = sorted(self._files.producer_snapshots.items(), reverse=True)

    @property
    def snapshots_after_end(self) -> list[tuple[int, str]]:
        """The producer snapshots at offsets after the end of the log.

        That of a segment with a wrong name has the same wrong name.
        """
        names = {segment.base_offset for segment in self._files.segments}
        return [
            (offset, path)
            for offset, path in self._snapshots
            if offset > self.next_offset and offset not in names
        ]

    def run(self) -> None:
        """Walk over all segments.

        Raises:
            SourceError: one cannot be read.
        """
        if self._files.segments:
            self._begin(self._files.segments[0].base_offset)
        for number, segment in enumerate(self._files.segments):
            following = self._files.segments[number + 1 :]
            self._enter(segment, following[0].base_offset if following else None)
            self._walk(segment, is_last=not following)
        self._pass_snapshots(self.next_offset)
        self._end()

    def _begin(self, base_offset: int) -> None:
        path = self._files.producer_snapshots.get(base_offset)
        if base_offset:
            self.producers.begin(base_offset, self._snapshot(path, None) if path else None)

    def _snapshot(self, path: str, findings: Findings | None) -> list[ProducerState] | None:
        return snapshot_producers(path, self._meter.budget, findings, opened=self._files.open)

    def _enter(self, segment: SegmentFiles, following: int | None) -> None:
        """Compare the end of the segment before with the beginning of this one.

        *following* is the base offset of the one after it.
        """
        if self._hole:
            self._close_hole(segment.base_offset)
        is_joined = self._files.is_joined
        if segment.base_offset > self.next_offset and not is_joined:
            self._gap(segment.log, 0, segment.base_offset, is_between=True)
        elif segment.base_offset < self.next_offset and not is_joined:
            reason = f"the segment before it goes on to offset {self.next_offset - 1}"
            self._findings.add("repeated-offsets", segment.log, reason)
            # A later end may be that of a batch whose base offset, which no checksum has, is wrong.
            if following is None or self.next_offset <= following:
                self._least_lost = max(self._least_lost, self.next_offset)
        self.next_offset = segment.base_offset

    def _walk(self, segment: SegmentFiles, *, is_last: bool) -> None:
        end, meter = 0, self._meter
        meter.restart()
        with ExitStack() as stack:
            log = stack.enter_context(self._files.open(segment.log))
            severity = self._index_severity(segment.base_offset)
            txns = self._txn_check(segment, severity)
            largest = -1
            checks = self._index_checks(segment, stack, severity, is_last=is_last)
            scan = stack.enter_context(scan_of(self._reading.request(segment.log)))
            batches = LogBatches(log, scan, meter)
            for part in batches:
                end = part.position + part.size
                if isinstance(part, Gap):
                    checks = []  # entries may lead into the damage
                    txns.stop()
                    self._damage(segment, log, part)
                    continue
                largest = max(largest, part.max_timestamp)
                self._batch(segment, part, txns)
                if self._recovery.cuts:
                    self._widen_span(segment.log, part)
                for check in checks:
                    check.batch(part)
            self.notes[segment.log] = batches.notes
            if end < log.size:
                self._zeros(segment, log, end)
            txns.end()
            if not (is_last and size_of(segment.log) > log.size):  # it grows: entries are newer
                for check in checks:
                    check.end()
                self._missing_indexes(segment, severity, has_time=largest >= 0)
            elif self._hole:
                self._hole = None  # the batch was being written
        if self._hole is None:
            self.ends[segment.log] = self.next_offset

    def _widen_span(self, path: str, batch: SeenBatch) -> None:
        first, end = self.spans.get(path, (batch.base_offset, 0))
        end = max(end, batch.last_offset + 1)
        self.spans[path] = LogSpan(min(first, batch.base_offset), end)

    def _index_severity(self, base_offset: int) -> Severity:
        return Severity.NOTE if base_offset in self._recovery.rebuilt else Severity.RISK

    def _index_checks(
        self, segment: SegmentFiles, stack: ExitStack, severity: Severity, *, is_last: bool
    ) -> list[IndexCheck]:
        may_be_open = is_last and not self._recovery.is_stopped
        context = IndexContext(may_be_open, severity)
        checks: list[IndexCheck] = []
        for kind, check in (
            (FileKind.INDEX, OffsetIndexCheck),
            (FileKind.TIME_INDEX, TimeIndexCheck),
        ):
            path = segment.indexes.get(kind)
            if path:
                file = stack.enter_context(self._files.open(path))
                checks.append(check(file, segment.base_offset, self._findings, context))
        return checks

    def _txn_check(self, segment: SegmentFiles, severity: Severity) -> TxnIndexCheck:
        path = segment.indexes.get(FileKind.TXN_INDEX)
        check = TxnIndexCheck(path, segment.base_offset, segment.log, self._findings, severity)
        if self._files.is_bare or (self._files.is_alone and path is None):
            check.stop()
        return check

    def _missing_indexes(
        self, segment: SegmentFiles, severity: Severity, *, has_time: bool
    ) -> None:
        if self._files.is_bare or self._files.is_tiered or self._files.is_alone:
            return
        if FileKind.INDEX not in segment.indexes:
            reason = "it has no .index; a start makes it from the log"
            self._findings.add("index-missing", segment.log, reason, Severity.NOTE)
        if FileKind.TIME_INDEX not in segment.indexes and has_time:
            reason = "it has no .timeindex; searches by time fail in it"
            self._findings.add("time-index-missing", segment.log, reason, severity)

    def _batch(self, segment: SegmentFiles, batch: SeenBatch, txns: TxnIndexCheck) -> None:
        path, position, first = segment.log, batch.position, batch.base_offset
        if self._hole:
            self._close_hole(first)
        if batch.magic not in _KNOWN_MAGICS:
            reason = f"a batch of magic {batch.magic}"
            self._findings.add("magic-unknown", path, reason, position=position)
        if first < self.next_offset:
            reason = f"offset {first}, where {self.next_offset} is the least that can follow"
            self._findings.add("repeated-offsets", path, reason, position=position)
            self._shorten_gap(first)
        elif first > self.next_offset:
            self._gap(path, position, first, is_between=False)
        if self._snapshots:
            self._pass_snapshots(first)
        self.is_compacted |= batch.is_thinned
        self.next_offset = batch.last_offset + 1
        self._epochs.batch(batch)
        if batch.producer_id != NO_PRODUCER:
            self._producer(batch, txns)

    def _producer(self, batch: SeenBatch, txns: TxnIndexCheck) -> None:
        aborted = self.producers.add(batch)
        if aborted:
            is_exact = self._is_exact and self.producers.is_complete
            txns.aborted(aborted, is_exact=is_exact)
        elif batch.marker == ABORT:
            txns.marker(batch.last_offset)

    @property
    def _is_exact(self) -> bool:
        """Whether each batch before this one is still as it was written."""
        return not (self.is_compacted or self._gaps or self._findings.losses)

    def _pass_snapshots(self, offset: int) -> None:
        """Compare the producer snapshots up to an offset with the log before it."""
        while self._snapshots and self._snapshots[-1][0] <= offset:
            end, path = self._snapshots.pop()
            states = self._snapshot(path, self._findings) or ()
            is_exact = self._is_exact
            for reason in snapshot_differences(states, end, self.producers, is_exact=is_exact):
                self._findings.add("producers-differ", path, reason)

    def _gap(self, path: str, position: int, following: int, *, is_between: bool) -> None:
        first = max(self.next_offset, self._least_lost)
        if first < following and not self._recovery.removes(path, position):
            self._gaps.append(
                OffsetGap(
                    path=path,
                    position=position,
                    first=first,
                    last=following - 1,
                    is_between=is_between,
                )
            )

    def _shorten_gap(self, first: int) -> None:
        """Take what comes after all out of the last gap.

        A base offset has no checksum (KIP-98's batch header), so that one flipped bit makes a gap,
        and a name of a segment that is too high makes another.
        """
        if self._gaps and self._gaps[-1].first <= first <= self._gaps[-1].last:
            gap = self._gaps.pop()
            if first > gap.first:
                self._gaps.append(gap._replace(last=first - 1))

    def _damage(self, segment: SegmentFiles, log: LogFile, gap: Gap) -> None:
        head = log.read_at(gap.position, HEADER_SIZE)
        ends_in_zeros = gap.position + gap.size < log.size
        is_torn = ends_in_zeros or not self._is_of_batch(head, log.size - gap.position)
        last = self._last_by_header(head)
        hole = Hole(
            path=segment.log,
            position=gap.position,
            size=gap.size,
            reason=gap.reason,
            first=self.next_offset,
            last=last,
            is_torn=is_torn,
        )
        self._add_hole(hole)

    def _is_of_batch(self, head: bytes, size_left: int) -> bool:
        """Tell whether bytes are the header of a batch that was written whole, and may follow."""
        if len(head) < LOG_OVERHEAD + SMALLEST_LENGTH:
            return False
        offset = int.from_bytes(head[:8], signed=True)
        length = int.from_bytes(head[8:LOG_OVERHEAD], signed=True)
        # A segment has less than 2^31 offsets (`LogSegment.canConvertToRelativeOffset`).
        is_next = 0 <= offset - self.next_offset < 1 << 31
        return is_next and SMALLEST_LENGTH <= length <= size_left - LOG_OVERHEAD

    def _zeros(self, segment: SegmentFiles, log: LogFile, start: int) -> None:
        size = log.size - start
        reason = f"{many(size, 'byte')} of zeros"
        self._add_hole(
            Hole(
                path=segment.log,
                position=start,
                size=size,
                reason=reason,
                first=self.next_offset,
                is_zeros=True,
            )
        )

    def _add_hole(self, hole: Hole) -> None:
        """Keep damage until it is known what follows; zeros after other damage add to it."""
        if self._hole is None:
            self._hole = hole
        else:
            self._hole = self._hole._replace(size=self._hole.size + hole.size)

    def _last_by_header(self, head: bytes) -> int | None:
        """Return the last offset of a damaged batch of magic 2, if its header fits the log."""
        if len(head) < HEADER_SIZE:
            return None
        base, delta = HEADER.unpack(head)[0], HEADER.unpack(head)[6]
        return base + delta if base == self.next_offset and 0 <= delta < 1 << 24 else None

    def _close_hole(self, following: int) -> None:
        """Report damage with the offset that follows it."""
        assert self._hole
        hole, self._hole = self._hole, None
        if self._recovery.removes(hole.path, hole.position):
            # The start itself is reported with what it removes.
            self._findings.add("bad-batch", hole.path, hole.reason, Severity.NOTE, hole.position)
        elif following > (first := max(hole.first, self._least_lost)):
            loss = Loss(first, following - 1, hole.size)
            reason = f"{hole.reason}; {lost_text(*loss.span)}"
            self._findings.lose("bad-batch", hole.path, reason, [loss], hole.position)
        else:
            is_read = following > self._least_lost
            severity = Severity.RISK if is_read else Severity.NOTE
            self._findings.add("bad-batch", hole.path, hole.reason, severity, hole.position)
        self.next_offset = max(self.next_offset, following)

    def _end(self) -> None:
        if self._hole:
            self._tail(self._hole)
        lost = dict.fromkeys(self._lost_gaps())  # in order, and each gap is looked up in them
        if not (self.is_compacted or self._compaction.is_done is False):
            self.unexplained = [gap for gap in self._gaps if gap not in lost]
        for gap in lost:
            reason = f"nothing has {offsets_text(gap.first, gap.last)}, before it"
            position = gap.position or None
            losses = [Loss(gap.first, gap.last)]
            self._findings.lose("missing-offsets", gap.path, reason, losses, position)

    def _lost_gaps(self) -> list[OffsetGap]:
        """Return the gaps that compaction has not left.

        A cleaner removes batches anywhere. A broker that copies a compacted log begins a segment
        with the offset after the one before, so that its gaps are within segments.
        """
        gaps = self._gaps
        if self.is_compacted or not gaps:
            return []
        logs = [segment.log for segment in self._files.segments]
        end, budget = gaps[-1].first, self._meter.budget
        if self._compaction.is_done is False or keys_rule_out_compaction(logs, end, budget):
            return gaps
        between = [gap for gap in gaps if gap.is_between]
        if not self._compaction.is_ours:
            return between
        if len(between) == len(gaps) <= _MOST_GAPS:
            return between
        return [gap for gap in gaps if self._is_edited(gap)]

    def _is_edited(self, gap: OffsetGap) -> bool:
        """Tell whether the offset index is of the log as it was before the gap.

        The cleaner writes an index for the segment that it makes (`Cleaner.cleanSegments`), and a
        follower one for the batches that it appends. An index with offsets that the segment cannot
        have is neither.
        """
        path = gap.path.removesuffix("log") + "index"
        if not self._findings.has("index-differs", path):
            return False
        base_offset = int(os.path.basename(gap.path).partition(".")[0])
        with self._files.open(path) as file:
            entries = [entry for entry in OffsetIndex(file, base_offset) if entry.position]
        offsets = [base_offset, *(entry.offset for entry in entries), self.next_offset]
        return all(offset < following for offset, following in pairwise(offsets))

    def _tail(self, hole: Hole) -> None:
        """Report damage at the end of the log."""
        if hole.is_torn:
            code = "zero-tail" if hole.is_zeros else "torn-tail"
            is_mended = self._recovery.removes(hole.path, hole.position)
            is_mended = is_mended or not self._recovery.is_known
            severity = Severity.NOTE if is_mended else Severity.RISK
            self._findings.add(code, hole.path, hole.reason, severity, hole.position)
            return
        last = hole.first if hole.last is None else hole.last
        losses = [Loss(hole.first, last, hole.size)]
        self._findings.lose("bad-batch", hole.path, hole.reason, losses, hole.position)
