"""The formats of output."""

from kraftops.query.formats import FORMATS
from kraftops.query.row import COLUMNS


def test_only_csv_begins_with_a_line() -> None:
    heads = {name: form.head for name, form in FORMATS.items() if form.head}

    assert heads == dict.fromkeys(("csv", "csv-safe"), ",".join(COLUMNS) + "\n")


def test_text_and_columns_are_no_lines_of_rows() -> None:
    assert [name for name, form in FORMATS.items() if form.is_text] == ["text"]
    assert [name for name, form in FORMATS.items() if form.is_columns] == ["parquet"]
