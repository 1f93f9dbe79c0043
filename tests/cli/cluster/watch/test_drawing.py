"""Frames of the screen of `describe --watch`."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kraftops.display.columns import Column
from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.cluster import Feature
from kraftops_cli.cluster.description import ClusterDescription
from kraftops_cli.cluster.health import Counts
from kraftops_cli.cluster.watch.drawing import frame
from kraftops_cli.cluster.watch.happenings import Happening
from kraftops_cli.cluster.watch.pages import Page
from kraftops_cli.cluster.watch.state import (
    ScreenState,
    Trouble,
    pressed,
    with_description,
    with_note,
    with_trouble,
)
from kraftops_terminal.console import Console
from kraftops_terminal.live import placed
from kraftops_terminal.tables import Table
from kraftops_terminal.widths import width_of_text
from tests.helpers.tools.emulator import emulated
from tests.helpers.tools.own_terminal import OwnTerminal
from tests.helpers.tools.screen_files import RecordedScreens
from tests.helpers.tools.watched_views import NOON, broker, view, voter

FENCED = "registered-fenced"
HOSTILE = "\x1b]0;x\x07\x9b31m\n\u202e\ud800\u200b日本"
COLOURS = {"TERM": "xterm"}


def drawn(
    state: ScreenState,
    columns: int = 80,
    rows: int = 24,
    *,
    has_keys: bool = True,
    environment: dict[str, str] | None = None,
) -> list[str]:
    with OwnTerminal(columns) as terminal:
        console = Console(lambda _: None, terminal.fd, True, environment=environment or {"TERM": "x", "NO_COLOR": "1"})  # fmt: skip
        lines, _ = frame(state, console, (columns, rows), now=NOON + 9000, has_keys=has_keys)
    assert len(lines) == rows
    return lines


def busy() -> ScreenState:
    """Return a state after a broker was fenced, and came back, and another one was fenced."""
    brokers = [broker(each) for each in range(1, 41)]
    state = with_description(ScreenState(), view(*brokers))
    counts = Counts(partitions=12_000, under_replicated=900, offline=3, under_min_isr=40, moving=0)
    for second in range(1, 30):
        fenced = 7 if second < 12 else 30 if second > 16 else 0
        now = [
            broker(each, state=FENCED, lag=None, behind_ms=90_000, leaders=0)
            if each == fenced
            else broker(each, lag=each * second % 7, failed=("/data/2",) * (each == 3))
            for each in range(1, 41)
        ]
        share = 0 if not fenced else second
        found = counts._replace(
            under_replicated=share * 31, offline=3 * bool(share > 20), under_min_isr=share % 5
        )
        state = with_description(
            state, view(*now, seconds=second, counts=found, is_min_isr_assumed=True)
        )
    return state


def screen(lines: Sequence[str], columns: int, rows: int) -> list[str]:
    text = "".join(f"\x1b[{row + 1};1H{line}\x1b[0m" for row, line in enumerate(lines))
    return emulated("\x1b[?7l" + text, columns, rows)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50)])
def test_screen_is_as_recorded(columns: int, rows: int, recorded: RecordedScreens) -> None:
    lines = drawn(busy(), columns, rows, environment=COLOURS)

    recorded.check(f"watch-{columns}", screen(lines, columns, rows))


@pytest.mark.parametrize("background", ["15;0", "0;15"])
def test_colours_are_those_of_the_terminal_on_light_and_dark(background: str) -> None:
    """No background is set, and no colour but the eight that each theme of a terminal has."""
    lines = drawn(busy(), environment={**COLOURS, "COLORFGBG": background})

    parameters = {
        each
        for found in re.findall(r"\x1b\[([\d;]*)m", "".join(lines))
        for each in found.split(";")
    }
    assert parameters <= {"0", "1", "2", "4", "31", "32", "33", "34", "36"}
    assert parameters >= {"0", "1", "31", "32"}
    assert lines == drawn(busy(), environment=COLOURS)


def test_nothing_is_known_at_the_beginning() -> None:
    lines = drawn(ScreenState())

    assert lines[0] == "asking the cluster …"
    assert lines[-1].startswith("q quit  ? keys  ↵ broker  p problems")


def test_more_columns_are_shown_on_wider_terminals() -> None:
    def heads(columns: int) -> list[str]:
        lines = drawn(busy(), columns)
        return [line for line in lines if re.match(r" *(BROKER|NODE)", line)]

    assert heads(40) == [
        "NODE  ROLE    END OFFSET  LAG  CAUGHT UP",
        "BROKER▲  STATE   RACK  LEADERS  LAG",
    ]
    assert ["CAUGHT UP" in head for head in heads(80)] == [True, True]
    assert "LISTENERS" not in heads(80)[1]
    assert ["LISTENERS" in head for head in heads(200)] == [True, True]
    assert "FAILED DIRECTORIES" in heads(200)[1]


def test_order_is_marked_and_the_place_is_told() -> None:
    state = busy()
    lines = drawn(pressed(state, "r"))
    assert any(line.startswith("BROKER▼") for line in lines)
    assert re.search(r"  1-\d+ of 40$", lines[-1])

    for _ in range(4):
        state = pressed(state, "s")
    lines = drawn(pressed(pressed(state, "/"), "3"))
    assert any(re.search("LEADERS▼", line) for line in lines)
    assert lines[-1] == "/3█  Enter keeps it, Escape forgets it"


def test_trouble_takes_a_line_and_the_last_view_stays() -> None:
    state = with_trouble(busy(), Trouble(NOON + 3000, f"a:9093: refused {HOSTILE}" + "x" * 99))

    lines = drawn(state)

    assert lines[1].startswith("no answer for 6 s: a:9093: refused \\x1b]0;x\\x07\\x9b31m")
    assert lines[1].endswith("…")
    assert any("active  r1  " in line for line in lines[2:])
    assert drawn(pressed(busy(), " "))[1] == "paused: Space goes on"
    missing = with_description(ScreenState(), view(missing="the quorum is not known: x"))
    assert drawn(missing)[1] == "the quorum is not known: x"


def test_parts_that_are_not_known_are_dashes() -> None:
    nothing = ClusterDescription(NOON)
    known = view(broker(1, rack=None, release=None, leaders=None, replicas=None, lag=None,
                        behind_ms=None, listeners=()), members=None, counts=None)  # fmt: skip

    lines = [line for line in drawn(with_description(ScreenState(), nothing)) if line]
    assert lines[:5] == [
        "cluster -, 12:00:00 UTC, no leader is known",
        "brokers are not known",
        "partitions -",
        "quorum -",
        "brokers -",
    ]
    row = next(line for line in drawn(with_description(ScreenState(), known)) if "active  " in line)
    assert row.split() == [">", "1", "active", *["-"] * 7]


@pytest.mark.parametrize(
    ("columns", "rows"), [(1, 1), (3, 2), (10, 4), (20, 5), (30, 12), (80, 16), (250, 9)]
)
def test_small_terminals_show_what_fits(columns: int, rows: int) -> None:
    assert len(drawn(busy(), columns, rows)) == rows


def test_only_brokers_that_fit_are_drawn() -> None:
    state = with_description(ScreenState(), view(*map(broker, range(1, 1001))))

    text = "\n".join(drawn(state, 120, 40))

    assert 15 < text.count("broker-") < 30
    assert "of 1,000" in text


def test_more_voters_than_fit_are_counted() -> None:
    state = with_description(ScreenState(), view(members=tuple(map(voter, range(1, 20)))))

    assert "and 17 more" in drawn(state)


def test_without_a_keyboard_no_keys_are_named() -> None:
    assert drawn(busy(), has_keys=False)[-1] == "Ctrl-C quits"


def test_hostile_names_stay_text() -> None:
    row = broker(
        1,
        rack=HOSTILE,
        listeners=((HOSTILE, Address(HOSTILE, 1)),),
        release=HOSTILE,
        state=HOSTILE,
        failed=(HOSTILE,),
    )
    state = with_description(
        ScreenState(),
        view(row, cluster_id=HOSTILE, missing=HOSTILE, features=(Feature(HOSTILE, None, 1),),
             members=(voter(1, role=HOSTILE, release=HOSTILE, listeners=((HOSTILE, Address(HOSTILE, 1)),)),)),
    )  # fmt: skip
    state = with_note(state, Happening(NOON, "bad", HOSTILE))
    state = with_description(state, view(row._replace(failed=(HOSTILE, HOSTILE + "2")), seconds=1))
    state = replace(state, filter=HOSTILE)

    for each in (state, replace(state, filter=""), replace(state, is_typing=True)):
        for text in ("".join(drawn(each, 500, 40)), "".join(drawn(each))):
            assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e\u200b\ud800]", text)
    assert "\\x1b]0;x\\x07" in "".join(drawn(replace(state, filter=""), 500, 40))


def paged(*keys: str, parts: tuple[str | Table, ...]) -> ScreenState:
    state = placed(busy(), 10, 40)
    for key in keys:
        state = pressed(state, key)
    assert state.subject
    return replace(state, page=Page(state.subject, parts))


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_a_page_fits_any_terminal(columns: int) -> None:
    table = Table(
        (Column("TOPIC"), Column("STATE"), Column("REPLICAS", 1)),
        [[f"{HOSTILE}orders-{number}" * 8, "offline", "1,2,3"] for number in range(100)],
    )

    lines = drawn(paged("down", "enter", parts=("partitions: " + "x" * 300, table)), columns)

    assert lines[3] == "broker 2"
    assert all(width_of_text(line) <= columns for line in lines)
    assert lines[-1].startswith("q quit  ? keys  Esc back  / filter")
    assert re.search(r"  1-19 of \d+$", lines[-1])
    assert lines == drawn(
        paged("down", "enter", parts=("partitions: " + "x" * 300, table)), columns
    )


def test_the_filter_leaves_lines_of_a_page() -> None:
    state = paged("c", parts=("apples", "pears", "green apples"))
    assert drawn(state)[4:8] == ["apples", "pears", "green apples", ""]

    for key in ("/", *"apples green", "enter"):
        state = pressed(state, key)
    assert drawn(state)[4:6] == ["green apples", ""]


def test_a_page_without_an_answer_says_so() -> None:
    assert drawn(pressed(busy(), "o"))[3:5] == ["operations", "it is asked …"]


def test_the_last_line_says_other_keys() -> None:
    assert "Space pause" in drawn(pressed(busy(), "?"))[-1]
    assert "Space pause" not in drawn(pressed(pressed(busy(), "?"), "?"))[-1]
    assert "Space pause" not in drawn(pressed(pressed(busy(), "?"), "down"))[-1]


def test_a_narrow_last_line_says_all_keys_one_part_after_the_other() -> None:
    state, lines = busy(), []
    for _ in range(6):
        lines.append(drawn(state, 40)[-1])
        state = pressed(state, "?")

    assert {"q quit", "o operations", "Space pause", "Esc back"} <= {
        key for line in lines for key in re.split("  +", line)
    }
