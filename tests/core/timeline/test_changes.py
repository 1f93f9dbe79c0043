"""Changes of a recorded log, and of small ones."""

from pathlib import Path

import pytest

from kraftops.errors import UsageError
from kraftops.image.load.loading import limits_of, load
from kraftops.timeline.changes import MetadataChange, read_changes
from kraftops.timeline.selection import ChangeFilter, by_cause, changes_where
from tests.helpers.tools.corpus import DATA

LOG = str(DATA / "incidents/three/00000000000000000000.log")


def lines(**wanted: object) -> list[str]:
    """Return the changes that a filter chooses, as lines."""
    chosen = ChangeFilter(**wanted).chosen(read_changes(LOG).changes)  # type: ignore[arg-type]
    return [f"{one.what}: {one.old} → {one.new} by {one.cause}" for one in chosen]


def test_changes_are_told_in_words_with_their_cause() -> None:
    assert lines(topics=("sing*",), where=changes_where(["offset < 100"], 0)) == [
        "topic single: None → 2 partitions, 1 replica, id W1If7gUbRsa2iYxqCQPvVg by client",
        "single-0: leader 102 → no leader by broker 102 is fenced",
        "single-0: ISR 102 → ISR nobody, ELR 102 by broker 102 is fenced",
        "single-0: ISR nobody, ELR 102 → ISR nobody by controller",
        "single-0: no leader → leader 102, unclean: records may be lost by broker 102 is unfenced",
        "single-0: ISR nobody → ISR 102 by broker 102 is unfenced",
        "single-1: leader 103 → no leader by broker 103 is fenced",
        "single-1: ISR 103 → ISR nobody, ELR 103 by broker 103 is fenced",
    ]


def test_what_goes_shows_what_it_was() -> None:
    assert lines(kinds=frozenset({"topic"}), topics=("single",))[1] == (
        "topic single: id W1If7gUbRsa2iYxqCQPvVg → None by client"
    )


def test_a_span_has_the_states_before_it() -> None:
    """Changes of a part of the log are those of the whole, also where an old value is older."""
    whole = read_changes(LOG).changes
    begin, end = 100, 300

    part = read_changes(LOG, since=limits_of(begin - 1, None), until=limits_of(end, None)).changes

    assert part == [one for one in whole if begin <= one.offset <= end]


def test_changes_lead_from_the_first_leaders_to_the_last() -> None:
    """The image at the end has what the last change of each partition says."""
    last: dict[tuple[str, int], MetadataChange] = {}
    for change in read_changes(LOG).changes:
        if change.kind == "leader" and change.topic and change.partition is not None:
            last[change.topic, change.partition] = change
    image = load(LOG)

    for (topic, number), change in last.items():
        state = image.partition(image.topic_ids[topic], number)
        if topic != "single":  # it was created again
            assert state
            assert change.after.leader == state.leader


def test_changes_with_one_cause_are_one_group() -> None:
    changes = ChangeFilter(brokers=frozenset({101})).chosen(read_changes(LOG).changes)
    stop = next(one for one in by_cause(changes) if one.cause == "broker 101 stops")

    assert stop.kinds == {"broker": 2, "isr": 8, "leader": 3}


def test_a_wrong_condition_is_refused() -> None:
    with pytest.raises(UsageError, match="colour"):
        changes_where(["colour = 3"], 0)


def test_a_snapshot_is_no_change() -> None:
    node = DATA / "shell/in/n431/__cluster_metadata-0"
    (snapshot,) = node.glob("*413*.checkpoint")

    assert read_changes(str(snapshot)).changes == []
    assert read_changes(str(node)).changes


def test_an_empty_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no metadata log"):
        read_changes(str(tmp_path))
