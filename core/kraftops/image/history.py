"""The history of a node: which records of a whole log changed it, and how.

The fold watches what the node is about, and the node is looked at after each record that did
something to that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import NamedTuple, Protocol

from kraftops.engine.metadata_state import EntryKey, NewestRecord
from kraftops.errors import SourceError
from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import limits_of
from kraftops.image.load.prior_state import prior_state_of
from kraftops.image.load.sources import files_of, whole_log_plans
from kraftops.image.replay.events import ControlRecordRead, EntriesChanged, Event, SnapshotEnded
from kraftops.image.replay.replay import Replay
from kraftops.image.state.changes import Change
from kraftops.image.state.fields import FieldChange, field_changes
from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.image.state.store import LoggedRecord
from kraftops.records import control, metadata
from kraftops.records.meaning import Unknown


class Seen(Protocol):
    """A leaf as it is looked at: its value, and the record that changed it last."""

    @property
    def data(self) -> object:
        """The value as plain data."""
        ...

    @property
    def newest(self) -> NewestRecord | None:
        """The record; None where none made the leaf."""
        ...

    @property
    def last_change(self) -> LastChange | None:
        """What is known of it; a snapshot's may be in the log before."""
        ...


class Watched(NamedTuple):
    """What a history is about.

    *look* gives the leaves by their paths below it, an empty one where it is a leaf itself.
    *watches* gives what the fold is to watch for that. It is asked again after every change, since
    names get other ids.
    """

    look: Callable[[MetadataImage], Mapping[str, Seen]]
    watches: Callable[[MetadataImage], Sequence[EntryKey]]
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
) -> list[Step]:
    """Return what happened to a node in all of the log that *source* holds, oldest first.

    The log is read from its first record where that is still there, or else from the oldest
    snapshot with which it goes on; what that one holds is the beginning. Changes of a metadata
    transaction have the offsets of the records in it, and are there if it ended.

    Args:
        source: as `kraftops.image.load.loading.load` takes it.
        watched: the node.
        at_offset: nothing after the record of this offset.
        at_time: nothing later than this, in ms since the epoch.
        dialect: how records are framed and numbered.

    Raises:
        SourceError: the source cannot be read, or holds no metadata log.
        UsageError: there is no such dialect.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    names = [os.fspath(one) for one in given]
    limits = limits_of(at_offset, at_time)
    files = files_of(names)
    for plan in whole_log_plans(files):
        image = MetadataImage(dialect)
        if plan[0].end_offset is not None:
            image.offer_prior_state(partial(prior_state_of, files, plan[0].end_offset, dialect))
        watcher = _Watcher(image, watched)
        replay = Replay(image, limits)
        loader = Loader(replay, may_grow=files.is_directory, listen=watcher.listen)
        if loader.read(plan):
            return watcher.steps
    raise SourceError(f"{', '.join(names)}: there is no metadata log")


class _Known(NamedTuple):
    """A leaf as it was: the address of the record that changed it last, and its value."""

    newest: int
    data: object


class _Watcher:
    """Looks at a node whenever a replay tells that a record did something to it."""

    def __init__(self, image: MetadataImage, watched: Watched) -> None:
        self.image = image
        self.steps: list[Step] = []
        self._watched = watched
        self._known: dict[str, _Known] = {}
        self.image.fold.watch(watched.watches(image))

    def listen(self, event: Event) -> None:
        """Take an event of the replay."""
        if isinstance(event, EntriesChanged):
            self._look(event.address)
            self.image.fold.watch(self._watched.watches(self.image))
        elif isinstance(event, ControlRecordRead) and self._watched.is_control:
            self._look(event.address)
        elif isinstance(event, SnapshotEnded):
            self.steps.sort(key=lambda step: step.change.offset)

    def _look(self, address: int) -> None:
        """Note what the record at *address* has changed."""
        # What no record made is there from the beginning.
        now = {
            path: (leaf, newest.address)
            for path, leaf in self._watched.look(self.image).items()
            if (newest := leaf.newest)
        }
        here = self._record(address)
        for path, (leaf, last) in now.items():
            known = self._known.get(path)
            if known and known.newest == last:
                continue
            data = leaf.data
            record = here
            if here[0].is_upper_bound and (before := leaf.last_change):
                found = before.image.record(before.address)
                record = before.change, type_of(found, before.image.dialect)
            self._known[path] = _Known(last, data)
            if known is None:
                self.steps.append(Step(StepKind.ADDED, *record, path, None, data))
            else:
                self.steps.append(Step(StepKind.CHANGED, *record, path, known.data, data))
        for path in [path for path in self._known if path not in now]:
            old = self._known.pop(path).data
            self.steps.append(Step(StepKind.REMOVED, *here, path, old, None))

    def _record(self, address: int) -> tuple[Change, str]:
        return self.image.change(address), type_of(self.image.record(address), self.image.dialect)


def type_of(record: LoggedRecord, dialect: str) -> str:
    """Return Kafka's name of a record's type; UNKNOWN where nobody can read it."""
    if record.key is None:
        found = metadata.decode(record.value, dialect)
    else:
        found = control.decode(record.key, record.value, whole=False)
    return "UNKNOWN" if isinstance(found, Unknown) else found.type
