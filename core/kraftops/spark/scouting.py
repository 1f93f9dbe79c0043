"""The first pass over a metadata log: which of its bytes count, and what crosses entities.

One task walks the log as `kraftops.image.loading` does, which finds gaps, damage, the end of time
travel and snapshots that are not whole; it makes no image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.image.findings import Finding
from kraftops.image.image import MetadataImage
from kraftops.image.loading import Loader
from kraftops.image.recordtypes import (
    ABORT_TRANSACTION,
    BEGIN_TRANSACTION,
    END_TRANSACTION,
    TOPIC,
)
from kraftops.image.replay import Limits, Replay
from kraftops.image.sources import files_of, plans
from kraftops.image.store import held
from kraftops.log.batch import Batch, read_record
from kraftops.records.meaning import Unknown

_NO_TIME = Limits().time
_NAMING = frozenset({TOPIC, BEGIN_TRANSACTION, END_TRANSACTION, ABORT_TRANSACTION})


class Stretch(NamedTuple):
    """Bytes of a file whose batches count, as far as *limits* let them.

    *source* is the number of the file; *end_offset* is that of a snapshot.
    """

    source: int
    path: str
    end_offset: int | None
    start: int
    stop: int
    limits: Limits


class Scouted(NamedTuple):
    """What the first pass found: stretches in order, names of topics, findings about the log.

    *groups* has for a topic's id the name by which all that is about the topic goes together; it is
    the topic's own, or that of another which had the same id.
    """

    stretches: list[Stretch]
    groups: dict[bytes, str]
    aliases: dict[str, str]
    findings: list[Finding]


def scout(names: Sequence[str], limits: Limits, dialect: str) -> Scouted:
    """Return what counts of the metadata log that *names* stand for.

    Raises:
        SourceError: it cannot be read, or holds no metadata records.
        UsageError: it does not reach back to what is asked for.
    """
    files = files_of(names)
    first: tuple[Loader, _Scout] | None = None
    found: tuple[Loader, _Scout] | None = None
    for pieces, findings in plans(files, limits):
        image = MetadataImage(dialect)
        replay = _Scout(image)
        loader = Loader(image, limits, may_grow=files.is_directory, replay=replay)
        image.log_findings += findings
        first = first or (loader, replay)
        replay.pieces = [(piece.path, piece.end_offset) for piece in pieces]
        if loader.read(pieces):
            found = loader, replay
            break
    found = found or first
    name = ", ".join(names)
    if found is None:
        raise SourceError(
            f"{name}: there is no metadata log",
            "name a snapshot, a segment, or a directory that holds __cluster_metadata-0",
        )
    loader, replay = found
    if not loader.has_records:
        if loader.is_over:
            raise UsageError(f"{name}: nothing in it is as old as that")
        for finding in loader.image.log_findings:
            raise SourceError(f"cannot read {finding}")
        raise SourceError(f"{name}: there are no metadata records in it")
    if loader.is_of_no_metadata:
        raise SourceError(
            f"{name}: nobody can read any record in it as one of the metadata",
            "is it the log of another topic, or of another dialect?",
        )
    return Scouted(replay.stretches, *replay.groups(), _plain(loader.image.log_findings))


def _plain(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings without addresses, which mean nothing to others."""
    return [finding._replace(address=None) for finding in findings]


class _Scout(Replay):
    """Stands where an image is made, and only notes which batches would be in it."""

    def __init__(self, image: MetadataImage) -> None:
        super().__init__(image)
        self.stretches: list[Stretch] = []
        self.pieces: list[tuple[str, int | None]] = []
        self._names: list[tuple[bytes, str]] = []
        self._known: set[tuple[bytes, str]] = set()

    def add(self, batch: Batch, source: int) -> bool:
        """Note a batch; what is in it is looked at as far as it names topics."""
        header, limits = batch.header, self.limits
        is_behind = header.last_offset <= limits.after
        if is_behind and not header.is_control:
            return False
        if header.record_count < 0:
            raise DecodeError(f"a batch of {header.record_count} records")
        self._note(batch, source, limits._replace(time=_NO_TIME))
        inside = held(batch)
        stop, last = header.record_count, header.last_offset
        if (
            header.base_offset <= limits.after
            or last > limits.until
            or (header.max_timestamp > limits.time)
        ):
            first, _, stop, last, _ = self._within(inside, stop)
            if self.is_over:
                until = min(last, limits.until) if stop else header.base_offset - 1
                self.stretches[-1] = self.stretches[-1]._replace(stop=batch.position)
                self._note(batch, source, Limits(limits.after, until))
            if first == stop and not header.is_control:
                return False
        if header.is_control:
            return super().add(batch, source)
        at = inside.start
        for _ in range(stop):
            position = at
            record, at = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
            value = record.value
            if not self._has_readable:
                is_readable = not isinstance(self._read(record), str)
                self._has_readable |= is_readable
                self._has_unreadable |= not is_readable
            if value is None or (self.image.dialect == "kafka" and value[1:2] not in _FIRST_BYTES):
                continue
            self._see(self.image.meaning(value), batch, source, position)
        if stop == header.record_count and at < len(inside.data):
            left = len(inside.data) - at
            raise DecodeError(f"{left} bytes are left after {header.record_count} records")
        return True

    def _see(
        self, found: tuple[int, object] | Unknown, batch: Batch, source: int, position: int
    ) -> None:
        if isinstance(found, Unknown) or found[0] not in _NAMING:
            return
        number, data = found
        if number == BEGIN_TRANSACTION:
            if self._began is None:
                self._began = self.image.store.add(source, batch) + position
        elif number in (END_TRANSACTION, ABORT_TRANSACTION):
            self._began = None
        else:
            fields = cast("dict[str, object]", data)
            pair = cast("bytes", fields["topicId"]), cast("str", fields["name"])
            if pair not in self._known:
                self._known.add(pair)
                self._names.append(pair)

    def _note(self, batch: Batch, source: int, limits: Limits) -> None:
        last = self.stretches[-1] if self.stretches else None
        end = batch.position + batch.size
        if last and last.source == source and last.stop == batch.position and last.limits == limits:
            self.stretches[-1] = last._replace(stop=end)
            return
        path, end_offset = self.pieces[source]
        self.stretches.append(Stretch(source, path, end_offset, batch.position, end, limits))

    def groups(self) -> tuple[dict[bytes, str], dict[str, str]]:
        """Return the group of each id, and those of names that are not groups themselves."""
        roots: dict[str, str] = {}

        def root(name: str) -> str:
            while roots.get(name, name) != name:
                name = roots[name]
            return name

        ids: dict[bytes, str] = {}
        for topic_id, name in self._names:
            one, other = root(ids.setdefault(topic_id, name)), root(name)
            if one != other:
                roots[other] = one
        aliases = {name: root(name) for _, name in self._names if root(name) != name}
        return {topic_id: root(name) for topic_id, name in ids.items()}, aliases


_FIRST_BYTES = {bytes([number]) for number in _NAMING}
"""Of record types, where they are written behind the version of the frame."""
