"""The history of a node: the records of a whole log that changed it, and the changes.

The fold watches the entries that the node shows, and the node's leaves are read again after each
record that changed one of them.
"""

from collections.abc import Callable, Mapping, Sequence
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
from kraftops.image.state.fields import ChangeKind, FieldChange, field_changes
from kraftops.image.state.image import LastChange, MetadataImage, NewImage
from kraftops.image.state.store import LoggedRecord
from kraftops.records import control, metadata
from kraftops.records.meaning import Unknown
from kraftops.uris import Paths, path_texts


class LeafValue(Protocol):
    """A leaf of the tree: its value, and the record that changed it last."""

    @property
    def data(self) -> object: ...

    @property
    def newest(self) -> NewestRecord | None:
        """The newest record; None where no record made the leaf."""
        ...

    @property
    def last_change(self) -> LastChange | None:
        """The last change, also from the log before a snapshot."""
        ...


class HistorySubject(NamedTuple):
    """The subject of a history: a node's leaves, and the entries of the state that they show.

    *leaves* returns the leaves by their paths below the node; the node itself has an empty path.
    *entries* is called after every change, since topics with the same name have different ids.
    """

    leaves: Callable[[MetadataImage], Mapping[str, LeafValue]]
    entries: Callable[[MetadataImage], Sequence[EntryKey]]
    is_control: bool = False
    """Whether control records change it."""


class Step(NamedTuple):
    """A change of a leaf: *path* is its path below the subject, *type* the record's type.

    *old* is None for an addition, *new* for a removal. A record that repeats a value changes no
    fields.
    """

    kind: ChangeKind
    change: Change
    type: str
    path: str
    old: object
    new: object

    @property
    def fields(self) -> tuple[FieldChange, ...]:
        return field_changes(self.old, self.new)


def history(
    source: Paths,
    subject: HistorySubject,
    *,
    at_offset: int | None = None,
    at_time: int | None = None,
    new_image: NewImage = MetadataImage,
) -> list[Step]:
    """Return the changes of a node in the whole log of *source*, oldest first.

    The log is read from its first record if that still exists, or else from the oldest snapshot
    that the segments continue; then the snapshot's state comes first. Changes by a metadata
    transaction have the offsets of its records.

    Args:
        source: as `kraftops.image.load.loading.load` takes it.
        subject: the node.
        at_offset: stop after the record of this offset.
        at_time: stop before the first record later than this, in ms since the epoch.
        new_image: makes an image without state.

    Raises:
        SourceError: the source cannot be read, has no metadata log, or its records about the node
            take more than the memory budget.
    """
    limits = limits_of(at_offset, at_time)
    names = path_texts(source)
    files = files_of(names)
    for plan in whole_log_plans(files):
        image = new_image()
        if plan[0].end_offset is not None:
            image.offer_prior_state(partial(prior_state_of, files, plan[0].end_offset, new_image))
        recorder = _Recorder(image, subject)
        replay = Replay(image, limits)
        loader = Loader(replay, may_grow=files.is_directory, listen=recorder.listen)
        if loader.read(plan):
            return recorder.steps
    raise SourceError(f"{', '.join(names)}: there is no metadata log")


class _LeafState(NamedTuple):
    """The last value of a leaf, and the address of its newest record."""

    newest: int
    data: object


class _Recorder:
    """Records the changes of a subject during a replay."""

    def __init__(self, image: MetadataImage, subject: HistorySubject) -> None:
        self.image = image
        self.steps: list[Step] = []
        self._subject = subject
        self._leaves: dict[str, _LeafState] = {}
        self._size = 0  # of the records whose values are held
        image.fold.watch(subject.entries(image))

    def listen(self, event: Event) -> None:
        """Take an event of the replay."""
        if isinstance(event, EntriesChanged):
            self._record_changes(event.address)
            self.image.fold.watch(self._subject.entries(self.image))
        elif isinstance(event, ControlRecordRead) and self._subject.is_control:
            self._record_changes(event.address)
        elif isinstance(event, SnapshotEnded):
            self.steps.sort(key=lambda step: step.change.offset)

    def _record_changes(self, address: int) -> None:
        # A leaf that no record made exists from the beginning.
        leaves = {
            path: (leaf, newest.address)
            for path, leaf in self._subject.leaves(self.image).items()
            if (newest := leaf.newest)
        }
        record = self.image.record(address)
        here = self.image.change(address), record_type(record, self.image.dialect)
        known_steps = len(self.steps)
        for path, (leaf, changed_by) in leaves.items():
            earlier = self._leaves.get(path)
            if earlier and earlier.newest == changed_by:
                continue
            data = leaf.data
            source = here
            if here[0].is_upper_bound and (last := leaf.last_change):
                source = last.change, self._type(last.image, last.address)
            self._leaves[path] = _LeafState(changed_by, data)
            if earlier is None:
                self.steps.append(Step(ChangeKind.ADDED, *source, path, None, data))
            else:
                self.steps.append(Step(ChangeKind.CHANGED, *source, path, earlier.data, data))
        for path in [path for path in self._leaves if path not in leaves]:
            old = self._leaves.pop(path).data
            self.steps.append(Step(ChangeKind.REMOVED, *here, path, old, None))
        if len(self.steps) > known_steps:
            self._hold(len(record.value or b""))

    def _hold(self, size: int) -> None:
        """Note the bytes of a record whose values are held.

        Raises:
            SourceError: there are too many.
        """
        self._size += size
        if self._size > (most := self.image.store.budget.memory):
            raise SourceError(
                f"the records of this history take more than the {most} bytes of the memory budget",
                hint="give a larger --max-memory, or name a node further down",
            )

    @staticmethod
    def _type(image: MetadataImage, address: int) -> str:
        return record_type(image.record(address), image.dialect)


def record_type(record: LoggedRecord, dialect: str) -> str:
    """Return Kafka's name of a record's type; UNKNOWN if it cannot be read."""
    if record.key is None:
        decoded = metadata.decode(record.value, dialect)
    else:
        decoded = control.decode(record.key, record.value, whole=False)
    return "UNKNOWN" if isinstance(decoded, Unknown) else decoded.type
