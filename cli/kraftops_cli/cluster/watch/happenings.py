"""Happenings: what has changed between two descriptions of a cluster, in words."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kraftops.display.sizes import many, number_text
from kraftops.image.load.loading import limits_of
from kraftops.memory import USUAL, Budget
from kraftops.timeline.answer import incident_text
from kraftops.timeline.changes import Kind, read_changes
from kraftops.timeline.incidents import incidents_of
from kraftops_cli.cluster.description import FENCED, OBSERVER, BrokerDescription, ClusterDescription
from kraftops_cli.cluster.description_fields import finalized_levels
from kraftops_cli.cluster.health import Counts
from kraftops_terminal.live_pages import SPAN

_NAMED = 5  # brokers in one line of 80 columns; the others are counted


class Happening(NamedTuple):
    """A change that was seen at a time, in ms; *style* is one of the terminal's theme."""

    time: int
    style: str
    text: str


def happenings_between(before: ClusterDescription, after: ClusterDescription) -> list[Happening]:
    """Return what has changed, the quorum first; nothing about what one of them lacks."""
    changes = (
        *_of_quorum(before, after),
        *_of_brokers(before, after),
        *_of_partitions(before.counts, after.counts),
        *_of_features(before, after),
    )
    return [Happening(after.now, style, text) for style, text in changes]


Change = tuple[str, str]
"""A style and a text."""


def _of_quorum(before: ClusterDescription, after: ClusterDescription) -> Iterator[Change]:
    if after.quorum_error and not before.quorum_error:
        yield "bad", after.quorum_error.message
    if before.quorum_error and not after.quorum_error:
        yield "good", "the quorum is known again"
    if (before.leader, before.epoch) != (after.leader, after.epoch) and after.leader is not None:
        epoch = "" if after.epoch is None else f", epoch {after.epoch}"
        if before.leader != after.leader and before.leader is not None:
            yield "warning", f"the quorum is led by {after.leader} after {before.leader}{epoch}"
        elif before.epoch is not None and after.epoch is not None:
            yield "warning", f"the quorum is led by {after.leader} again{epoch}"
    if before.members is None or after.members is None:
        return
    voters, now = (
        {member.state.node_id for member in cluster.members or () if member.role != OBSERVER}
        for cluster in (before, after)
    )
    for voter in sorted(now - voters):
        yield "warning", f"voter {voter} joined"
    for voter in sorted(voters - now):
        yield "warning", f"voter {voter} left"


def _of_brokers(before: ClusterDescription, after: ClusterDescription) -> Iterator[Change]:
    if before.brokers is None or after.brokers is None:
        return
    earlier = {broker.id: broker for broker in before.brokers}
    now = {broker.id: broker for broker in after.brokers}
    gone = sorted(earlier.keys() - now.keys())
    if gone:
        yield "warning", f"{_brokers(gone)} unregistered"
    both = [(earlier[broker], now[broker]) for broker in sorted(earlier.keys() & now.keys())]
    come = [(None, now[broker]) for broker in sorted(now.keys() - earlier.keys())]
    yield from _grouped([*come, *both], _state)
    yield from _grouped(both, _release)
    yield from _grouped(both, _failed)
    yield from _grouped(both, _settings)


Pair = tuple[BrokerDescription | None, BrokerDescription]


def _grouped(
    pairs: Sequence[Pair],
    change_of: Callable[[BrokerDescription | None, BrokerDescription], Change | None],
) -> Iterator[Change]:
    """Group equal changes: yield each once, with all its brokers."""
    ids_by_change: defaultdict[Change, list[int]] = defaultdict(list)
    for before, after in pairs:
        change = change_of(before, after)
        if change is not None:
            ids_by_change[change].append(after.id)
    for (style, text), ids in ids_by_change.items():
        yield style, f"{_brokers(ids)} {text}"


def _state(before: BrokerDescription | None, after: BrokerDescription) -> Change | None:
    if before is None:
        return "good", f"registered, {after.state}"
    if before.state == after.state:
        return None
    style = "bad" if after.state == FENCED else "good" if after.state == "active" else "warning"
    return style, f"{after.state}, was {before.state}"


def _release(before: BrokerDescription | None, after: BrokerDescription) -> Change | None:
    if before is None or None in (before.release, after.release) or before.release == after.release:
        return None
    return "warning", f"of release {after.release}, was {before.release}"


def _failed(before: BrokerDescription | None, after: BrokerDescription) -> Change | None:
    new = sorted({*(after.failed or ())} - {*((before and before.failed) or ())})
    return ("bad", f"failed directory {', '.join(new)}") if new else None


def _settings(before: BrokerDescription | None, after: BrokerDescription) -> Change | None:
    was, now = before and before.settings, after.settings
    if not was or not now or was.is_leaving is now.is_leaving:
        return None
    return "warning", "leaving" if now.is_leaving else "no longer leaving"


def _brokers(ids: Sequence[int]) -> str:
    names = ", ".join(map(str, ids[:_NAMED]))
    more = f", … ({number_text(len(ids))})" if ids[_NAMED:] else ""
    return f"broker{'s' if len(ids) > 1 else ''} {names}{more}:"


TROUBLES = (
    ("under_replicated", "under-replicated", "warning"),
    ("offline", "offline", "bad"),
    ("under_min_isr", "under min ISR", "bad"),
    ("moving", "in reassignment", "warning"),
)
"""The counts that should be 0, in words, each with the style of what begins."""


def _of_partitions(before: Counts | None, after: Counts | None) -> Iterator[Change]:
    """Yield counts that become 0 or stop being 0, and changes of the number of partitions."""
    if before is None or after is None:
        return
    for name, words, style in TROUBLES:
        was, count = getattr(before, name), getattr(after, name)
        if count and not was:
            yield style, f"{many(count, 'partition')} {words}"
        elif was and not count:
            yield "good", f"no partition {words} any more"
    if before.partitions != after.partitions:
        counts = f"{number_text(after.partitions)}, were {number_text(before.partitions)}"
        yield "", f"partitions: {counts}"


def _of_features(before: ClusterDescription, after: ClusterDescription) -> Iterator[Change]:
    earlier, now = finalized_levels(before.features), finalized_levels(after.features)
    for name, level in now.items():
        if name in earlier and earlier[name] != level:
            yield "warning", f"{name} is {level}, was {earlier[name]}"


_MOST = 5  # incidents; the screen has a few lines for what happens
_COUNTED: dict[Kind, str] = {
    "leader": "leaders",
    "isr": "ISRs",
    "config": "configurations",
    "topic": "topics",
}


def past_happenings(names: Sequence[str], now: int, budget: Budget = USUAL) -> list[Happening]:
    """Read the last hour of the log: its incidents and counts of changes, oldest first.

    Args:
        names: the files of the metadata log.
        now: in ms since the epoch.
        budget: of the reading.

    Raises:
        KraftopsError: they cannot be read.
    """
    log = read_changes(names, since=limits_of(None, now - SPAN), budget=budget)
    happenings = [
        Happening(
            incident.begin, "bad" if incident.end is None else "warning", incident_text(incident)
        )
        for incident in incidents_of(log)[-_MOST:]
    ]
    counts = Counter(change.kind for change in log.changes)
    words = [f"{many(counts[kind], 'change')} of {name}"
             for kind, name in _COUNTED.items() if counts[kind]]  # fmt: skip
    if words:
        happenings.append(Happening(now, "", f"in the last hour: {', '.join(words)}"))
    return happenings
