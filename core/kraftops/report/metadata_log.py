"""A metadata log, read once: its last state, and what happened before."""

from __future__ import annotations

import os.path
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from kraftops.display.times import DAY_MS
from kraftops.engine.timeline_contract import Timeline, TimelineRequest
from kraftops.errors import SourceError
from kraftops.findings.finding import Finding
from kraftops.image.load.after_damage import plans_after
from kraftops.image.load.loader import NOT_READ, Loader, Progress
from kraftops.image.load.loading import limits_of
from kraftops.image.load.sources import (
    LogFiles,
    SourceFile,
    files_of,
    whole_log_plans,
)
from kraftops.image.replay.events import ControlRecordRead, Event, SnapshotEnded
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import DAMAGE
from kraftops.image.state.image import MetadataImage, NewImage
from kraftops.log.batch import HEADER_SIZE, records
from kraftops.log.streams import open_log
from kraftops.memory import USUAL, Budget
from kraftops.records import metadata
from kraftops.records.meaning import Unknown

_EARLIEST = 1_293_840_000_000  # 2011, when Kafka was published; bootstrap records have time 0
_MOST_LEADERSHIPS = 500  # bands that a timeline of 1,000 pixels can tell apart
MOST_CHANGES = 600
"""Changes that a page has, and that are kept of each table: more are not read one by one."""


class Span(NamedTuple):
    """The times that a report is about, in ms, *until* exclusive; None is open.

    *now* is when it is made.
    """

    since: int | None
    until: int | None
    now: int

    @property
    def before(self) -> Limits | None:
        """The limits of the state before it; None if it is open."""
        return None if self.since is None else limits_of(None, self.since - 1)

    @property
    def end(self) -> Limits:
        """The limits of its last change."""
        return limits_of(None, None if self.until is None else self.until - 1)


class Leader(NamedTuple):
    """The begin of a leader's time in the quorum."""

    time: int
    leader: int
    epoch: int
    offset: int


@dataclass(frozen=True, slots=True)
class MetadataLog:
    """A metadata log: the state at its end, the timeline, and the leaders of the quorum.

    *snapshot_end* is the end of the snapshot that it begins with, *known_since* its time as far as
    it says; None if it begins with its first record. *leaders* begin with the one at the start of
    the timeline; *leaders_left_out* came between that and the second.
    """

    image: MetadataImage
    timeline: Timeline
    leaders: tuple[Leader, ...]
    leaders_left_out: int
    snapshot_end: int | None
    known_since: int | None


def read_metadata_log(
    names: Sequence[str], span: Span, budget: Budget = USUAL, progress: Progress | None = None
) -> MetadataLog:
    """Read as much of a metadata log as exists, up to the end of a span.

    Args:
        names: of files and directories, which are one log.
        span: the times that count; the state before them is known.
        budget: of the reading.
        progress: is called with the number of bytes read.

    Raises:
        SourceError: it cannot be read, or has no metadata records.
    """
    files = files_of(names)
    new_image = partial(MetadataImage, budget=budget)
    for plan in whole_log_plans(files):
        read = _read(new_image, plan, files, span, progress)
        if read is not None:
            break
    else:
        raise SourceError(f"{', '.join(names)}: there is no metadata log")
    read = _longest(read, files, span, progress)
    _refuse_empty(read.loader, names)
    image, listener = read.loader.image, read.listener
    timeline = image.fold.end_timeline()
    assert timeline is not None
    leaders, left_out = listener.leaders(timeline)
    end = read.plan[0].end_offset or None  # a snapshot at offset 0 is that of a new cluster
    return MetadataLog(
        image=image,
        timeline=timeline,
        leaders=leaders,
        leaders_left_out=left_out,
        snapshot_end=end,
        known_since=listener.known_since,
    )


class _Read(NamedTuple):
    """Files of a log that were read."""

    plan: Sequence[SourceFile]
    loader: Loader
    listener: _Listener

    def covered(self, since: int | None) -> int:
        """Return the number of offsets that are known, 0 if all are older than *since*."""
        last = self.loader.image.provenance
        if since is not None and last.timestamp < since:
            return 0
        return last.offset + 1 - (self.plan[0].end_offset or 0)


def _read(
    new_image: NewImage,
    plan: list[SourceFile],
    files: LogFiles,
    span: Span,
    progress: Progress | None,
) -> _Read | None:
    """Read files of a log; None if the snapshot among them is not whole."""
    image = new_image()
    request = TimelineRequest(span.since or 0, _EARLIEST, span.now + DAY_MS, kept=MOST_CHANGES)
    image.fold.keep_time(request)
    listener = _Listener(image)
    if not plan[0].is_snapshot:
        image.fold.start_timeline(None)
    loader = Loader(
        Replay(image, span.end),
        progress,
        may_grow=files.is_directory,
        listen=listener.listen,
        hears_windows=False,
    )
    return _Read(plan, loader, listener) if loader.read(plan) else None


def _longest(read: _Read, files: LogFiles, span: Span, progress: Progress | None) -> _Read:
    """Return what was read, or a longer part of the log after its damage.

    A part begins with a snapshot. The findings say of each damage what was done about it.
    """
    longest, found = read, list[Finding]()
    current: _Read | None = read
    while current is not None:
        damage = _damage_in(current, files)
        if damage is None:
            break
        current = _read_after(damage, read.loader.image.empty, files, span, progress)
        if current is not None and current.covered(span.since) > longest.covered(span.since):
            name = os.path.basename(current.plan[0].path)
            text = f"{damage.text.removesuffix(NOT_READ)}; the timeline starts again with {name}"
            found.append(replace(damage, text=text))
            longest = current
    longest.loader.image.log_findings[:0] = found
    return longest


def _damage_in(read: _Read, files: LogFiles) -> Finding | None:
    segments = {segment.path for segment in files.segments}
    for finding in read.loader.image.log_findings:
        if finding.code == DAMAGE and finding.place.file in segments:
            return finding
    return None


def _read_after(
    damage: Finding, new_image: NewImage, files: LogFiles, span: Span, progress: Progress | None
) -> _Read | None:
    """Read a log after damage, from the first snapshot on that the batches there continue."""
    place = damage.place
    for plan in plans_after(files, place.path, place.position or 0, span.end):
        read = _read(new_image, plan, files, span, progress)
        if read is not None:
            return read
    return None


def is_metadata_log(path: str) -> bool:
    """Tell whether the first records of a file, apart from control records, are of metadata.

    Raises:
        SourceError: it cannot be read.
    """
    with open_log(path) as log:
        for batch in log.batches():
            if len(batch.data) < HEADER_SIZE or batch.is_legacy:
                return False
            if batch.header.is_control:
                continue
            found = list(records(batch))
            return bool(found) and all(
                record.key is None and not isinstance(metadata.decode(record.value), Unknown)
                for record in found
            )
    return False


def _refuse_empty(loader: Loader, names: Sequence[str]) -> None:
    """Refuse a log without records that can be read.

    Raises:
        SourceError: it is one.
    """
    where = ", ".join(names)
    if loader.has_records and not loader.is_other_log:
        return
    if loader.is_over:
        raise SourceError(f"{where}: it has nothing as old as --until")
    for finding in loader.image.log_findings:
        raise SourceError(f"cannot read {finding}")
    raise SourceError(f"{where}: there are no metadata records in it")


class _Listener:
    """Takes the leaders of the quorum, and the end of the snapshot that comes first."""

    def __init__(self, image: MetadataImage) -> None:
        self.known_since: int | None = None
        self._image = image
        self._addresses = array("q")

    def listen(self, event: Event) -> None:
        """Take an event of the replay."""
        image = self._image
        if isinstance(event, ControlRecordRead):
            if image.quorum.leader == event.address:
                self._addresses.append(event.address)
        elif isinstance(event, SnapshotEnded):
            header = image.quorum.snapshot_header
            if header is not None:
                time: int = image.read_control(header)["lastContainedLogTimestamp"]
                self.known_since = time if time >= _EARLIEST else None
            image.fold.start_timeline(self.known_since)

    def leaders(self, timeline: Timeline) -> tuple[tuple[Leader, ...], int]:
        """Return the leaders within a timeline and the one before, and how many are left out."""
        found: list[Leader] = []
        left_out = 0
        begin = timeline.began if timeline.began is not None else 0
        latest = timeline.end if timeline.end is not None else begin
        for address in reversed(self._addresses):
            leader = self._leader(address, latest)
            latest = leader.time
            if leader.time <= begin:
                found.append(leader._replace(time=begin))
                break
            if len(found) < _MOST_LEADERSHIPS:
                found.append(leader)
            else:
                left_out += 1
        return tuple(reversed(found)), left_out

    def _leader(self, address: int, latest: int) -> Leader:
        """Return the leader that a record names; times do not go back."""
        record = self._image.record(address)
        data = self._image.read_control(address)
        time = record.timestamp if 0 <= record.timestamp <= latest else latest
        return Leader(time, data["leaderId"], record.epoch, record.offset)
