"""The groups of `__consumer_offsets`: their states and committed offsets.

The record with the highest offset of each key counts, and a tombstone removes the key. Offsets of a
transaction count after its commit marker (Kafka's `OffsetMetadataManager`). States follow from the
records as in `ClassicGroup`, `ConsumerGroup`, `ShareGroup` and `StreamsGroup`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from kraftops.dump.summary.sketches import SampledDict
from kraftops.errors import DecodeError
from kraftops.java.text import decode_utf8
from kraftops.log.batch import Record
from kraftops.records.decoders.keyed import key_head
from kraftops.records.decoders.offsets import DECODER

MOST_KEYS = 100_000
"""Keys of all groups together, in about 30 MB (measured); beyond it, whole groups are dropped."""

_MOST_PENDING = 100_000  # offsets in open transactions, and producers with markers, likewise
_STABLE_MEMBER = 0  # `MemberState.STABLE`

Value = tuple[Any, ...]
"""The fields of a record's value that a summary needs."""
_Fields = Mapping[str, Any]
_Values = Mapping[bytes, Value]
_Entries = dict[bytes, tuple[int, Value | None]]
"""By a key without its group: the offset and the value of the record; None is a tombstone."""


class GroupChange(NamedTuple):
    """The change of a group by a record; *value* is None for a tombstone."""

    group: bytes
    key: bytes
    offset: int
    value: Value | None


class _Kind(NamedTuple):
    """A kind of group, and the record types of its keys (int16); empty where it has none."""

    name: str
    group: bytes
    member: bytes = b""
    target: bytes = b""
    current: bytes = b""
    topology: bytes = b""


_KINDS = (
    _Kind("consumer", b"\0\x03", b"\0\x05", b"\0\x06", b"\0\x08"),
    _Kind("streams", b"\0\x11", b"\0\x13", b"\0\x14", b"\0\x16", b"\0\x17"),
    _Kind("share", b"\0\x0b", b"\0\x0a"),
    _Kind("classic", b"\0\x02"),
)
_OFFSET = b"\0\x01"
_VALUES: dict[int, Callable[[_Fields], Value]] = {
    0: lambda value: (value["offset"], -1, value["commitTimestamp"]),
    1: lambda value: (value["offset"], value.get("leaderEpoch", -1), value["commitTimestamp"]),
    2: lambda value: (value["generation"], len(value["members"]), value["protocolType"]),
    **dict.fromkeys((3, 11, 17, 23), lambda value: (value["epoch"],)),
    **dict.fromkeys((5, 10, 19), lambda _: ()),
    **dict.fromkeys((6, 20), lambda value: (value["assignmentEpoch"],)),
    **dict.fromkeys((8, 22), lambda value: (value["memberEpoch"], value["state"])),
}
"""By record type, a function that picks the needed fields of a value; other types are skipped."""


_OF_MEMBERS = frozenset({5, 8, 10, 19, 22})
"""Record types whose keys name a member, after the group."""


def read_group_change(record: Record) -> GroupChange | None:
    """Return the change by a record; None for a record type that does not count.

    Raises:
        DecodeError: key or value cannot be read.
    """
    number, end = key_head(record.key)
    key = record.key or b""
    if number not in _VALUES:
        if number in DECODER.messages():
            return None
        raise DecodeError(f"unknown record type {number}")
    if number in (0, 1):
        rest = _OFFSET + key[end : _topic_partition_end(key, end)]  # type 0 is an older form of 1
    elif number in _OF_MEMBERS:
        rest = key[:2] + key[end:]
    else:  # Kafka ignores what follows the group (`GroupMetadataKey` and its like)
        rest = key[:2]
    value = None
    if record.value is not None:
        value = _VALUES[number](DECODER.read_value(number, record.value))
    return GroupChange(key[4:end], rest, record.offset, value)


def _topic_partition_end(key: bytes, start: int) -> int:
    size = int.from_bytes(key[start : start + 2], signed=True)
    end = start + 2 + size + 4
    if size < 0 or end > len(key):
        raise DecodeError("a key that is cut short")
    return end


class CommittedOffset(NamedTuple):
    """A committed offset; *committed* is its time in ms."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int | None
    committed: int
    end_offset: int | None = None
    """Of the log that it is of, by `fields_of`, as what follows."""
    end_file: str | None = None
    lag: int | None = None


class Group(NamedTuple):
    """A group by its records, as they follow each other in the log."""

    group: str
    kind: str
    state: str
    epoch: int | None
    members: int
    protocol_type: str | None
    offsets: list[CommittedOffset]


class Groups:
    """The groups in a log; see `kraftops.dump.summary.sketches` for the merging of parts."""

    def __init__(self) -> None:
        self.groups: SampledDict[bytes, _Entries] = SampledDict(MOST_KEYS, len)
        self.pending: dict[int, list[GroupChange]] = {}  # by producer, in an open transaction
        self.first_markers: dict[int, bool] = {}  # by producer: whether its first marker commits
        self._has_all_pending = True
        self.pending_count = 0

    def add_record(self, record: Record, producer_id: int) -> None:
        """Count a record; in a transaction unless *producer_id* is -1.

        Raises:
            DecodeError: it cannot be read.
        """
        change = read_group_change(record)
        if change:
            self.add(change, producer_id)

    def add(self, change: GroupChange, producer_id: int) -> None:
        """Count a change; in a transaction unless *producer_id* is -1."""
        if producer_id < 0:
            self._apply(change)
        elif self.pending_count < _MOST_PENDING:
            self.pending.setdefault(producer_id, []).append(change)
            self.pending_count += 1
        else:
            self._has_all_pending = False

    def add_marker(self, producer_id: int, *, is_commit: bool) -> None:
        """End a transaction: apply its changes if it commits."""
        if len(self.first_markers) < _MOST_PENDING:
            self.first_markers.setdefault(producer_id, is_commit)
        changes = self.pending.pop(producer_id, [])
        self.pending_count -= len(changes)
        for change in changes:
            if is_commit:
                self._apply(change)

    def merge(self, later: Groups) -> None:
        for producer_id, is_commit in later.first_markers.items():
            self.add_marker(producer_id, is_commit=is_commit)
        self.groups.merge(later.groups, _update)
        for producer_id, changes in later.pending.items():
            self.pending.setdefault(producer_id, []).extend(changes)
            self.pending_count += len(changes)
        self._has_all_pending = self._has_all_pending and later._has_all_pending

    @property
    def is_whole(self) -> bool:
        """Whether nothing was dropped."""
        return self._has_all_pending and self.groups.is_whole

    def live(self) -> Iterator[tuple[bytes, _Values]]:
        """Yield the groups that are kept by id, without removed ones, with their values."""
        for group, entries in self.groups.in_order():
            values = {key: value for key, (_, value) in entries.items() if value is not None}
            if values:
                yield group, values

    def rows(self) -> list[Group]:
        return [_group(group, values) for group, values in self.live()]

    def _apply(self, change: GroupChange) -> None:
        group, key, offset, value = change
        entries = self.groups.get(group)
        if entries is None:
            self.groups.put(group, {key: (offset, value)})
        elif key not in entries:
            entries[key] = (offset, value)
            self.groups.grow(1)
        elif entries[key][0] <= offset:
            entries[key] = (offset, value)


def _update(ours: _Entries, later: _Entries) -> None:
    for key, (offset, value) in later.items():
        if key not in ours or ours[key][0] <= offset:
            ours[key] = (offset, value)


def _group(group: bytes, values: _Values) -> Group:
    kind = next((kind for kind in _KINDS if any(key[:2] in kind[1:] for key in values)), None)
    own = () if kind is None else values.get(kind.group, ())
    is_classic = kind is not None and kind.name == "classic"
    members = len(list(_of_type(values, kind.member if kind else b"")))
    if is_classic:
        members = own[1]
    return Group(
        group=decode_utf8(group),
        kind=kind.name if kind else "simple",
        state=_state(kind, values, members),
        epoch=own[0] if own else None,
        members=members,
        protocol_type=own[2] if is_classic else None,
        offsets=sorted(_offsets(values), key=itemgetter(0, 1)),
    )


def _state(kind: _Kind | None, values: _Values, members: int) -> str:
    if kind is None or not members:
        return "Empty"
    if not kind.target:
        return "Stable"
    if kind.topology and kind.topology not in values:
        return "NotReady"
    target = values.get(kind.target, (0,))[0]
    if values.get(kind.group, (0,))[0] > target:
        return "Assigning"
    current = dict(_of_type(values, kind.current))
    is_stable = all(
        current.get(member) == (target, _STABLE_MEMBER)
        for member, _ in _of_type(values, kind.member)
    )
    return "Stable" if is_stable else "Reconciling"


def _offsets(values: _Values) -> Iterator[CommittedOffset]:
    for key, (offset, epoch, committed) in _of_type(values, _OFFSET):
        topic, partition = decode_utf8(key[2:-4]), int.from_bytes(key[-4:], signed=True)
        leader_epoch = None if epoch < 0 else epoch
        yield CommittedOffset(topic, partition, offset, leader_epoch, committed)


def _of_type(values: _Values, record_type: bytes) -> Iterator[tuple[bytes, Value]]:
    for key, value in values.items():
        if record_type and key.startswith(record_type):
            yield key[len(record_type) :], value
