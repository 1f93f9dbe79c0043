"""The choice of changes by kind, broker, topic and condition, and their groups by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from kraftops.answers.fields import Field, numbers, parts, text, texts
from kraftops.answers.fields import number as number_field
from kraftops.answers.fields import time as time_field
from kraftops.display.columns import folded
from kraftops.display.columns import number as number_column
from kraftops.display.times import iso_time
from kraftops.engine.metadata_state import PartitionState
from kraftops.timeline.changes import ALL_BROKERS, KINDS, MetadataChange
from kraftops.views.view import View, frame_of_rows

if TYPE_CHECKING:
    from kraftops.query.conditions.syntax import Condition

_ENDPOINT = 20  # columns of most hosts with a port, which is not cut
_GROUP_GAP = 10_000  # ms; Kafka's own broker.session.timeout.ms is 9 s


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """The selected changes: those of one of the kinds, and so on; empty is all."""

    kinds: frozenset[str] = frozenset()
    brokers: frozenset[int] = frozenset()
    topics: tuple[str, ...] = ()
    """Patterns with * and ?, as shells have them."""
    where: Condition | None = None

    def chosen(self, changes: Iterable[MetadataChange]) -> list[MetadataChange]:
        chosen = [
            change
            for change in changes
            if (not self.kinds or change.kind in self.kinds)
            and (not self.brokers or self._is_of_broker(change))
            and (not self.topics or _is_of_topic(change.topic, self.topics))
        ]
        if self.where is None:
            return chosen
        from kraftops.views.selection import selected

        rows = [[field.value_of(change) for field in CHANGE] for change in chosen]
        return [chosen[index] for index in selected(frame_of_rows(CHANGE, rows), self.where)]

    def _is_of_broker(self, change: MetadataChange) -> bool:
        is_of_all = change.broker == ALL_BROKERS
        return is_of_all or not self.brokers.isdisjoint(brokers_of(change))


def brokers_of(change: MetadataChange) -> list[int]:
    """Return the brokers that a change is about: that lead, led, came to an ISR or left it."""
    before, after = change.before, change.after
    if not (isinstance(before, PartitionState) and isinstance(after, PartitionState)):
        return [] if change.broker in (None, ALL_BROKERS) else [change.broker]
    if change.kind == "leader":
        brokers = {before.leader, after.leader}
    elif change.kind == "isr":
        brokers = {*before.isr} ^ {*after.isr}
    else:
        brokers = {*before.replicas} ^ {*after.replicas} | {*after.adding_replicas}
    return sorted(broker for broker in brokers if broker >= 0)


def changes_where(conditions: Iterable[str], now: int) -> Condition | None:
    """Return the condition that all of some texts hold for changes; None without one.

    Raises:
        UsageError: one is wrong.
    """
    from kraftops.views.selection import parsed_where

    view = View("changes", CHANGE, lambda *_: frame_of_rows(CHANGE, []))
    return parsed_where(view, conditions, now)


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes with one cause that followed each other."""

    cause: str
    changes: Sequence[MetadataChange]

    @property
    def kinds(self) -> dict[str, int]:
        """The number of changes by kind."""
        return dict(Counter(change.kind for change in self.changes))


def by_cause(changes: Iterable[MetadataChange]) -> list[ChangeGroup]:
    """Return changes in groups by their causes, in the order of their first changes."""
    groups: list[ChangeGroup] = []
    latest: dict[str, list[MetadataChange]] = {}
    for change in changes:
        group = latest.get(change.cause)
        if group is None or change.time - group[-1].time > _GROUP_GAP:
            group = latest[change.cause] = []
            groups.append(ChangeGroup(change.cause, group))
        group.append(change)
    return groups


def _is_of_topic(topic: str | None, patterns: Iterable[str]) -> bool:
    return topic is not None and any(fnmatchcase(topic, pattern) for pattern in patterns)


def _change_text(change: MetadataChange) -> str:
    if change.new is None:
        return f"{change.old} → gone"
    return change.new if change.old is None else f"{change.old} → {change.new}"


def _cause_text(change: MetadataChange) -> str:
    likely = " or ".join(change.likely_principals)
    return f"{change.cause}, likely {likely}" if likely else change.cause


CHANGE: tuple[Field, ...] = (
    time_field(
        "time", "time of the record", column="TIME",
        cell=lambda change: iso_time(change.time),
    ),
    number_field(
        "offset", "offset of the record", column=number_column("OFFSET", 1),
        cell=lambda change: str(change.offset),
    ),
    text("kind", "the kind of the change", values=KINDS, column=("KIND", 3)),
    text("what", "what was changed", column=folded("WHAT", style="name")),
    text(
        "old?", "what it was, in words; null for what is new",
        column=folded("CHANGE", least=_ENDPOINT), cell=_change_text,
    ),
    text("new?", "what it became; null for what went"),
    text(
        "cause", "what changed it, as far as the log tells; no record names a person",
        column=folded("CAUSE", 2), cell=_cause_text,
    ),
    texts(
        "likelyPrincipals", "with --authorizer-log: who likely asked for it, the likeliest first:"
        " their requests fit its time and resource",
    ),
    text("topic?", "the topic"),
    number_field("partition?", "the partition"),
    numbers(
        "brokers", "brokers that it is about: that lead, led, came to an ISR or left it",
        get=brokers_of,
    ),
)  # fmt: skip

GROUP: tuple[Field, ...] = (
    time_field(
        "begin", "time of the first change", column="BEGIN",
        get=lambda group: group.changes[0].time,
        cell=lambda group: iso_time(group.changes[0].time),
    ),
    time_field(
        "end", "time of the last change", column=("END", 1),
        get=lambda group: group.changes[-1].time,
        cell=lambda group: iso_time(group.changes[-1].time),
    ),
    text("cause", "what changed it", column=folded("CAUSE")),
    number_field(
        "count", "number of changes", column=number_column("CHANGES"),
        get=lambda group: len(group.changes),
    ),
    parts(
        "kinds", "numbers of changes by kind", (
            text("kind", "the kind", values=KINDS, get=lambda pair: pair[0]),
            number_field("count", "number of changes", get=lambda pair: pair[1]),
        ),
        get=lambda group: list(group.kinds.items()), column=folded("KINDS"),
        cell=lambda group: ", ".join(f"{count} {kind}" for kind, count in group.kinds.items()),
    ),
    number_field(
        "firstOffset", "offset of the first change", get=lambda group: group.changes[0].offset,
    ),
    number_field(
        "lastOffset", "offset of the last change", get=lambda group: group.changes[-1].offset,
    ),
)  # fmt: skip
