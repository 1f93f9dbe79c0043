"""Replay of a metadata log into an image, batch by batch (Kafka's `MetadataBatchLoader`).

Most of any log are partitions, their changes and no-ops. The loop looks at those without decoding
them (`kraftops.image.frames`); all others are decoded and go by `kraftops.image.rules`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

from kraftops.errors import DecodeError
from kraftops.image import frames
from kraftops.image import partition as partitions
from kraftops.image.dialects import RecordReader
from kraftops.image.findings import Finding, Kind
from kraftops.image.image import MetadataImage, Provenance
from kraftops.image.recordtypes import (
    ABORT_TRANSACTION,
    BEGIN_TRANSACTION,
    PARTITION_CHANGE,
    TRANSACTION_MARKERS,
)
from kraftops.image.rules import Rules
from kraftops.image.store import POSITION_BITS, Held, held
from kraftops.log.batch import Batch, Record, read_record
from kraftops.memo import Memo
from kraftops.records import control
from kraftops.records.meaning import Unknown
from kraftops.schema.read import Data

_PAD = bytes(64)  # behind a batch, so that its last record can be looked at like all others
_LOOK_AHEAD = 7  # at every eighth partition of a topic, a look at those that may follow pays
_ANY_PARTITION: Data = {
    "replicas": [],
    "directories": [],
    "leaderEpoch": 0,
    "partitionEpoch": 0,
}


class Limits(NamedTuple):
    """Which records count: those after offset *after*, up to *until* and not newer than *time*."""

    after: int = -1
    until: int = 1 << 63
    time: int = 1 << 63


class Span(NamedTuple):
    """Records *first* to *stop* of a batch, which begin at *position*."""

    address: int
    position: int
    first: int
    stop: int


class Replay:
    """Applies batches, in the order of their offsets, to an image."""

    def __init__(self, image: MetadataImage, limits: Limits | None = None) -> None:
        """Apply batches to *image*, as far as *limits* allow."""
        self.image = image
        self.limits = limits or Limits()
        self.is_over = False
        """Whether a record beyond the limits was met."""
        self.has_footer = False
        """Whether the last record that a snapshot has was met."""
        self._rules = Rules(image)
        self._unreadable = 0  # records of this batch
        self._has_readable = self._has_unreadable = False
        self._began: int | None = None  # the address of the record that opened a transaction
        self._waiting: list[Span] = []  # what is in it so far
        is_kafka = image.dialect == "kafka"
        self._frames = Memo(frames.kafka_frame if is_kafka else frames.odd_frame)
        self._shapes = Memo(frames.partition_shape)
        tests = enumerate(_tests(image.meaning), frames.CHANGES)
        self._tails = {sort: Memo(test) for sort, test in tests}

    def add(self, batch: Batch, source: int) -> bool:
        """Apply a batch of magic 2 whose checksum holds; *source* is its number in the store.

        Return whether any of it is within the limits.

        Raises:
            DecodeError: it does not hold the records that it counts; those before are applied.
        """
        header = batch.header
        limits = self.limits
        is_behind = header.last_offset <= limits.after
        if is_behind and not header.is_control:
            return False
        if header.record_count < 0:
            raise DecodeError(f"a batch of {header.record_count} records")
        inside = held(batch)
        if is_behind:
            # A snapshot does not know the leader, but the log before its end may.
            address = self.image.store.add(source, batch)
            span = Span(address, inside.start, 0, header.record_count)
            self._control(inside, span, is_behind=True)
            return False
        first, position, stop, last = 0, inside.start, header.record_count, header.last_offset
        time = header.max_timestamp
        if header.base_offset <= limits.after or last > limits.until or time > limits.time:
            first, position, stop, last, time = self._within(inside, stop)
            if first == stop:
                return False
        address = self.image.store.add(source, batch)
        if header.is_control:
            self._control(inside, Span(address, position, first, stop))
            return True
        self._rules.begin_unit()
        self._unreadable = 0
        span = Span(address, position, first, stop)
        try:
            end = self._records(inside, span, time)
        except DecodeError:
            self._reach_damage(inside, span)
            raise
        self._has_readable |= self._unreadable < stop - first
        self._has_unreadable |= self._unreadable > 0
        if self._began is None:
            self._reach(inside, stop, last, time)
        if stop == header.record_count and end < len(inside.data):
            left = len(inside.data) - end
            raise DecodeError(f"{left} bytes are left after {header.record_count} records")
        return True

    @property
    def is_of_no_metadata(self) -> bool:
        """Whether there were records, apart from control records, and nobody can read any."""
        return self._has_unreadable and not self._has_readable

    def finish(self) -> None:
        """Note what is left open at the end of the log."""
        if self._began is not None and not self.is_over:
            name, position, _ = self.image.store.place(self._began)
            offset = self.image.record(self._began).offset
            reason = "the metadata transaction that begins here never ends: it is left out"
            self.image.log_findings.append(
                Finding(Kind.TRANSACTION, reason, offset, name, position, self._began)
            )

    def _within(self, inside: Held, count: int) -> tuple[int, int, int, int, int]:
        """Return which records of a batch are within the limits.

        That is the number of the first, its position, that after the last, and the latter's
        offset and time.
        """
        after, until, time = self.limits
        first, position, last, at = 0, inside.start, -1, inside.start
        newest = -(1 << 63)
        for number in range(count):
            record, end = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
            stamp = record.timestamp if inside.append_time is None else inside.append_time
            if record.offset > until or stamp > time:
                self.is_over = True
                return first, position, number, last, newest
            if record.offset <= after:
                first, position = number + 1, end
            last, newest, at = record.offset, max(newest, stamp), end
        return first, position, count, last, newest

    def _control(self, inside: Held, span: Span, *, is_behind: bool = False) -> None:
        """Take in control records, which change no state but that of the quorum.

        Where a snapshot has them already, *is_behind*, they say nothing new but who leads.
        """
        quorum, at = self.image.quorum, span.position
        for _ in range(span.first, span.stop):
            address = span.address + at
            record, at = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
            found = control.decode(record.key, record.value)
            if isinstance(found, Unknown):
                self.image.record_findings.add(address, found.reason)
            elif found.type == "LEADER_CHANGE":
                quorum.leader = address
            elif is_behind:
                continue
            elif found.type == "KRAFT_VERSION":
                quorum.kraft_version = address
            elif found.type == "KRAFT_VOTERS":
                quorum.voters = address
            elif found.type == "SNAPSHOT_HEADER":
                quorum.snapshot_header = address
            elif found.type == "SNAPSHOT_FOOTER":
                self.has_footer = True

    def _reach(self, inside: Held, stop: int, last: int, time: int) -> None:
        """Note that the image has the first *stop* records of a batch, up to offset *last*."""
        counted = inside.base_offset + stop - 1 - self._unreadable
        self.image.provenance = Provenance(last, inside.epoch, time, counted)

    def _reach_damage(self, inside: Held, span: Span) -> None:
        """Note that the image has the records of a batch before one that cannot be read."""
        at, newest, number, last = span.position, -(1 << 63), span.first, -1
        try:
            while number < span.stop:
                record, at = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
                stamp = record.timestamp if inside.append_time is None else inside.append_time
                number, last, newest = number + 1, record.offset, max(newest, stamp)
        except DecodeError:
            if self._began is None and number > span.first:
                self._reach(inside, number, last, newest)

    def _records(self, inside: Held, span: Span, time: int) -> int:
        """Apply records, or keep those of an open transaction for its end.

        Return the position behind them.
        """
        data = inside.data + _PAD
        while span.first < span.stop:
            if self._began is not None:
                span = self._wait(inside, span)
                continue
            span = self._apply(data, inside, span)
            before = span.first - 1
            if self._began is not None and before:
                # What the batch has before the transaction counts now, and not at its end.
                offset = self.image.record(self._began).offset
                self._reach(inside, before, offset - 1, time)
        return span.position

    def _apply(self, b: bytes, inside: Held, span: Span) -> Span:
        """Apply records up to one that begins a transaction; return those that are left."""
        base, p, first, stop = span
        end = len(b) - len(_PAD)
        look_up, shapes, tails = self._frames, self._shapes, self._tails
        head, partition_run = frames.PARTITION_HEAD.unpack_from, frames.partition_run
        nothing, a_partition, changes = frames.NOTHING, frames.PARTITIONS, frames.CHANGES
        chains, change_key = self.image.changes, self._rules.change_key
        findings = self.image.record_findings
        topics, topic_id = self.image.topics, b""
        places: array[int] = array("q")
        number = first
        while number < stop:
            # Twice where the record ends. Lengths of more than two bytes are odd, which shows.
            n = b[p]
            if n < 128:
                q, twice = p + 2, p + p + 2 + n
            else:
                q, twice = p + 3, p + p + 4 + (n & 127 | b[p + 1] << 7)
            # The time delta has mostly one byte, the offset delta one or two.
            if b[q] < 128 and b[q + 2] < 128:
                q += 2 if b[q + 1] < 128 else 3
            else:
                q = _behind_varint(b, _behind_varint(b, q))
            body, size, sort = look_up[b[q : q + 6]]
            e = q + size
            if e + e == twice and e <= end and not b[e - 1]:
                body += q
                if sort >= changes:
                    key = b[body : body + 20]
                    if tails[sort][b[body + 20 : e - 1]]:
                        chain = chains.get(key)
                        if chain is not None:
                            chain.append(base + p)
                        elif (reason := change_key(key, base + p)) is not None:
                            findings.add(base + p, reason)
                        p = e
                        number += 1
                        continue
                elif sort == a_partition:
                    partition, id_bytes, arrays = head(b, body)
                    at, length = shapes[arrays]
                    a = body + 20
                    if a + length == e - 1 and b[a + at] == b[a] and not b[e - 2]:
                        if (
                            id_bytes != topic_id
                            and (topic := topics.get(id_bytes)) is not None
                            and not topic.odd
                        ):
                            topic_id, places = id_bytes, topic.places
                        if id_bytes == topic_id and partition == len(places):
                            if partition & _LOOK_AHEAD == _LOOK_AHEAD:
                                count = partition_run(
                                    b, p, q, e, min(stop - number, (end - p) // (e - p))
                                )
                                places.extend(range(base + p, base + p + count * (e - p), e - p))
                                p += count * (e - p)
                                number += count
                            else:
                                places.append(base + p)
                                p = e
                                number += 1
                            continue
                elif sort == nothing and not b[body]:
                    p = e
                    number += 1
                    continue
            record, e = read_record(inside.data, p, inside.base_offset, inside.base_timestamp)
            reason = self._decoded(record, base + p)
            topic_id = b""  # it may have been replaced
            if reason is not None:
                findings.add(base + p, reason)
            p = e
            number += 1
            if self._began is not None:
                break
        return Span(base, p, number, stop)

    def _decoded(self, record: Record, address: int) -> str | None:
        """Apply a record by what it says; return why that cannot be, if it cannot."""
        found = self._read(record)
        if isinstance(found, str):
            self._unreadable += 1
            return found
        number, data = found
        if number == BEGIN_TRANSACTION:
            self._began = address
            self._rules.begin_unit()
            return None
        if number in TRANSACTION_MARKERS:
            return "no metadata transaction is open"
        return self._rules.apply(number, data, address)

    def _read(self, record: Record) -> tuple[int, Data] | str:
        """Return type and data of a record, or why nobody can read it."""
        if record.key is not None or record.headers:
            return "a metadata record with a key or headers"
        found = self.image.meaning(record.value)
        return found.reason if isinstance(found, Unknown) else found

    def _wait(self, inside: Held, span: Span) -> Span:
        """Keep records for the end of the transaction; return those after that end, if it is here.

        Markers are no part of what is kept.
        """
        base, start, first, stop = span
        at = start
        for number in range(first, stop):
            position = at
            record, at = read_record(
                inside.data, position, inside.base_offset, inside.base_timestamp
            )
            found = self._read(record)
            if isinstance(found, str):
                self._unreadable += 1
                continue
            if found[0] not in TRANSACTION_MARKERS:
                continue
            self._waiting.append(Span(base, start, first, number))
            start, first = at, number + 1
            if found[0] == BEGIN_TRANSACTION:
                reason = "a metadata transaction is open already"
                self.image.record_findings.add(base + position, reason)
                continue
            self._end_transaction(is_aborted=found[0] == ABORT_TRANSACTION)
            return Span(base, at, first, stop)
        self._waiting.append(Span(base, start, first, stop))
        return Span(base, at, stop, stop)

    def _end_transaction(self, *, is_aborted: bool) -> None:
        waiting, self._waiting, self._began = self._waiting, [], None
        if is_aborted:
            return
        unreadable = self._unreadable
        for span in waiting:
            inside = self.image.store.batch(span.address >> POSITION_BITS)
            self._apply(inside.data + _PAD, inside, span)
        self._unreadable = unreadable  # each batch counts its own


def _behind_varint(buffer: bytes, pos: int) -> int:
    """Return the position behind the varint at *pos*."""
    while buffer[pos] > 127:
        pos += 1
    return pos + 1


def _tests(meaning: RecordReader) -> list[Callable[[bytes], bool]]:
    """Return, by version, what tells of a change's tagged fields whether any partition takes them.

    Those that say something of replicas or directories do not fit all.
    """

    def test(version: int) -> Callable[[bytes], bool]:
        head = bytes([1, PARTITION_CHANGE, version]) + bytes(frames.KEY)

        def fits(tail: bytes) -> bool:
            found = meaning(head + tail)
            if isinstance(found, Unknown):
                return False
            data = found[1]
            if data["replicas"] is not None or data.get("directories") is not None:
                return False
            return not isinstance(partitions.changed(_ANY_PARTITION, data), str)

        return fits

    return [test(version) for version in range(frames.KNOWN_VERSIONS[PARTITION_CHANGE] + 1)]
