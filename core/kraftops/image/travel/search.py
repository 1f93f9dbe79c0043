"""Search for the changes of a log, from a state that was kept."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kraftops.engine.metadata_state import EntryChange, EntryKey
from kraftops.image.replay.events import (
    EntriesChanged,
    Event,
    TransactionAborted,
    TransactionBegun,
    TransactionEnded,
)
from kraftops.image.replay.limits import Limits
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import LoggedRecord
from kraftops.image.travel.kept_replays import KeptReplays
from kraftops.image.travel.resumable_replay import ResumableReplay

TABLES = (
    "topic-names",
    "topics",
    "partitions",
    "brokers",
    "controllers",
    "failed-replicas",
    "configs",
    "quotas",
    "acls",
    "scram",
    "tokens",
    "features",
    "producer-ids",
)
_FIRST_SPAN = 256  # offsets: a few batches, in which what changes often is found
_WIDER = 8  # times the span before: a rare change is found in a few reads
_MORE = 64  # offsets after a change that was found: the next search may find its change there


_ALL = [EntryKey(table) for table in TABLES]


class LogChange(NamedTuple):
    """A change of the state: the *offset* of the record that made it, and the entries it changed.

    The records of a metadata transaction change the state together, at its end. *records* has the
    record of each entry; those of a record are in the order of `TABLES` and of their keys.
    There are no entries for the end of a snapshot, where a log begins.
    """

    offset: int
    entries: tuple[EntryChange, ...] = ()
    records: tuple[LoggedRecord, ...] = ()


class Wanted(NamedTuple):
    """The changes to search for."""

    entries: Callable[[MetadataImage], Sequence[EntryKey]] = lambda _: _ALL
    """Returns the entries that count; it is called again after each of their changes."""
    is_wanted: Callable[[MetadataImage, int], bool] = lambda *_: True
    """Tells whether the record at an address counts."""


ANY = Wanted()


def _place(change: EntryChange) -> tuple[int, list[tuple[int, str]]]:
    parts = [(part, "") if isinstance(part, int) else (0, str(part)) for part in change.key]
    return TABLES.index(change.table), parts


class _Listener:
    """Collects changes from the events of a replay."""

    def __init__(
        self, image: MetadataImage, selection: Wanted, after: int, *, is_open: bool
    ) -> None:
        self.changes: list[LogChange] = []
        self._image = image
        self._selection = selection
        self._after = after
        self._waiting: list[EntryChange] = []
        self._addresses: list[int] = []
        self._is_open = is_open
        self._watch()

    def listen(self, event: Event) -> None:
        """Take an event."""
        match event:
            case EntriesChanged(address, changes):
                if self._selection.is_wanted(self._image, address):
                    self._waiting += sorted(changes, key=_place)  # engines differ in the order
                    self._addresses += [address] * len(changes)
                if not self._is_open:
                    self._add(address)
                self._watch()
            case TransactionBegun():
                self._is_open = True
            case TransactionEnded(address):
                self._is_open = False
                self._add(address)
            case TransactionAborted():
                self._is_open = False

    def _add(self, address: int) -> None:
        changes, self._waiting = tuple(self._waiting), []
        addresses, self._addresses = self._addresses, []
        if changes:
            store = self._image.store
            offset = store.head(address)[0]
            if offset > self._after:
                self.changes.append(LogChange(offset, changes, tuple(map(store.record, addresses))))

    def _watch(self) -> None:
        self._image.fold.watch(self._selection.entries(self._image))


def changes_after(
    replays: KeptReplays, offset: int, selection: Wanted, number: int
) -> tuple[list[LogChange], ResumableReplay]:
    """Return the next changes after an offset, and the reading that found them.

    They are at least *number*, or all that there are.

    Raises:
        SourceError: a file cannot be read.
    """
    start = replays.reach(Limits(until=offset))
    return _scan(replays, start, Limits(after=offset), selection, number)


def changes_before(
    replays: KeptReplays, offset: int, first: int, selection: Wanted, number: int
) -> list[LogChange]:
    """Return the changes before an offset, oldest first: at least *number*, or all that there are.

    Args:
        replays: the states.
        offset: the changes are before it.
        first: the last offset that the beginning of the replays covers.
        selection: the changes that count.
        number: of changes.

    Raises:
        SourceError: a file cannot be read.
    """
    span, last = _FIRST_SPAN, offset - 1
    changes: list[LogChange] = []
    start = replays.reach(Limits(until=max(first, last - span)))
    while True:
        limits = Limits(after=start.last_offset, until=last)
        earlier, _ = _scan(replays, start, limits, selection, None)
        changes = [*earlier, *changes]
        if len(changes) >= number or start.last_offset <= first:
            return changes
        span, last = span * _WIDER, start.last_offset
        # From a state that is kept: to read up to an exact one takes as long as to listen.
        start = replays.nearest(Limits(until=max(first, last - span)))
        if start.last_offset < first:
            start = replays.reach(Limits(until=first))


def _scan(
    replays: KeptReplays,
    start: ResumableReplay,
    limits: Limits,
    selection: Wanted,
    number: int | None,
) -> tuple[list[LogChange], ResumableReplay]:
    """Return the changes within limits from a state on, and the reading that found them.

    It stops after so many changes, if there is a *number*.
    """
    replay = start.copy()
    is_open = replay.loader.has_open_transaction
    listener = _Listener(replay.image, selection, limits.after, is_open=is_open)
    changes = listener.changes

    def rest() -> bool:
        if number is None or len(changes) < number:
            return False
        return replay.last_offset >= changes[number - 1].offset + _MORE

    beyond = replay.read(replays.files, limits, rest=rest, listen=listener.listen)
    if beyond is not None:
        replay.read_cut(replays.files, limits, listener.listen)
    return changes, replay
