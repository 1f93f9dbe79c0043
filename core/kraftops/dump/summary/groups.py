"""The groups of `__consumer_offsets`: their state, and the offsets that they have committed.

Of each key the record with the highest offset counts, and a tombstone leaves nothing. Offsets of a
transaction count once a marker has committed it (Kafka's `OffsetMetadataManager`); states are told
by what is in the log, as `ClassicGroup`, `ConsumerGroup`, `ShareGroup` and `StreamsGroup` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kraftops.display.times import time_fields
from kraftops.dump.summary.sketches import Kept
from kraftops.errors import DecodeError
from kraftops.java.text import decode_utf8
from kraftops.log.batch import Record
from kraftops.records.decoders.keyed import key_head
from kraftops.records.decoders.offsets import DECODER

MOST_KEYS = 100_000
"""Keys, of all groups together, of which the state is kept; whole groups are left out beyond."""

_MOST_PENDING = 100_000  # offsets in open transactions, and producers with markers
_STABLE_MEMBER = 0  # `MemberState.STABLE`

Fact = tuple[Any, ...]
_Fields = Mapping[str, Any]
_Facts = dict[bytes, tuple[int, Fact | None]]
"""By a key without its group: the offset of the record, and what it says; None is a tombstone."""


class Change(NamedTuple):
    """The change of a group by a record."""

    group: bytes
    key: bytes
    offset: int
    fact: Fact | None


class _Kind(NamedTuple):
    """A kind of group: the types of its records, as they lie in keys; empty where it has none."""

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
_FACTS: dict[int, Callable[[_Fields], Fact]] = {
    0: lambda value: (value["offset"], -1, value["commitTimestamp"]),
    1: lambda value: (value["offset"], value.get("leaderEpoch", -1), value["commitTimestamp"]),
    2: lambda value: (value["generation"], len(value["members"]), value["protocolType"]),
    **dict.fromkeys((3, 11, 17, 23), lambda value: (value["epoch"],)),
    **dict.fromkeys((5, 10, 19), lambda _: ()),
    **dict.fromkeys((6, 20), lambda value: (value["assignmentEpoch"],)),
    **dict.fromkeys((8, 22), lambda value: (value["memberEpoch"], value["state"])),
}
"""What is kept of a value, by record type; of other types nothing is."""


def read_change(record: Record) -> Change | None:
    """Return what a record says of a group, or None if that is nothing that is kept.

    Raises:
        DecodeError: key or value cannot be read.
    """
    number, end = key_head(record.key)
    key = record.key or b""
    if number not in _FACTS:
        if number in DECODER.messages():
            return None
        raise DecodeError(f"unknown record type {number}")
    if number in (0, 1):
        rest = _OFFSET + key[end : _topic_partition_end(key, end)]  # type 0 is an older form of 1
    else:
        rest = key[:2] + key[end:]
    fact = None
    if record.value is not None:
        fact = _FACTS[number](DECODER.read_value(number, record.value))
    return Change(key[4:end], rest, record.offset, fact)


def _topic_partition_end(key: bytes, start: int) -> int:
    """Return where the topic and the partition end that begin at *start*."""
    size = int.from_bytes(key[start : start + 2], signed=True)
    end = start + 2 + size + 4
    if size < 0 or end > len(key):
        raise DecodeError("a key that is cut short")
    return end


class Groups:
    """The groups in a log; see `kraftops.dump.summary.sketches` for how parts are put together."""

    def __init__(self) -> None:
        self.groups: Kept[bytes, _Facts] = Kept(MOST_KEYS, len)
        self.pending: dict[int, list[Change]] = {}  # by producer, in an open transaction
        self.first_ends: dict[int, bool] = {}  # by producer: its first marker, if it commits
        self.is_whole = True
        self._pending_count = 0

    def see(self, record: Record, producer_id: int) -> None:
        """Count a record; in a transaction unless *producer_id* is -1.

        Raises:
            DecodeError: it cannot be read.
        """
        change = read_change(record)
        if change:
            self.add(change, producer_id)

    def add(self, change: Change, producer_id: int) -> None:
        """Count what a record says; in a transaction unless *producer_id* is -1."""
        if producer_id < 0:
            self._apply(change)
        elif self._pending_count < _MOST_PENDING:
            self.pending.setdefault(producer_id, []).append(change)
            self._pending_count += 1
        else:
            self.is_whole = False

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        """See the marker of a transaction."""
        if len(self.first_ends) < _MOST_PENDING:
            self.first_ends.setdefault(producer_id, is_commit)
        changes = self.pending.pop(producer_id, [])
        self._pending_count -= len(changes)
        for change in changes:
            if is_commit:
                self._apply(change)

    def merge(self, later: Groups) -> None:
        """Add what a later part of the log has."""
        for producer_id, is_commit in later.first_ends.items():
            self.end(producer_id, is_commit=is_commit)
        self.groups.merge(later.groups, _update)
        for producer_id, changes in later.pending.items():
            self.pending.setdefault(producer_id, []).extend(changes)
            self._pending_count += len(changes)
        self.is_whole = self.is_whole and later.is_whole

    def fields(self) -> dict[str, Any]:
        """Return the fields of a summary."""
        return {"groups": self.as_dict()}

    def as_dict(self) -> dict[str, Any]:
        """Return the groups that are there at the end of the log."""
        self.groups.trim()
        found = [
            _row(group, {key: fact for key, (_, fact) in facts.items() if fact is not None})
            for group, facts in sorted(self.groups.items())
            if any(fact is not None for _, fact in facts.values())
        ]
        return {
            "count": len(found),
            "exact": self.is_whole and self.groups.is_whole,
            "pendingOffsets": self._pending_count,
            "groups": found,
        }

    def _apply(self, change: Change) -> None:
        group, key, offset, fact = change
        facts = self.groups.get(group)
        if facts is None:
            self.groups.put(group, {key: (offset, fact)})
        elif key not in facts:
            facts[key] = (offset, fact)
            self.groups.grow(1)
        elif facts[key][0] <= offset:
            facts[key] = (offset, fact)


def _update(ours: _Facts, later: _Facts) -> None:
    for key, (offset, fact) in later.items():
        if key not in ours or ours[key][0] <= offset:
            ours[key] = (offset, fact)


def _row(group: bytes, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    kind = next((kind for kind in _KINDS if _has_any(facts, kind[1:])), None)
    own = () if kind is None else facts.get(kind.group, ())
    is_classic = kind is not None and kind.name == "classic"
    members = len(list(_of(facts, kind.member if kind else b"")))
    if is_classic:
        members = own[1]
    return {
        "group": decode_utf8(group),
        "kind": kind.name if kind else "simple",
        "state": _state(kind, facts, members),
        "epoch": own[0] if own else None,
        "members": members,
        "protocolType": own[2] if is_classic else None,
        "offsets": _offsets(facts),
    }


def _state(kind: _Kind | None, facts: Mapping[bytes, Fact], members: int) -> str:
    if kind is None or not members:
        return "Empty"
    if not kind.target:
        return "Stable"
    if kind.topology and kind.topology not in facts:
        return "NotReady"
    target = facts.get(kind.target, (0,))[0]
    if facts.get(kind.group, (0,))[0] > target:
        return "Assigning"
    current = dict(_of(facts, kind.current))
    is_stable = all(
        current.get(member) == (target, _STABLE_MEMBER) for member, _ in _of(facts, kind.member)
    )
    return "Stable" if is_stable else "Reconciling"


def _offsets(facts: Mapping[bytes, Fact]) -> list[dict[str, Any]]:
    """Return the offsets of a group, by topic and partition."""
    found = []
    for key, (offset, leader_epoch, time) in _of(facts, _OFFSET):
        topic, partition = decode_utf8(key[2:-4]), int.from_bytes(key[-4:], signed=True)
        epoch = None if leader_epoch < 0 else leader_epoch
        found.append(
            {
                "topic": topic,
                "partition": partition,
                "offset": offset,
                "leaderEpoch": epoch,
                **time_fields("committed", time),
            }
        )
    return sorted(found, key=lambda row: (row["topic"], row["partition"]))


def _of(facts: Mapping[bytes, Fact], code: bytes) -> Iterator[tuple[bytes, Fact]]:
    """Yield the facts of a record type, by what is left of their keys."""
    for key, fact in facts.items():
        if code and key.startswith(code):
            yield key[len(code) :], fact


def _has_any(facts: Mapping[bytes, Fact], codes: tuple[str | bytes, ...]) -> bool:
    return any(key[:2] in codes for key in facts)
