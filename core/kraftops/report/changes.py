"""Changes of the metadata as a report shows them: what was changed, before and after."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kraftops.engine.metadata_state import TOPIC_RESOURCE, EntryChange
from kraftops.engine.timeline_contract import TimedChange as KeptChange
from kraftops.errors import KraftopsError
from kraftops.image.state.broker import BrokerState, changed_broker, registered_broker
from kraftops.image.state.image import MetadataImage
from kraftops.records.metadata_numbers import REGISTER_BROKER
from kraftops.report.commands import MetadataCommands
from kraftops.report.document import ChangeWord, TimedChange
from kraftops.report.metadata_log import MOST_CHANGES
from kraftops.timeline.authorizer import REQUESTS, Asked, Request, likely_principals
from kraftops.timeline.changes import FIRST_VERSION
from kraftops.timeline.words import broker_text, status_text, topic_text, words_of

LONGEST_TEXT = 300
"""Characters of a text from data; the rest is cut, so that a page stays small with any names."""

_UNREGISTERED = "unregistered"
_UNTOLD: Any = {"brokerEpoch": -1, "endPoints": [], "rack": None, "fenced": False}
"""The fields of a broker that no kept change tells."""
_KINDS: Mapping[str, ChangeWord] = {
    "configs": "config",
    "acls": "acl",
    "features": "feature",
    "quotas": "quota",
    "scram": "scram",
    "tokens": "token",
    "controllers": "controller",
    "brokers": "broker",
}


class BrokerStep(NamedTuple):
    """A state of a broker, by the record at an address; *state* None is unregistered."""

    time: int
    address: int
    state: BrokerState | None
    before: BrokerState | None

    @property
    def is_registration(self) -> bool:
        """Whether a process of the broker has begun: each registers with an epoch of its own."""
        state, before = self.state, self.before
        return state is not None and (
            before is None or before["brokerEpoch"] != state["brokerEpoch"]
        )


def cut(text: str) -> str:
    """Return a text of at most `LONGEST_TEXT` characters."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def offset_of(image: MetadataImage, address: int | None) -> int | None:
    """Return the offset of a record in the log; None of a snapshot, or if it cannot be read."""
    if address is None or image.store.place(address)[2] is not None:
        return None
    try:
        return image.store.head(address)[0]
    except KraftopsError:
        return None


def broker_steps(image: MetadataImage, kept: Iterable[KeptChange]) -> dict[int, list[BrokerStep]]:
    """Return the states of brokers by id, in order.

    Where only a later part of a broker's changes is kept, fields that it does not tell have their
    defaults.
    """
    steps_by_broker: dict[int, list[BrokerStep]] = {}
    for time, address, change in kept:
        if change.table != "brokers":
            continue
        broker: Any = change.key[0]
        steps = steps_by_broker.setdefault(broker, [])
        before = steps[-1].state if steps else _state_after(image, None, change.before)
        after = _state_after(image, before, change.after)
        steps.append(BrokerStep(time, address, after, before))
    return steps_by_broker


def _state_after(
    image: MetadataImage, state: BrokerState | None, address: int | None
) -> BrokerState | None:
    """Return a broker's state after the record at an address; None without a registration."""
    if address is None:
        return None
    try:
        number, data = image.read(address, whole=False)
    except KraftopsError:
        return state
    if number == REGISTER_BROKER:
        return registered_broker(data)
    return changed_broker(state or registered_broker(_UNTOLD), number, data)


def without_consequences(kept: Iterable[KeptChange]) -> list[KeptChange]:
    """Return changes without those of configurations that the removal of their topic removes."""
    changes = list(kept)
    gone = {
        kept_change.address
        for kept_change in changes
        if kept_change.change.table == "topics" and not kept_change.change.after
    }
    return [
        kept_change
        for kept_change in changes
        if kept_change.change.table != "configs"
        or kept_change.address not in gone
        or kept_change.change.after
    ]


def timed_changes(
    image: MetadataImage,
    kept: Iterable[KeptChange],
    brokers: Mapping[int, list[BrokerStep]],
    commands: MetadataCommands,
) -> tuple[TimedChange, ...]:
    """Return the changes that a report shows: of each kind the latest, as many as are fair.

    *brokers* are their `broker_steps`.
    """
    by_table: dict[str, list[KeptChange]] = {}
    bootstrap: int | None = None  # its records are in one batch, of one time
    for kept_change in kept:
        by_table.setdefault(kept_change.change.table, []).append(kept_change)
        if kept_change.change[:3] == FIRST_VERSION:
            bootstrap = kept_change.time
    steps = {
        (step.address, broker): step for broker, own_steps in brokers.items() for step in own_steps
    }
    chosen: list[KeptChange] = []
    room = MOST_CHANGES
    for shared, some in enumerate(sorted(by_table.values(), key=len)):
        share = room // (len(by_table) - shared)
        chosen += some[-share:] if share else []
        room -= min(share, len(some))
    timed = [_shown(image, kept_change, steps, commands) for kept_change in chosen]
    ordered = sorted(
        (kept_change for kept_change in timed if kept_change),
        key=lambda kept_change: (kept_change.time, kept_change.offset),
    )
    return tuple(
        kept_change._replace(is_bootstrap=kept_change.time == bootstrap) for kept_change in ordered
    )


def with_likely_principals(
    changes: tuple[TimedChange, ...], requests: Iterable[Request]
) -> tuple[TimedChange, ...]:
    """Add likely principals to changes, by requests in the authorizer's log."""
    asked = [Asked(change.time, _requests_for(change), change.topic) for change in changes]
    likely = likely_principals(asked, requests)
    return tuple(
        change._replace(likely_principals=tuple(map(cut, names)))
        for change, names in zip(changes, likely, strict=True)
    )


def _requests_for(change: TimedChange) -> frozenset[str]:
    is_of_node = change.kind == "broker" and change.after != _UNREGISTERED
    return (
        frozenset() if change.is_bootstrap or is_of_node else REQUESTS.get(change.kind, frozenset())
    )


def _shown(
    image: MetadataImage,
    kept: KeptChange,
    steps: Mapping[tuple[int, int], BrokerStep],
    commands: MetadataCommands,
) -> TimedChange | None:
    time, address, change = kept
    offset = offset_of(image, address)
    if offset is None:
        return None
    topic: str | None = None
    try:
        if change.table == "topics":
            kind, topic, before, after = _topic(image, change)
            what = f"topic {topic}"
        elif change.table == "brokers":
            broker: Any = change.key[0]
            kind, what = "broker", f"broker {broker}"
            before, after = _broker_texts(image, steps[address, broker])
        else:
            kind = _KINDS[change.table]
            what, text = words_of(image, change)
            before, after = text(change.before), text(change.after)
            if change.table == "configs" and change.key[0] == TOPIC_RESOURCE:
                topic = str(change.key[1])
    except KraftopsError as error:
        kind, what, before, after = _KINDS.get(change.table, "broker"), error.message, None, None
    return TimedChange(
        time=time,
        offset=offset,
        kind=kind,
        what=cut(what),
        before=None if before is None else cut(before),
        after=None if after is None else cut(after),
        topic=None if topic is None else cut(topic),
        is_bootstrap=False,
        command=commands.record(offset),
    )


def _topic(
    image: MetadataImage, change: EntryChange
) -> tuple[ChangeWord, str, str | None, str | None]:
    address = change.before if change.after is None else change.after
    assert address is not None
    _, data = image.read(address)
    name: str = data["name"]
    text = topic_text(image, data["topicId"])
    if change.after is None:
        return "topic-deleted", name, text, None
    return "topic-created", name, None, text


def _broker_texts(image: MetadataImage, step: BrokerStep) -> tuple[str | None, str]:
    state = step.state
    if state is not None and step.is_registration:
        # The states of a timeline have no endpoints, of which a log has many.
        registered = registered_broker(image.read(step.address)[1])
        state = {**state, "endPoints": registered["endPoints"]}
    before, after = status_text(step.before), broker_text(state, step.before)
    if after == before and after is not None:
        after += ", other fields"
    return before, after or _UNREGISTERED
