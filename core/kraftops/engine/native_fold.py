"""The compiled engine's fold: what it is told of the rules, and its answers as the contract's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ParamSpec, TypeVar

from kraftops.engine import _native
from kraftops.engine.fold_contract import (
    KEPT_LEADER,
    QUORUM_FEATURE,
    RECOVERY_STATES,
    SECURITY_PROTOCOLS,
    TOPIC_RESOURCE,
    VERSION_FEATURE,
    VERSION_LEVELS,
    BatchHead,
    Bounds,
    BrokerEntry,
    Fetch,
    Fold,
    Look,
    Newest,
    PartitionState,
    Ran,
    Seen,
    Stop,
    Tables,
    TopicEntry,
    Touch,
    Watch,
)
from kraftops.errors import DecodeError, KraftopsError
from kraftops.schema.tables.metadata import MESSAGES

P = ParamSpec("P")
T = TypeVar("T")

_PARTITION = (
    "partitionId",
    "topicId",
    "replicas",
    "isr",
    "removingReplicas",
    "addingReplicas",
    "leader",
    "leaderRecoveryState",
    "leaderEpoch",
    "partitionEpoch",
    "directories",
    "eligibleLeaderReplicas",
    "lastKnownElr",
)
_RULES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "RegisterBrokerRecord": ("register broker", ("brokerId", "brokerEpoch")),
    "UnregisterBrokerRecord": ("unregister broker", ("brokerId",)),
    "TopicRecord": ("put topic", ("topicId", "name")),
    "PartitionRecord": ("put partition", _PARTITION),
    "ConfigRecord": ("put config", ("resourceType", "resourceName", "name", "value")),
    "PartitionChangeRecord": ("change partition", _PARTITION),
    "FenceBrokerRecord": ("fence broker", ("id", "epoch")),
    "UnfenceBrokerRecord": ("unfence broker", ("id", "epoch")),
    "RemoveTopicRecord": ("remove topic", ("topicId",)),
    "DelegationTokenRecord": ("put token", ("tokenId",)),
    "UserScramCredentialRecord": ("put scram", ("mechanism", "name")),
    "FeatureLevelRecord": ("put feature", ("name", "featureLevel")),
    "ClientQuotaRecord": ("put quota", ("entity", "key", "remove")),
    "ProducerIdsRecord": ("put producer ids", ()),
    "BrokerRegistrationChangeRecord": (
        "change broker",
        ("brokerId", "brokerEpoch", "fenced", "inControlledShutdown", "logDirs", "cordonedLogDirs"),
    ),
    "AccessControlEntryRecord": ("put acl", ("id",)),
    "RemoveAccessControlEntryRecord": ("remove acl", ("id",)),
    "NoOpRecord": ("nothing", ()),
    "ZkMigrationStateRecord": ("nothing", ()),
    "RemoveUserScramCredentialRecord": ("remove scram", ("mechanism", "name")),
    "BeginTransactionRecord": ("begin transaction", ()),
    "EndTransactionRecord": ("end transaction", ()),
    "AbortTransactionRecord": ("abort transaction", ()),
    "RemoveDelegationTokenRecord": ("remove token", ("tokenId",)),
    "RegisterControllerRecord": ("register controller", ("controllerId", "endPoints")),
    "ClearElrRecord": ("clear elr", ("topicName",)),
}
"""What each record does, in the engine's words, and the fields that this takes, in its order."""


@cache
def _rules() -> _native.Rules:
    return _native.Rules(
        [
            {"number": message.key, "message": message, "op": op, "fields": list(fields)}
            for name, (op, fields) in _RULES.items()
            for message in (MESSAGES[name],)
        ]
    )


_LIMITS: dict[str, Any] = {
    "version_name": VERSION_FEATURE,
    "levels": (VERSION_LEVELS.start, VERSION_LEVELS.stop - 1),
    "quorum_name": QUORUM_FEATURE,
    "topic_resource": TOPIC_RESOURCE,
    "protocols": SECURITY_PROTOCOLS.stop,
    "recoveries": RECOVERY_STATES.stop,
    "kept_leader": KEPT_LEADER,
}


def index_records(data: bytes, position: int, number: int, stop: int) -> list[Seen]:
    """Return what records are; see `kraftops.engine.choice.index_records`."""
    return list(map(Seen._make, _rules().index(data, position, number, stop)))


class NativeFold:
    """A `kraftops.engine.fold_contract.Fold`, which says what each of these does."""

    def __init__(self, fetch: Fetch) -> None:
        """Begin with nothing; *fetch* gives the bytes of a batch when it is needed again."""
        self.native = _native.Fold(_rules(), _LIMITS, fetch)
        """For this engine alone."""

    def begin_unit(self) -> None:
        """See `Fold`, as for all that follow."""
        self.native.begin_unit()

    def seed(self, *, is_seeded: bool) -> None:
        """See `Fold`."""
        self.native.seed(is_seeded)

    def apply(self, data: bytes, address: int, position: int, number: int, stop: int) -> Stop:
        """See `Fold`."""
        return Stop._make(_asked(self.native.apply, data, address, position, number, stop))

    def skim(self, data: bytes, position: int, number: int, stop: int) -> Stop:
        """See `Fold`."""
        return Stop._make(_asked(self.native.skim, data, position, number, stop))

    def run(self, window: bytes, start: int, first: int, bounds: Bounds) -> Ran:
        """See `Fold`."""
        following, batches, transactions, last, inside = _asked(
            self.native.run, window, start, first, bounds
        )
        return Ran(
            following,
            batches,
            transactions,
            None if last is None else BatchHead._make(last),
            None if inside is None else Stop._make(inside),
        )

    def drop(self, address: int, reason: str) -> None:
        """See `Fold`."""
        self.native.drop(address, reason)

    @property
    def dropped(self) -> int:
        """See `Fold`."""
        return self.native.dropped

    def dropped_record(self, number: int) -> tuple[int, str]:
        """See `Fold`."""
        return self.native.dropped_record(number)

    def forget_dropped(self) -> None:
        """See `Fold`."""
        self.native.forget_dropped()

    def watch(self, watches: Sequence[Watch]) -> None:
        """See `Fold`."""
        self.native.watch([(table, key) for table, key in watches])

    def touched(self) -> list[Touch]:
        """See `Fold`."""
        return list(map(Touch._make, self.native.touched()))

    def topic_names(self) -> dict[str, bytes]:
        """See `Fold`."""
        return self.native.topic_names()

    def topic_ids(self) -> list[bytes]:
        """See `Fold`."""
        return self.native.topic_ids()

    def topic_id(self, name: str) -> bytes | None:
        """See `Fold`."""
        return None if _has_surrogates(name) else self.native.topic_id(name)

    def topic(self, topic_id: bytes) -> TopicEntry | None:
        """See `Fold`."""
        found = self.native.topic(topic_id)
        return None if found is None else TopicEntry(*found)

    def partition_count(self, topic_id: bytes | None = None) -> int:
        """See `Fold`."""
        return self.native.partition_count(topic_id)

    def topic_count(self) -> int:
        """See `Fold`."""
        return self.native.topic_count()

    def numbers(self, topic_id: bytes) -> list[int]:
        """See `Fold`."""
        return self.native.numbers(topic_id)

    def newest(self, topic_id: bytes, number: int) -> Newest | None:
        """See `Fold`."""
        if not -_INT32 <= number < _INT32:
            return None
        return _newest(self.native.newest(topic_id, number))

    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> Newest | None:
        """See `Fold`."""
        return _newest(self.native.newest_below(topic_id, _native_of(exact) if exact else None))

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        """See `Fold`."""
        if not -_INT32 <= number < _INT32:
            return None
        found = _asked(self.native.partition, topic_id, number)
        return None if found is None else PartitionState._make(found)

    def partitions(self, topic_id: bytes) -> list[tuple[int, PartitionState]]:
        """See `Fold`."""
        found = _asked(self.native.partitions, topic_id)
        return [(number, PartitionState._make(state)) for number, state in found]

    def states(self, chosen: Sequence[tuple[bytes, int]]) -> list[PartitionState | None]:
        """See `Fold`."""
        found = _asked(self.native.states, list(chosen))
        return [None if state is None else PartitionState._make(state) for state in found]

    def count(self, look: Look) -> int:
        """See `Fold`."""
        return self.native.count(look)

    def having(self, look: Look) -> dict[bytes, list[int]]:
        """See `Fold`."""
        return dict(self.native.having(look))

    def suspects(self, directories: Mapping[int, Sequence[bytes]]) -> dict[bytes, list[int]]:
        """See `Fold`."""
        known = {broker: list(ids) for broker, ids in directories.items()}
        return dict(_asked(self.native.suspects, known))

    def different(self, other: Fold) -> dict[bytes, list[int]]:
        """See `Fold`."""
        return dict(_asked(self.native.different, _native_of(other)))

    def holdings(self) -> dict[int, dict[bytes, int]]:
        """See `Fold`."""
        return _asked(self.native.holdings)

    def brokers(self) -> dict[int, BrokerEntry]:
        """See `Fold`."""
        return {
            broker: BrokerEntry(epoch, tuple(addresses), Newest(*newest))
            for broker, epoch, addresses, newest in self.native.brokers()
        }

    def tables(self) -> Tables:
        """See `Fold`."""
        controllers, *others = self.native.tables()
        return Tables(controllers, {}, *others)


_INT32 = 1 << 31


def _asked(ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the engine says.

    Raises:
        DecodeError: a record is not where it was.
        KraftopsError: the engine failed, which is a bug of it.
    """
    try:
        return ask(*args, **kwargs)
    except LookupError as error:
        raise DecodeError(str(error)) from None
    except RuntimeError as error:
        hint = "KRAFTOPS_ENGINE=reference reads it slower"
        raise KraftopsError(str(error), hint=hint) from error


def _newest(found: tuple[int, int, bool] | None) -> Newest | None:
    return None if found is None else Newest._make(found)


def _has_surrogates(text: str) -> bool:
    """Tell whether a text is none that a record can have."""
    return not text.isascii() and any("\ud800" <= one <= "\udfff" for one in text)


def _native_of(fold: Fold) -> _native.Fold:
    assert isinstance(fold, NativeFold)
    return fold.native
