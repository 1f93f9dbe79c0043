"""Keys and answers change the state of the screen."""

from dataclasses import replace

import pytest

from kraftops_cli.cluster.description import BrokerFilter
from kraftops_cli.cluster.health import Counts
from kraftops_cli.cluster.watch import state as state_module
from kraftops_cli.cluster.watch.happenings import Happening
from kraftops_cli.cluster.watch.state import (
    ORDERS,
    ScreenState,
    Trouble,
    pressed,
    shown_brokers,
    with_description,
    with_note,
    with_trouble,
)
from kraftops_terminal.live import Subject, placed
from tests.helpers.tools.watched_views import CALM, NOON, broker, view

FENCED = "registered-fenced"


def drawn(state: ScreenState, room: int = 10) -> ScreenState:
    return placed(state, room, len(shown_brokers(state)))


THREE = drawn(
    with_description(
        ScreenState(),
        view(
            broker(1, leaders=5, rack="r2", lag=None),
            broker(2, leaders=9, rack="r1", lag=3, state=FENCED, release="4.2"),
            broker(30, leaders=7, rack=None, lag=8),
        ),
    )
)


def typed(state: ScreenState, *keys: str) -> ScreenState:
    for key in keys:
        state = pressed(state, key)
    return state


def ids(state: ScreenState) -> list[int]:
    return [row.id for row in shown_brokers(state)]


@pytest.mark.parametrize(
    ("order", "ascending", "descending"),
    [
        ("broker", [1, 2, 30], [30, 2, 1]),
        ("state", [2, 1, 30], [1, 30, 2]),
        ("release", [2, 1, 30], [1, 30, 2]),
        ("rack", [2, 1, 30], [1, 2, 30]),
        ("leaders", [2, 30, 1], [1, 30, 2]),
        ("replicas", [30, 2, 1], [1, 2, 30]),
        ("lag", [30, 2, 1], [2, 30, 1]),
    ],
)
def test_brokers_are_sorted_and_unknown_values_come_last(
    order: str, ascending: list[int], descending: list[int]
) -> None:
    state = THREE
    while ORDERS[state.order].name != order:
        state = pressed(state, "s")

    assert ids(state) == ascending
    assert ids(pressed(state, "r")) == descending


def test_orders_go_round_in_both_directions() -> None:
    assert typed(THREE, *["s"] * len(ORDERS)) == THREE
    assert typed(THREE, "S", "s") == THREE


@pytest.mark.parametrize(
    ("text", "found"),
    [("fenced", [2]), ("R1", [2]), ("4.3 r2", [1]), ("30", [30]), ("x", []), (" ", [1, 2, 30])],
)
def test_filter_leaves_brokers_that_have_all_words(text: str, found: list[int]) -> None:
    assert ids(typed(THREE, "/", *text)) == found


def test_keys_are_letters_of_the_filter_until_it_is_entered() -> None:
    state = typed(THREE, "/", "q", "s", "p", "backspace")
    assert (state.filter, state.is_typing, state.is_over) == ("qs", True, False)

    kept = pressed(state, "enter")
    assert (kept.filter, kept.is_typing) == ("qs", False)
    assert pressed(kept, "q").is_over
    assert pressed(state, "escape").filter == pressed(kept, "escape").filter == ""
    assert typed(state, "up", "f").filter == "qsf"


@pytest.mark.parametrize("state", [ScreenState(), THREE, replace(THREE, is_typing=True)])
def test_keyboard_that_is_gone_quits(state: ScreenState) -> None:
    assert pressed(state, "end-of-input").is_over
    assert not pressed(state, "x").is_over


def test_paused_screen_keeps_its_view_and_goes_on_with_the_newest() -> None:
    paused = pressed(THREE, " ")
    later = with_description(paused, view(broker(1), seconds=9))

    assert later.description is THREE.description
    assert ids(later) == [1, 2, 30]
    assert later.counts == (CALM, CALM)
    assert ids(pressed(later, " ")) == [1]


def test_scrolling_stays_within_the_brokers() -> None:
    state = drawn(with_description(ScreenState(), view(*map(broker, range(1, 31)))))

    def top(*keys: str) -> int:
        return typed(state, *keys).top

    assert (top("up"), top("down"), top("down", "up"), top("page-down")) == (0, 0, 0, 10)
    assert (top("end"), top("end", "down"), top("end", "page-up"), top("end", "home")) == (
        20,
        20,
        10,
        0,
    )
    assert (top(*["down"] * 10), top("end", "up"), top("end", *["up"] * 10)) == (1, 20, 19)
    assert [typed(state, *keys).cursor for keys in (["down"], ["page-down"], ["end", "up"])] == [
        1, 10, 28,
    ]  # fmt: skip
    assert drawn(typed(state, "end"), 25).top == 5
    assert typed(state, "end", "/", "1").top == 0
    assert drawn(with_description(typed(state, "end"), view(broker(1)))).top == 0


def test_answers_after_trouble_are_told_and_the_first_trouble_counts() -> None:
    bad = Trouble(NOON + 1000, "a:9093: connection refused")
    state = with_trouble(THREE, bad)
    state = with_trouble(state, Trouble(NOON + 9000, "a:9093: no answer"))

    assert state.trouble == Trouble(NOON + 1000, "a:9093: no answer")
    assert [each.text for each in state.happenings] == ["a:9093: connection refused"]
    assert state.counts == (CALM, None, None)
    assert state.description is THREE.description

    state = with_description(state, view(seconds=20))
    assert state.trouble is None
    assert "there are answers again" in [each.text for each in state.happenings]


def test_history_and_happenings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "MOST_COUNTS", 5)
    monkeypatch.setattr(state_module, "_MOST_HAPPENINGS", 4)
    state = ScreenState()
    for number in range(20):
        state = with_description(state, view(counts=CALM._replace(partitions=number)))
    state = with_note(state, Happening(NOON, "warning", "a note"))

    assert state.counts == tuple(Counts(each, 0, 0, 0, 0) for each in range(15, 20))
    assert len(state.happenings) == 4
    assert state.happenings[-1].text == "a note"


def test_options_choose_brokers_but_what_happens_to_the_others_is_told() -> None:
    chosen = ScreenState(chosen=BrokerFilter(racks=frozenset({"r2"}), only_fenced=True))
    state = with_description(chosen, view(broker(1, state=FENCED), broker(2), broker(3)))
    assert ids(state) == [1]

    state = with_description(
        state, view(broker(1), broker(2, state=FENCED), broker(3, state=FENCED))
    )
    assert ids(state) == [3]
    assert [each.text for each in state.happenings] == [
        "broker 1: active, was registered-fenced",
        "brokers 2, 3: registered-fenced, was active",
    ]


def test_enter_shows_the_chosen_broker_and_escape_leads_back() -> None:
    chosen = typed(THREE, "/", "4", ".", "3", "enter", "down")

    shown = pressed(chosen, "enter")
    assert shown.subject == Subject("broker", 30)
    assert (shown.filter, pressed(shown, "enter")) == ("", shown)

    filtered = typed(shown, "/", "x", "enter", "escape")
    assert (filtered.subject, filtered.filter) == (shown.subject, "")
    back = typed(shown, "c", "p", "escape")
    assert (back.subject, back.filter, back.cursor) == (None, "4.3", 1)


@pytest.mark.parametrize(
    ("key", "kind"), [("o", "operations"), ("p", "problems"), ("c", "changes")]
)
def test_keys_turn_to_pages(key: str, kind: str) -> None:
    assert pressed(THREE, key).subject == Subject(kind)


def test_pages_scroll_by_lines() -> None:
    state = placed(pressed(THREE, "c"), 10, 25)

    assert typed(state, "down", "down").top == 2
    assert typed(state, "end").top == 15
    assert placed(typed(state, "end"), 10, 5).top == 0


def test_no_broker_is_no_page() -> None:
    assert pressed(ScreenState(), "enter") == ScreenState()
