"""A cluster as operations see and change it: replicas, configurations, and marks."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Concatenate, ParamSpec, TypeVar

from kraftops.errors import KraftopsError, RefusedError, UsageError
from kraftops.image.history import history
from kraftops.image.state.image import MetadataImage
from kraftops.java.numbers import parse_integer
from kraftops.placement.placement import Placement, TopicPartition, placement_of
from kraftops.reassign.marks import DECOMMISSION, Mark, begin_mark, end_marks, marks_in
from kraftops.tree.history_subjects import history_subject
from kraftops.wire.admin.configs import (
    DEFAULTS,
    ConfigChange,
    ConfigValue,
    ResourceType,
    alter_configs,
    describe_configs,
)
from kraftops.wire.admin.replicas import ask_placement, refuses_other_counts
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.rpc.cluster import sees_everything
from kraftops.wire.rpc.connection import Connection

T = TypeVar("T")
P = ParamSpec("P")

_PAUSE, _LONG_PAUSE = 1.0, 3.0
"""Seconds between two looks at a placement that may be behind, if Kafka checks counts or not."""
# For a broker behind the controllers to catch up; others may be changing it, too.
_SETTLE_SECONDS = 30.0
CORDON, ALL = "cordoned.log.dirs", "*"
"""The configuration of a broker to which no new partitions come (KIP-1066), and all its disks."""
_NONE = ConfigValue(None, is_dynamic=False)
_TOPIC, _BROKER = ResourceType.TOPIC, ResourceType.BROKER
_AT_ONCE = 1000  # topics or partitions in a request: 250 kB of the longest names


@dataclass(slots=True)
class ClusterAccess(ClusterConnections):
    """A cluster as operations see and change it: replicas, configurations, marks.

    Brokers are asked, and changed. The metadata log of the controllers, if they are given, is
    followed instead of asking a broker again and again; it also has what brokers that are down
    cannot tell.
    """

    _own_marks: set[str] = field(default_factory=set)
    """Marks that were written: a broker that is behind does not show the last ones."""
    _taking_none: frozenset[int] = frozenset()
    """Brokers that a plan gives no replicas, as they are cordoned or leave."""
    _counts: dict[TopicPartition, int] = field(default_factory=dict)

    def placement(self) -> Placement:
        """Return brokers and replicas as they are now.

        Raises:
            WireError: no server answers.
            AnswerError: it is not permitted.
        """
        by_log = self.controllers is not None
        now = placement_of(self.image()) if by_log else self.ask(ask_placement)
        for broker in self._taking_none & now.brokers.keys():
            now.brokers[broker] = now.brokers[broker]._replace(takes_replicas=False)
        return now

    def settled(self) -> Placement:
        """Look until two placements agree about how many replicas partitions have.

        A broker that is behind the controllers shows replicas that were to be removed as if they
        stayed. So the first placement is one that was seen twice, and a partition that is not
        moving must keep its number of replicas.

        Raises:
            RefusedError: it does not.
            WireError: no server answers.
        """
        placement = self.placement()
        if self.controllers is not None:
            return placement
        limit = Deadline(_SETTLE_SECONDS)
        if not self._counts:
            pause = _PAUSE if self.ask(refuses_other_counts) else _LONG_PAUSE
            while True:
                time.sleep(pause)
                before, placement = placement, self.placement()
                if _lists(before) == _lists(placement):
                    break
                if limit.is_over:
                    raise KraftopsError(
                        "the replicas of partitions keep changing",
                        hint="try again",
                        code="not-in-time",
                    )
        while odd := self._odd_counts(placement):
            if limit.is_over:
                raise RefusedError(
                    f"the number of replicas of {odd[0]} has changed",
                    hint="someone else has changed it: look at the plan again",
                )
            time.sleep(PAUSE)
            placement = self.placement()
        for partition, replicas in placement.partitions.items():
            self._counts[partition] = len(replicas.target)
        return placement

    def expect_counts(self, counts: Mapping[TopicPartition, int]) -> None:
        """Expect other numbers of replicas from now on, as a reassignment has begun them."""
        self._counts.update(counts)

    def _odd_counts(self, placement: Placement) -> list[TopicPartition]:
        """List partitions at rest whose number of replicas is not what was seen first."""
        return [
            partition
            for partition, replicas in placement.partitions.items()
            if not replicas.is_moving
            and self._counts.get(partition, len(replicas.target)) != len(replicas.target)
        ]

    def placement_for_plan(self) -> Placement:
        """Look, settled, also at cordons, for which each broker is asked.

        Before Kafka 4.3 (KIP-1066) a broker that is decommissioned has no cordon, only our mark.
        """
        values = self.broker_configs(self.placement()) if self.controllers is None else {}
        cordoned = [
            broker for broker, configs in values.items() if configs.get(CORDON, _NONE).value == ALL
        ]
        marks = self.marks().values()
        leaving = [id_ for mark in marks if mark.kind == DECOMMISSION for id_ in mark.brokers]
        self._taking_none = frozenset([*cordoned, *leaving])
        return self.settled()

    def metadata(self) -> MetadataImage | None:
        """Follow the metadata log; None if the user named brokers only.

        Raises:
            WireError: no controller answers, or it is not permitted.
        """
        return None if self.controllers is None else self.image()

    def fresh_placements(self) -> list[Placement]:
        """Read the log again, or ask every unfenced broker how it sees the placement.

        One of them is current, even if a broker is behind; errors as `placement`.
        """
        if self.controllers is not None:
            self._close_image()
            return [self.placement()]
        first = self.placement()
        return [first, *(self.ask_broker(broker, ask_placement) for broker in first.running)]

    def sees_all(self) -> bool:
        """Tell whether no topics can be hidden from the user; errors as `placement`."""
        return self.controllers is not None or self.ask(sees_everything)

    def refuse_hidden_topics(self) -> None:
        """Refuse to decide anything if topics may be hidden from the user.

        Raises:
            RefusedError: the user may not do everything on the cluster.
            WireError: no server answers.
        """
        if not self.patiently(self.sees_all):
            raise RefusedError(
                "topics may be hidden: the user may not do everything on the cluster",
                hint="-C reads the metadata log, with CLUSTER_ACTION on the cluster",
            )

    def with_placement(
        self,
        act: Callable[Concatenate[ClusterAccess, Placement, P], T],
        *args: P.args,
        **values: P.kwargs,
    ) -> T:
        """Act patiently on the placement of the moment: a broker may have gone since an error."""
        return self.patiently(lambda: act(self, self.placement(), *args, **values))

    def broker_configs(self, placement: Placement) -> dict[int, dict[str, ConfigValue]]:
        """Ask for brokers' dynamic values, which hide server.properties; errors as `placement`.

        The controllers know those of all brokers. Otherwise each unfenced broker is asked.
        """
        if self.controllers is not None:
            configs = configs_in(self.image())
            return {broker: configs.get(broker, {}) for broker in placement.brokers}
        return {
            broker: {
                key: value for key, value in self.config_of(broker).items() if value.is_dynamic
            }
            for broker in placement.running
        }

    def marks(self) -> dict[str, Mark]:
        """Ask for marks, by the configuration key that holds each; errors as `placement`."""
        if self.controllers is not None:
            return marks_in_image(self.image())
        return self.ask(ask_marks)

    def begin_operation(self, mark: Mark) -> Mark:
        """Mark an operation that begins or goes on, and return its mark.

        Raises:
            WireError: the request fails.
        """
        mark, changes = begin_mark(mark, {*self.marks(), *self._own_marks})
        self._own_marks.add(mark.key)
        self.change_defaults(changes)
        return mark

    def end_operation(self, kind: str, brokers: Collection[int] = ()) -> bool:
        """Remove the marks of an operation; tell whether there were any; errors as above."""
        changes = end_marks(kind, brokers, {*self.marks(), *self._own_marks})
        if changes:
            self.change_defaults(changes)
        return bool(changes)

    def change_defaults(self, changes: Sequence[ConfigChange]) -> None:
        """Change the default configuration of brokers; errors as `ask`."""
        self.ask(alter_configs, _BROKER, {DEFAULTS: changes})

    def placement_before(self, mark: Mark) -> Placement | None:
        """Replay the log to the moment before an operation began.

        None without controllers, or if their log does not reach back so far; errors as
        `placement`.
        """
        if self.controllers is None or mark.author is None:
            return None
        live = self.live_image()
        try:
            return placement_of(live.state(at_time=mark.author.since))
        except UsageError:
            return None

    def was_registered(self, broker: int) -> bool:
        """Tell whether the metadata log, back to its last snapshot, has ever had a broker.

        False without controllers; errors as `placement`.
        """
        if not self.find_controllers():
            return False
        subject = history_subject(("image", "cluster", "brokers", str(broker)))
        live = self.live_image()
        return bool(history(live.names, subject, new_image=live.image.empty))

    def config_of(self, broker: int, keys: Sequence[str] | None = None) -> dict[str, ConfigValue]:
        """Ask a running broker for all values, or those of *keys*; errors as `ask`."""
        name = str(broker)
        return self.ask_broker(broker, describe_configs, _BROKER, [name], keys).get(name, {})

    def topic_configs(
        self, placement: Placement, keys: Sequence[str]
    ) -> dict[str, dict[str, ConfigValue]]:
        """Ask a broker for values of all topics, of the *keys* that they have; errors as `ask`."""
        topics = placement.topics
        configs: dict[str, dict[str, ConfigValue]] = {}
        for part in in_parts(topics):
            configs |= self.ask(describe_configs, _TOPIC, part, keys)
        return configs

    def change_broker(
        self, placement: Placement, broker: int, changes: Sequence[ConfigChange]
    ) -> None:
        """Change the dynamic configuration of a broker; that of a fenced one by the controllers.

        Raises:
            RefusedError: it is fenced, and no controllers are given.
            WireError: the request fails.
        """
        changes_by_broker = {str(broker): changes}
        if placement.is_running(broker):
            self.ask_broker(broker, alter_configs, _BROKER, changes_by_broker)
            return
        if self.controllers is None:
            raise RefusedError(
                f"broker {broker} is down, so its dynamic configuration cannot be changed by a"
                " broker",
                hint="use -C with the addresses of controllers",
            )
        self.ask_controllers(alter_configs, _BROKER, changes_by_broker)


def in_parts(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """Split things into parts that each fit into a request."""
    return (things[start : start + _AT_ONCE] for start in range(0, len(things), _AT_ONCE))


def _lists(placement: Placement) -> dict[TopicPartition, tuple[int, ...]]:
    """Map partitions that are not in flight to their replicas, in the order of preference."""
    return {
        partition: replicas.replicas
        for partition, replicas in placement.partitions.items()
        if not replicas.is_moving
    }


def ask_default_keys(connection: Connection) -> list[str]:
    """Ask a broker for the keys of the default configuration; errors as `ClusterAccess.ask`."""
    return [*describe_configs(connection, _BROKER, [DEFAULTS], None).get(DEFAULTS, {})]


def ask_marks(connection: Connection) -> dict[str, Mark]:
    """Ask a broker for the marks of operations by key; errors as `ClusterAccess.ask`."""
    return marks_in(ask_default_keys(connection))


def marks_in_image(image: MetadataImage) -> dict[str, Mark]:
    return marks_in(image.configs.get((int(_BROKER), DEFAULTS), {}))


def configs_in(image: MetadataImage) -> dict[int, dict[str, ConfigValue]]:
    by_broker: dict[int, dict[str, ConfigValue]] = {}
    for (kind, name), addresses in image.configs.items():
        broker_id = parse_integer(name, 32)
        if kind != int(_BROKER) or broker_id is None:
            continue
        values = {
            key: ConfigValue(image.read(address)[1]["value"], is_dynamic=True)
            for key, address in addresses.items()
        }
        if values:
            by_broker[broker_id] = values
    return by_broker
