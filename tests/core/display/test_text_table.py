"""Tables in plain text."""

from kraftops.display.text_table import (
    MOST_ROWS,
    Bytes,
    Page,
    aligned,
    cell_text,
    plain_table,
    table,
)


def test_columns_are_aligned() -> None:
    rows = [["orders", 1_234_567, None, "x"], ["a", 5, 3, "longer"]]

    assert table(["TOPIC", "COUNT", "N", "NOTE"], rows, 80) == [
        "TOPIC       COUNT  N  NOTE",
        "orders  1,234,567  -  x",
        "a               5  3  longer",
    ]


def test_texts_share_the_width_and_nothing_is_cut() -> None:
    rows = [["a-very-long-name-of-a-topic", 5, "x"], ["short", 1_234, "another-long-text-it-is"]]

    assert table(["TOPIC", "COUNT", "NOTE"], rows, 38) == [
        "TOPIC           COUNT  NOTE",
        "a-very-long-na      5  x",
        "me-of-a-topic",
        "short           1,234  another-long-te",
        "                       xt-it-is",
    ]
    assert (
        table(["TOPIC", "COUNT", "NOTE"], rows, None)[1] == "a-very-long-name-of-a-topic      5  x"
    )


def test_times_are_folded_at_the_blank() -> None:
    rows = [["t", "2026-11-22 10:00:00"]]

    assert table(["TOPIC", "TO"], rows, 20)[1:] == ["t      2026-11-22", "       10:00:00"]


def test_bytes_have_a_unit() -> None:
    rows = [[Bytes(2_048)], [Bytes(7)]]

    assert table(["SIZE"], rows, None) == ["   SIZE", "2.0 KiB", "    7 B"]


def test_columns_stay_readable_where_there_is_no_room() -> None:
    narrow = table(["TOPIC", "COUNT"], [["a-very-long-name-of-a-topic", 1_234_567]], 5)

    assert narrow == [
        "TOPIC         COUNT",
        "a-very-l  1,234,567",
        "ong-name",
        "-of-a-to",
        "pic",
    ]


def test_control_characters_are_replaced() -> None:
    assert cell_text("a\x1b[31m\nb") == "a?[31m?b"


def test_rows_beyond_the_limit_are_counted() -> None:
    page = Page(80, unicode=True)

    lines = list(page.table(["N"], [[n] for n in range(1_000 + MOST_ROWS)]))

    assert len(lines) == MOST_ROWS + 2
    assert lines[-1] == "and 1,000 more"
    assert list(page.table(["N"], [[n] for n in range(MOST_ROWS)]))[-1] == "19"
    assert list(page.table(["N"], [])) == []


def test_all_rows_are_shown_where_there_is_no_terminal() -> None:
    lines = list(Page(None, unicode=True).table(["N"], [[n] for n in range(1_000)]))

    assert (len(lines), lines[-1]) == (1_001, "999")


def test_sample_is_marked() -> None:
    assert "a sample" in list(Page(80, unicode=True).table(["N"], [[1]], is_whole=False))[-1]


def test_columns_may_be_aligned_on_the_right() -> None:
    rows = [["a", "1"], ["bb", "22"]]

    assert aligned(rows) == ["a   1", "bb  22"]
    assert aligned(rows, [True, True]) == [" a   1", "bb  22"]


def test_plain_table_has_dashes_and_no_blanks_at_the_end() -> None:
    assert plain_table([("ID", "RACK"), (1, None), (1000, "x")]) == "ID    RACK\n1     -\n1000  x\n"
