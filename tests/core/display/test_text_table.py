"""Tables in plain text."""

from kraftops.display.text_table import MOST_ROWS, Page, aligned, cell_text, plain_table, table


def test_columns_are_aligned() -> None:
    rows = [["orders", 1_234_567, None, "x"], ["a", 5, 3, "longer"]]

    assert table(["TOPIC", "COUNT", "N", "NOTE"], rows, 80, unicode=True) == [
        "TOPIC       COUNT  N  NOTE",
        "orders  1,234,567  -  x",
        "a               5  3  longer",
    ]


def test_first_column_is_shortened() -> None:
    rows = [["a-very-long-name-of-a-topic", 5], ["short", 1]]

    assert table(["TOPIC", "COUNT"], rows, 20, unicode=True) == [
        "TOPIC          COUNT",
        "a-very-long-…      5",
        "short              1",
    ]
    assert table(["TOPIC", "COUNT"], rows, 20, unicode=False)[1] == "a-very-long..      5"
    assert table(["TOPIC", "COUNT"], rows, 1, unicode=True)[1] == "a-ve…      5"


def test_control_characters_are_replaced() -> None:
    assert cell_text("a\x1b[31m\nb") == "a?[31m?b"


def test_rows_beyond_the_limit_are_counted() -> None:
    page = Page(80, unicode=True)

    lines = list(page.table(["N"], [[n] for n in range(1_000 + MOST_ROWS)]))

    assert len(lines) == MOST_ROWS + 2
    assert lines[-1] == "and 1,000 more"
    assert list(page.table(["N"], [[n] for n in range(MOST_ROWS)]))[-1] == "19"
    assert list(page.table(["N"], [])) == []


def test_sample_is_marked() -> None:
    assert "a sample" in list(Page(80, unicode=True).table(["N"], [[1]], is_whole=False))[-1]


def test_columns_may_be_aligned_on_the_right() -> None:
    rows = [["a", "1"], ["bb", "22"]]

    assert aligned(rows) == ["a   1", "bb  22"]
    assert aligned(rows, [True, True]) == [" a   1", "bb  22"]


def test_plain_table_has_dashes_and_no_blanks_at_the_end() -> None:
    assert plain_table([("ID", "RACK"), (1, None), (1000, "x")]) == "ID    RACK\n1     -\n1000  x\n"
