"""What the metadata log of a running cluster says of its brokers, topics and features now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kraftops.errors import DecodeError, WireError
from kraftops.log.batch import records
from kraftops.records.meaning import Decoded
from kraftops.records.metadata import decode
from kraftops.wire.addresses import Address
from kraftops.wire.fetching import SnapshotId
from kraftops.wire.livelog import Begins, CaughtUp, Event, LiveBatch, LiveLog

Data = dict[str, Any]
"""The fields of a record, by Kafka's names."""


@dataclass(frozen=True, slots=True)
class BrokerState:
    """A registration; directory ids are 16 bytes each."""

    node_id: int
    is_fenced: bool
    in_shutdown: bool
    rack: str | None
    listeners: tuple[tuple[str, Address], ...]
    directories: tuple[bytes, ...]


class LiveState(NamedTuple):
    """The state up to *offset*, the next to come, which the snapshot that is named began."""

    brokers: dict[int, BrokerState]
    features: dict[str, int]
    replicas: dict[int, Counter[str]]
    snapshot: SnapshotId | None
    offset: int


def live_state(log: LiveLog) -> LiveState:
    """Return the state to the high watermark.

    Raises:
        WireError: what `LiveLog.read` raises, or a record cannot be read.
        AnswerError: it is not permitted to read the log.
    """
    return state_of(log.read())


def state_of(events: Iterable[Event]) -> LiveState:
    """Return the state that events of a log make.

    Raises:
        WireError: a record cannot be read.
    """
    replay = _Replay()
    snapshot: SnapshotId | None = None
    offset = 0
    for event in events:
        match event:
            case Begins():
                replay, snapshot = _Replay(), event.snapshot
            case LiveBatch():
                for record_type, data in _records(event):
                    replay.apply(record_type, data)
            case CaughtUp():
                offset = event.offset
    return LiveState(replay.brokers, replay.features, replay.replicas(), snapshot, offset)


def _records(event: LiveBatch) -> Iterator[tuple[str, Data]]:
    """Yield type and fields of the records of a batch that are known here."""
    if event.batch.header.is_control:
        return
    try:
        for record in records(event.batch):
            found = decode(record.value)
            if isinstance(found, Decoded):
                yield found.type, found.data
    except DecodeError as error:
        raise WireError(f"{event.endpoint}: a batch of metadata: {error.message}") from error


@dataclass(slots=True)
class _Replay:
    brokers: dict[int, BrokerState] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    _topics: dict[bytes, str] = field(default_factory=dict)
    _partitions: dict[bytes, dict[int, list[int]]] = field(default_factory=dict)
    _held_back: list[tuple[str, Data]] | None = None  # of an open transaction (KIP-868)

    def apply(self, record_type: str, data: Data) -> None:
        if record_type == "BEGIN_TRANSACTION_RECORD":
            self._held_back = []
        elif record_type in ("END_TRANSACTION_RECORD", "ABORT_TRANSACTION_RECORD"):
            held, self._held_back = self._held_back or [], None
            for each in held if record_type.startswith("END") else ():
                self.apply(*each)
        elif self._held_back is not None:
            self._held_back.append((record_type, data))
        elif record_type in _APPLY:
            _APPLY[record_type](self, data)

    def replicas(self) -> dict[int, Counter[str]]:
        held: dict[int, Counter[str]] = {}
        for topic_id, partitions in self._partitions.items():
            name = self._topics.get(topic_id, "?")
            for brokers in partitions.values():
                for broker in brokers:
                    held.setdefault(broker, Counter())[name] += 1
        return held

    def register(self, data: Data) -> None:
        self.brokers[data["brokerId"]] = BrokerState(
            node_id=data["brokerId"],
            is_fenced=data["fenced"],
            in_shutdown=data.get("inControlledShutdown", False),
            rack=data["rack"],
            listeners=tuple(
                (each["name"], Address(each["host"], each["port"])) for each in data["endPoints"]
            ),
            directories=tuple(data.get("logDirs") or ()),
        )

    def unregister(self, data: Data) -> None:
        self.brokers.pop(data["brokerId"], None)

    def fence(self, data: Data) -> None:
        self._update(data["id"], is_fenced=True)

    def unfence(self, data: Data) -> None:
        self._update(data["id"], is_fenced=False)

    def change(self, data: Data) -> None:
        broker = data["brokerId"]
        if fenced := data.get("fenced"):  # 1 and -1, 0 for no change
            self._update(broker, is_fenced=fenced > 0)
        if data.get("inControlledShutdown", 0) > 0:
            self._update(broker, in_shutdown=True)
        if directories := data.get("logDirs"):
            self._update(broker, directories=tuple(directories))

    def _update(self, broker: int, **changes: Any) -> None:
        if broker in self.brokers:
            self.brokers[broker] = replace(self.brokers[broker], **changes)

    def name_topic(self, data: Data) -> None:
        self._topics[data["topicId"]] = data["name"]

    def remove_topic(self, data: Data) -> None:
        self._topics.pop(data["topicId"], None)
        self._partitions.pop(data["topicId"], None)

    def place_partition(self, data: Data) -> None:
        if (replicas := data.get("replicas")) is not None:
            partitions = self._partitions.setdefault(data["topicId"], {})
            partitions[data["partitionId"]] = list(replicas)

    def set_feature(self, data: Data) -> None:
        self.features[data["name"]] = data["featureLevel"]


_APPLY: dict[str, Callable[[_Replay, Data], None]] = {
    "REGISTER_BROKER_RECORD": _Replay.register,
    "UNREGISTER_BROKER_RECORD": _Replay.unregister,
    "FENCE_BROKER_RECORD": _Replay.fence,
    "UNFENCE_BROKER_RECORD": _Replay.unfence,
    "BROKER_REGISTRATION_CHANGE_RECORD": _Replay.change,
    "TOPIC_RECORD": _Replay.name_topic,
    "REMOVE_TOPIC_RECORD": _Replay.remove_topic,
    "PARTITION_RECORD": _Replay.place_partition,
    "PARTITION_CHANGE_RECORD": _Replay.place_partition,
    "FEATURE_LEVEL_RECORD": _Replay.set_feature,
}
