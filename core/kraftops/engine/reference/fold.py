"""The state of a metadata log, folded record by record; each of them is decoded."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from kraftops.engine.fold_contract import (
    Bounds,
    BrokerEntry,
    Fetch,
    Fold,
    Look,
    Newest,
    PartitionState,
    Ran,
    Stop,
    Tables,
    TopicEntry,
    Touch,
    Watch,
)
from kraftops.engine.reference.folding import aggregates as looking
from kraftops.engine.reference.folding import rules
from kraftops.engine.reference.folding.state import Partition, State, Unit
from kraftops.errors import DecodeError
from kraftops.log.batch import read_record
from kraftops.records.metadata_numbers import TRANSACTION_MARKERS


class ReferenceFold:
    """The state that records make; a `kraftops.engine.fold_contract.Fold`."""

    def __init__(self, dialect: str, fetch: Fetch) -> None:
        """Begin with nothing.

        Args:
            dialect: how records are framed and numbered.
            fetch: gives the bytes of a batch when it is needed again.

        Raises:
            UsageError: there is no such dialect.
        """
        self.state = State(dialect, fetch)
        """For this engine alone."""
        self._dropped: array[int] = array("q")  # a hostile log can have millions
        self._reasons: list[str] = []
        self._known_reasons: dict[str, str] = {}

    def begin_unit(self) -> None:
        """See `Fold`."""
        self.state.unit = Unit({}, {}, {}, {})

    def seed(self, *, is_seeded: bool) -> None:
        """See `Fold`."""
        self.state.is_seeded = is_seeded

    def apply(self, data: bytes, address: int, position: int, number: int, stop: int) -> Stop:
        """See `Fold`."""
        state = self.state
        last, marker, is_odd, is_touched = position, None, False, False
        applied = dropped = unreadable = 0
        state.hold(address, data)
        try:
            while number < stop and marker is None and not is_touched:
                state.touches.clear()
                try:
                    record, end = read_record(data, position, 0, 0)
                except DecodeError:
                    is_odd = True
                    break
                found = state.read(record)
                if isinstance(found, str):
                    self.drop(address + position, found)
                    dropped, unreadable = dropped + 1, unreadable + 1
                elif found[0] in TRANSACTION_MARKERS:
                    marker = found[0]
                else:
                    reason = rules.apply(state, *found, address + position)
                    if reason is None:
                        applied += 1
                    else:
                        self.drop(address + position, reason)
                        dropped += 1
                is_touched = bool(state.touches)
                number, last, position = number + 1, position, end
        finally:
            state.let_go()
        return Stop(
            position, number, last, marker, is_odd, is_touched, applied, dropped, unreadable
        )

    def skim(self, data: bytes, position: int, number: int, stop: int) -> Stop:
        """See `Fold`."""
        last, marker, is_odd, unreadable = position, None, False, 0
        while number < stop and marker is None:
            try:
                record, end = read_record(data, position, 0, 0)
            except DecodeError:
                is_odd = True
                break
            found = self.state.read(record)
            if isinstance(found, str):
                unreadable += 1
            elif found[0] in TRANSACTION_MARKERS:
                marker = found[0]
            number, last, position = number + 1, position, end
        return Stop(position, number, last, marker, is_odd, False, 0, 0, unreadable)

    def run(self, window: bytes, start: int, first: int, bounds: Bounds) -> Ran:  # noqa: ARG002
        """See `Fold`; it leaves all batches to `apply`."""
        return Ran(start, b"", [], None, None)

    def drop(self, address: int, reason: str) -> None:
        """See `Fold`."""
        self._dropped.append(address)
        self._reasons.append(self._known_reasons.setdefault(reason, reason))

    @property
    def dropped(self) -> int:
        """See `Fold`."""
        return len(self._dropped)

    def dropped_record(self, number: int) -> tuple[int, str]:
        """See `Fold`."""
        return self._dropped[number], self._reasons[number]

    def forget_dropped(self) -> None:
        """See `Fold`."""
        del self._dropped[:], self._reasons[:]
        self._known_reasons.clear()

    def watch(self, watches: Sequence[Watch]) -> None:
        """See `Fold`."""
        self.state.touches.watch(watches)

    def touched(self) -> list[Touch]:
        """See `Fold`."""
        return self.state.touches.found

    def topic_names(self) -> dict[str, bytes]:
        """See `Fold`."""
        return dict(self.state.topic_ids)

    def topic_ids(self) -> list[bytes]:
        """See `Fold`."""
        return list(self.state.topics)

    def topic_id(self, name: str) -> bytes | None:
        """See `Fold`."""
        return self.state.topic_ids.get(name)

    def topic(self, topic_id: bytes) -> TopicEntry | None:
        """See `Fold`."""
        found = self.state.topics.get(topic_id)
        return None if found is None else TopicEntry(found.name, found.address, found.is_deleting)

    def partition_count(self, topic_id: bytes | None = None) -> int:
        """See `Fold`."""
        if topic_id is not None:
            return len(self._partitions(topic_id))
        return sum(len(topic.partitions) for topic in self.state.topics.values())

    def topic_count(self) -> int:
        """See `Fold`."""
        return len(self.state.topics)

    def numbers(self, topic_id: bytes) -> list[int]:
        """See `Fold`."""
        return sorted(self._partitions(topic_id))

    def newest(self, topic_id: bytes, number: int) -> Newest | None:
        """See `Fold`."""
        found = self._partitions(topic_id).get(number)
        return None if found is None else found.newest

    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> Newest | None:
        """See `Fold`."""
        other = None if exact is None else _state_of(exact)
        return looking.newest_below(self.state, topic_id, other)

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        """See `Fold`."""
        found = self._partitions(topic_id).get(number)
        return None if found is None else self.state.of_partition(found)

    def partitions(self, topic_id: bytes) -> list[tuple[int, PartitionState]]:
        """See `Fold`."""
        each = sorted(self._partitions(topic_id).items())
        return [(number, self.state.of_partition(found)) for number, found in each]

    def states(self, chosen: Sequence[tuple[bytes, int]]) -> list[PartitionState | None]:
        """See `Fold`."""
        return [self.partition(*one) for one in chosen]

    def count(self, look: Look) -> int:
        """See `Fold`."""
        return sum(map(len, self.having(look).values()))

    def having(self, look: Look) -> dict[bytes, list[int]]:
        """See `Fold`."""
        wanted = int(look)
        return looking.choose(self.state, lambda found: bool(found.looks & wanted))

    def suspects(self, directories: Mapping[int, Sequence[bytes]]) -> dict[bytes, list[int]]:
        """See `Fold`."""
        return looking.suspects(self.state, directories)

    def different(self, other: Fold) -> dict[bytes, list[int]]:
        """See `Fold`."""
        return looking.different(self.state, _state_of(other))

    def holdings(self) -> dict[int, dict[bytes, int]]:
        """See `Fold`."""
        return looking.holdings(self.state)

    def brokers(self) -> dict[int, BrokerEntry]:
        """See `Fold`."""
        return {number: found.entry() for number, found in self.state.brokers.items()}

    def tables(self) -> Tables:
        """See `Fold`."""
        tables = self.state.tables
        return tables._replace(
            controllers=dict(tables.controllers),
            failed_replicas=dict(tables.failed_replicas),
            configs={whom: dict(keys) for whom, keys in tables.configs.items()},
            quotas={whom: dict(keys) for whom, keys in tables.quotas.items()},
            acls=dict(tables.acls),
            scram={mechanism: dict(users) for mechanism, users in tables.scram.items()},
            tokens=dict(tables.tokens),
            features=dict(tables.features),
        )

    def _partitions(self, topic_id: bytes) -> Mapping[int, Partition]:
        topic = self.state.topics.get(topic_id)
        return {} if topic is None else topic.partitions


def _state_of(fold: Fold) -> State:
    """Return the state of a fold by this engine."""
    assert isinstance(fold, ReferenceFold)
    return fold.state
