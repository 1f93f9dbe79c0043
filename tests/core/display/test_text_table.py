"""Tables in plain text."""

from kraftops.display.text_table import plain_table


def test_plain_table_has_dashes_and_no_blanks_at_the_end() -> None:
    assert plain_table([("ID", "RACK"), (1, None), (1000, "x")]) == "ID    RACK\n1     -\n1000  x\n"
