"""Tables on terminals of several widths, and in pipes."""

import io
import re
from collections.abc import Iterable, Sequence

import pytest

from kraftops.display.columns import Bytes, Cell, Column, Styled, folded
from kraftops_terminal import console as console_module
from kraftops_terminal.console import Console
from kraftops_terminal.tables import Table, fitted, print_table

COLUMNS = [
    Column("TOPIC", is_folded=True, style="name"),
    Column("RECORDS", justify="right"),
    Column("SIZE", priority=1, justify="right"),
    Column("LAST COMMIT", priority=3),
    Column("DIRECTORY", priority=2, is_folded=True),
]
ROWS: list[Sequence[Cell]] = [
    ["orders", 1_234_567, Bytes(2048), "2026-11-22 10:00:00", "/var/lib/kafka/data"],
    ["日本語", 5, Bytes(7), None, "/var/lib/kafka/e\u0301"],
]


@pytest.fixture
def width(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list with the width of terminals, which can be set."""
    size = [80]
    monkeypatch.setattr(console_module, "width_of", lambda _: size[0])
    return size


def printed(
    rows: Iterable[Sequence[Cell]] = ROWS,
    *,
    is_terminal: bool = True,
    environment: dict[str, str] | None = None,
    color: str = "auto",
    columns: Sequence[Column] = COLUMNS,
    **options: object,
) -> str:
    out = io.StringIO()
    console = Console(out.write, 1, is_terminal, color, environment or {"TERM": "xterm"})
    print_table(console, Table(columns, rows, **options))  # type: ignore[arg-type]
    return out.getvalue()


def plain(text: str) -> list[str]:
    return [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()]


def test_pipe_has_plain_aligned_and_uncut_text() -> None:
    assert printed(is_terminal=False) == (
        "TOPIC     RECORDS     SIZE  LAST COMMIT          DIRECTORY\n"
        "orders  1,234,567  2.0 KiB  2026-11-22 10:00:00  /var/lib/kafka/data\n"
        "日本語          5      7 B  -                    /var/lib/kafka/e\u0301\n"
    )


def test_wide_terminal_shows_the_same_columns(width: list[int]) -> None:
    width[0] = 200

    assert plain(printed()) == printed(is_terminal=False).splitlines()


def test_long_text_is_folded_before_a_column_is_left_out(width: list[int]) -> None:
    width[0] = 66

    assert plain(printed())[:3] == [
        "TOPIC     RECORDS     SIZE  LAST COMMIT          DIRECTORY",
        "orders  1,234,567  2.0 KiB  2026-11-22 10:00:00  /var/lib/kafka/da",
        "                                                 ta",
    ]


def test_columns_are_left_out_by_priority_and_named(width: list[int]) -> None:
    width[0] = 42

    lines = plain(printed())

    assert lines[0] == "TOPIC     RECORDS     SIZE  DIRECTORY"
    assert lines[-2:] == [
        "no room for LAST COMMIT: a wider terminal",
        "or a pipe shows all columns",
    ]


@pytest.mark.parametrize("size", [12, 20, 30, 40, 60, 80, 120])
def test_no_line_of_a_table_is_wider_than_the_terminal(width: list[int], size: int) -> None:
    from rich.cells import cell_len

    width[0] = size

    lines = plain(printed())

    assert max(cell_len(line) for line in lines if not line.startswith("no room")) <= size
    assert "TOPI" in "".join(lines)


def test_no_letter_is_lost_by_folding(width: list[int]) -> None:
    width[0] = 12

    lines = plain(printed([["x" * 50]], columns=COLUMNS[:1]))

    assert fitted(COLUMNS[:1], [50], 12) == {0: 12}
    assert [len(line) for line in lines] == [5, 12, 12, 12, 12, 2]


def test_a_name_is_whole_while_a_column_can_be_left_out() -> None:
    columns = [folded("TOPIC", style="name"), Column("SIZE"), Column("INDEXES", 3)]

    assert fitted(columns, [18, 8, 8], 34, [18, 0, 0]) == {0: 18, 1: 8}
    assert fitted(columns[:2], [18, 8], 22, [18, 0]) == {0: 12, 1: 8}


def test_styles_are_colours_of_the_terminal(width: list[int]) -> None:
    rows: list[Sequence[Cell]] = [[Styled("fenced", "bad"), 1]]
    columns = COLUMNS[:2]

    assert "\x1b[1;31mfenced" in printed(rows, columns=columns)
    for environment in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in printed(rows, columns=columns, environment=environment)
    assert "\x1b" not in printed(rows, columns=columns, color="never")
    assert "\x1b[1;31mfenced" in printed(rows, columns=columns, is_terminal=False, color="always")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_cells_and_titles_are_escaped(width: list[int], is_terminal: bool) -> None:
    text = printed(
        [["a\x1b[31m\nb[red]", 1]], columns=COLUMNS[:2], title="t\x07", is_terminal=is_terminal
    )

    assert "a\\x1b[31m\\nb[red]" in text
    assert plain(text)[0] == "t\\x07"


def test_rows_beyond_the_limit_are_counted_on_a_terminal(width: list[int]) -> None:
    columns = [Column("N", justify="right")]
    rows = [[number] for number in range(1_030)]

    on_terminal = plain(printed(rows, columns=columns, limit=20))
    in_pipe = plain(printed(rows, columns=columns, limit=20, is_terminal=False))

    assert (len(on_terminal), on_terminal[-1]) == (22, "and 1,010 more")
    assert (len(in_pipe), in_pipe[-1]) == (1_031, "1,029")
    assert printed([], columns=columns, title="nothing") == ""


def test_total_is_the_last_row(width: list[int]) -> None:
    columns = [Column("TOPIC"), Column("N", justify="right")]
    rows: list[Sequence[Cell]] = [["a", 1], ["b", 2]]

    assert plain(printed(rows, columns=columns, total=["total", 3]))[-1] == "total  3"
    assert printed(rows, columns=columns, total=["total", 3], is_terminal=False).endswith(
        "total  3\n"
    )
