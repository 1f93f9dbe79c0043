"""The history of a node: which records of a whole log changed it, and how.

Batches in whose bytes nothing names the node are replayed whole; the others record by record, with
a look at the node after each record that names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from typing import NamedTuple, Protocol

from kraftops.errors import SourceError
from kraftops.image.fields import FieldChange, field_changes
from kraftops.image.image import Change, MetadataImage
from kraftops.image.loading import Loader, Progress, limits_of
from kraftops.image.replay import Replay, Span
from kraftops.image.sources import files_of, whole_log
from kraftops.image.store import Held, LoggedRecord
from kraftops.log.batch import read_record
from kraftops.records import control, metadata
from kraftops.records.meaning import Unknown
from kraftops.varint import read_varint


class Seen(Protocol):
    """A leaf as it is looked at: its value, and the address of the record that changed it last."""

    @property
    def data(self) -> object:
        """The value as plain data."""
        ...

    @property
    def newest(self) -> int | None:
        """The address; None where no record made the leaf."""
        ...


class Watched(NamedTuple):
    """What a history is about.

    *look* gives the leaves by their paths below it, an empty one where it is a leaf itself.
    *needles* gives bytes of which each record that may change it has at least one; None where that
    cannot be said. It is asked again after every change, since names get other ids.
    """

    look: Callable[[MetadataImage], Mapping[str, Seen]]
    needles: Callable[[MetadataImage], Collection[bytes] | None]
    is_control: bool = False
    """Whether control records change it."""


class StepKind(Enum):
    """What a record did to a leaf."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class Step(NamedTuple):
    """A change of a leaf: *path* is below what is watched, *type* that of the record.

    The values that are not there, before an addition and after a removal, are None. A record that
    says again what was there changes no fields.
    """

    kind: StepKind
    change: Change
    type: str
    path: str
    old: object
    new: object

    @property
    def fields(self) -> tuple[FieldChange, ...]:
        """What is different."""
        return field_changes(self.old, self.new)


def history(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    watched: Watched,
    *,
    at_offset: int | None = None,
    at_time: int | None = None,
    dialect: str = "kafka",
    progress: Progress | None = None,
) -> list[Step]:
    """Return what happened to a node in all of the log that *source* holds, oldest first.

    The log is read from its first record where that is still there, or else from the oldest
    snapshot with which it goes on; what that one holds is the beginning. Changes of a metadata
    transaction have the offsets of the records in it, and are there if it ended.

    Args:
        source: as `kraftops.image.loading.load` takes it.
        watched: the node.
        at_offset: nothing after the record of this offset.
        at_time: nothing later than this, in ms since the epoch.
        dialect: how records are framed and numbered.
        progress: is told how much has been read.

    Raises:
        SourceError: the source cannot be read, or holds no metadata log.
        UsageError: there is no such dialect.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    names = [os.fspath(one) for one in given]
    limits = limits_of(at_offset, at_time)
    files = files_of(names)
    for pieces in whole_log(files):
        image = MetadataImage(dialect)
        replay = _Watcher(image, watched)
        loader = Loader(image, limits, progress, may_grow=files.is_directory, replay=replay)
        if loader.read(pieces):
            return replay.steps
    raise SourceError(f"{', '.join(names)}: there is no metadata log")


class _Known(NamedTuple):
    """A leaf as it was: the address of the record that changed it last, and its value."""

    newest: int | None
    data: object


class _Hits:
    """Where needles are in the bytes of a batch; without needles, everywhere."""

    def __init__(self, data: bytes, needles: Collection[bytes] | None) -> None:
        self._data = data
        self._needles = needles
        self._next: dict[bytes, int] = {}

    def after(self, position: int) -> int:
        """Return the first place from *position* on; the end where there is none."""
        first = len(self._data)
        if self._needles is None:
            return position
        for needle in self._needles:
            place = self._next.get(needle, -1)
            if place < position:
                place = self._data.find(needle, position)
                self._next[needle] = place = place if place >= 0 else len(self._data)
            first = min(first, place)
        return first


class _Watcher(Replay):
    """A replay that looks at a node after each record that names it."""

    def __init__(self, image: MetadataImage, watched: Watched) -> None:
        super().__init__(image)
        self.steps: list[Step] = []
        self._watched = watched
        self._known: dict[str, _Known] = {}
        self._needles: Collection[bytes] | None = ()
        self._find_needles()

    def _find_needles(self) -> None:
        self._needles = self._watched.needles(self.image) if self.image.dialect == "kafka" else None

    def _control(self, inside: Held, span: Span, *, is_behind: bool = False) -> None:
        at = span.position
        for number in range(span.first, span.stop):
            position = at
            _, at = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
            one = Span(span.address, position, number, number + 1)
            super()._control(inside, one, is_behind=is_behind)
            if self._watched.is_control:
                self._look(span.address + position)

    def _apply(self, b: bytes, inside: Held, span: Span) -> Span:
        stop, whole = span.stop, len(inside.data)
        hits = _Hits(b, self._needles)
        while span.first < stop and self._began is None:
            hit = hits.after(span.position)
            at, number, end = span.position, span.first, span.position
            while number < stop:
                size, end = read_varint(b, at)
                end += size
                if end > hit or not at < end <= whole:
                    break
                at, number = end, number + 1
            if number > span.first:
                span = super()._apply(b, inside, span._replace(stop=number))._replace(stop=stop)
                continue
            span = super()._apply(b, inside, span._replace(stop=number + 1))._replace(stop=stop)
            self._look(span.address + at)
            hits = _Hits(b, self._needles)
        return span

    def _look(self, address: int) -> None:
        """Note what the record at *address* has changed."""
        seen = self._watched.look(self.image)
        # What no record made is there from the beginning.
        now = {path: leaf for path, leaf in seen.items() if leaf.newest is not None}
        record: tuple[Change, str] | None = None
        for path, leaf in now.items():
            newest = leaf.newest
            known = self._known.get(path)
            if known and known.newest == newest:
                continue
            data = leaf.data
            record = record or self._record(address)
            self._known[path] = _Known(newest, data)
            if known is None:
                self.steps.append(Step(StepKind.ADDED, *record, path, None, data))
            else:
                self.steps.append(Step(StepKind.CHANGED, *record, path, known.data, data))
        for path in [path for path in self._known if path not in now]:
            record = record or self._record(address)
            old = self._known.pop(path).data
            self.steps.append(Step(StepKind.REMOVED, *record, path, old, None))
        self._find_needles()

    def _record(self, address: int) -> tuple[Change, str]:
        return self.image.change(address), type_of(self.image.record(address), self.image.dialect)


def type_of(record: LoggedRecord, dialect: str) -> str:
    """Return Kafka's name of a record's type; UNKNOWN where nobody can read it."""
    if record.key is None:
        found = metadata.decode(record.value, dialect)
    else:
        found = control.decode(record.key, record.value)
    return "UNKNOWN" if isinstance(found, Unknown) else found.type
