"""The lines of rows by format."""

import json

import pytest

from kraftops.java.text import decode_utf8
from kraftops.query.formats import CSV, CSV_SAFE, JSON, Format
from kraftops.query.row import Row
from kraftops.query.row_lines import lines_of
from kraftops.records.long_text import LongText

ROW = Row("0.log", 0, offset=7, kind="user", key="k", value='a "text"')


@pytest.mark.parametrize("form", [JSON, CSV, CSV_SAFE], ids=lambda form: form.name)
def test_row_with_a_long_value_has_the_same_line(form: Format) -> None:
    lines = lines_of(form)
    for text in ('a "text"', "=1+1", '-"', "", "\t"):
        long = ROW._replace(value=LongText(memoryview(text.encode()), decode_utf8, is_utf8=True))

        assert "".join(lines.pieces(long)) == lines.line(ROW._replace(value=text))


def test_line_has_the_form_of_its_format() -> None:
    assert json.loads(lines_of(JSON).line(ROW))["value"] == 'a "text"'
    assert '"a ""text"""' in lines_of(CSV).line(ROW)
