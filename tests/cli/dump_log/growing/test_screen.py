"""The screen of `--summary --follow`."""

import re
from typing import Any

import pytest

from kraftops_cli.dump_log.growing.screen import FollowState, counted_again, frame, pressed
from kraftops_terminal.console import Console
from kraftops_terminal.live import Subject
from tests.helpers.tools.emulator import emulated
from tests.helpers.tools.own_terminal import OwnTerminal
from tests.helpers.tools.screen_files import RecordedScreens

NOON = 1_795_348_800.0
HOSTILE = "\x1b]0;x\x07\x9b31m\n\u202e\u200b日本"


def log(number: int, records: int, **changes: Any) -> dict[str, Any]:
    """Return the fields of a log that a table shows."""
    time = {"first": "2026-11-22T11:00:00.000Z", "firstMs": 1, "last": "2026-11-22T12:00:00.000Z",
            "lastMs": 2}  # fmt: skip
    fields = {
        "topic": "orders", "partition": number, "segments": 1 + number, "records": {"count": records},
        "batches": {"bytes": records * 1000}, "offsets": {"first": 0, "last": records - 1},
        "times": time, "damage": {"count": 0, "bytes": 0}, "tornBytes": 0,
        "undecodable": {"count": 0}, "transactions": {"open": []}, "files": {"paths": ["/d/f"]},
    }  # fmt: skip
    return {**fields, **changes}


def state(logs: int = 30) -> FollowState:
    found = FollowState()
    for second in range(20):
        fields = [log(each, 100 + second * second * each) for each in range(logs)]
        found = counted_again(found, fields, NOON + 2 * second)
    return found


def drawn(
    shown: FollowState, columns: int = 80, rows: int = 24, *, has_colour: bool = False
) -> tuple[list[str], FollowState]:
    with OwnTerminal(columns) as terminal:
        environment = {"TERM": "xterm"} if has_colour else {"TERM": "xterm", "NO_COLOR": "1"}
        console = Console(lambda _: None, terminal.fd, True, environment=environment)
        lines, after = frame(shown, console, (columns, rows), has_keys=True)
    assert len(lines) == rows
    return lines, after


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50)])
def test_screen_is_as_recorded(columns: int, rows: int, recorded: RecordedScreens) -> None:
    lines, _ = drawn(state(), columns, rows, has_colour=True)
    text = "".join(f"\x1b[{row + 1};1H{line}\x1b[0m" for row, line in enumerate(lines))

    recorded.check(f"summary-follow-{columns}", emulated(f"\x1b[?7l{text}", columns, rows))


def test_rates_are_of_the_last_two_looks() -> None:
    found = counted_again(FollowState(), [log(0, 100)], NOON)
    assert (found.rates, found.steps) == ((0.0, 0.0), ())

    found = counted_again(found, [log(0, 150)], NOON + 2)
    assert (found.rates, found.steps) == ((25.0, 25_000.0), (50,))
    assert drawn(found)[0][0] == "1 log, 12:00:02 UTC, 25 records/s, 24.4 KiB/s"


def test_keys_sort_scroll_pause_and_quit() -> None:
    first = drawn(state())[1]
    by_segments = pressed(first, "s")
    assert by_segments.sort == "segments"
    row = next(line for line in drawn(by_segments)[0] if "orders" in line)
    assert row.split()[2] == "29"

    scrolled = drawn(pressed(first, "page-down"))[1]
    assert (first.room, scrolled.top) == (16, 14)
    assert pressed(scrolled, "home").top == 0

    paused = pressed(first, " ")
    assert counted_again(paused, [], NOON + 99).logs == first.logs
    assert drawn(paused)[0][1] == "paused: Space goes on"
    assert counted_again(pressed(paused, " "), [], NOON + 99).logs == ()
    assert pressed(first, "q").is_over
    assert pressed(first, "end-of-input").is_over
    assert pressed(first, "x") == first


def test_enter_shows_all_of_a_log_and_p_the_logs_with_problems() -> None:
    torn = log(2, 70, topic="payments", damage={"count": 2, "bytes": 9})
    shown = drawn(counted_again(FollowState(), [log(0, 100), torn], NOON))[1]

    assert pressed(pressed(shown, "down"), "enter").subject == Subject("log", "payments-2")
    problems = drawn(pressed(shown, "p"))[0]
    assert problems[3].strip() == "problems"
    assert any(line.startswith("payments") for line in problems)
    assert pressed(pressed(shown, "p"), "escape") == shown


def test_the_filter_leaves_logs_by_name() -> None:
    shown = counted_again(FollowState(), [log(0, 1), log(0, 2, topic="payments")], NOON)
    for key in ("/", *"pay", "enter"):
        shown = pressed(shown, key)

    text = "\n".join(drawn(shown)[0])
    assert "payments" in text
    assert "orders" not in text


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (10, 3), (40, 6), (80, 10)])
def test_small_terminals_show_what_fits(columns: int, rows: int) -> None:
    drawn(state(), columns, rows)


def test_rows_beyond_the_screen_are_not_drawn() -> None:
    lines, _ = drawn(state(5000), rows=30)

    assert sum(line.startswith("orders") for line in lines) < 30
    assert any("more, in the total" in line for line in lines)


def test_hostile_names_stay_text() -> None:
    shown = counted_again(FollowState(notes=(HOSTILE,)), [log(0, 5, topic=HOSTILE)] * 2, NOON)

    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e\u200b]", "".join(drawn(shown, 300)[0]))
