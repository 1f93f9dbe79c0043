"""Conditions on rows, and on batches by their headers."""

from typing import Any

import pytest

from kraftops.log.batch import Batch, Record
from kraftops.query.conditions.rows import row_condition
from kraftops.query.row import Row
from tests.helpers.logs.written import batch_bytes

VALUE = '{"a":1,"b":{"c":["x",null]},"d":true,"e":[]}'
ROW = Row("f", 0, offset=7, kind="metadata", version=3, value=VALUE, transactional=False)
HEADERS = (("a", b"x\xff"), ("b", None), ("c", b"y"), ("c", b"z"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value.a = 1", True),
        ("value.b.c.0 = 'x'", True),
        ("value.b.c.1 is null", True),
        ("value.b.c.2 is null", True),
        ("len(value.b.c) = 2", True),
        ("value.b is null", False),
        ("value.d", True),
        ("value.z is null", True),
        ("value.z != 1", False),
        ("value.a.b = 1", False),
        ("value ~ '\"a\":1'", True),
        ("transactional = false", True),
        ("producerId is null", True),
        ("version >= 3 and offset in (7, 8)", True),
        ("headers is null", False),
        ("len(headers) = 0", True),
        ("key.x is null", True),
    ],
)
def test_condition_on_a_row(text: str, expected: bool) -> None:
    assert row_condition(text).holds(ROW) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("headers.a = 'x\ufffd'", True),
        ("headers.b is null", True),
        ("headers.c = 'z'", True),
        ("headers.c.d is null", True),
        ("headers.d is null", True),
        ("len(headers) = 4", True),
        ("headers.a !~ 'y'", True),
    ],
)
def test_headers_are_found_by_key_and_the_last_one_counts(text: str, expected: bool) -> None:
    assert row_condition(text).holds(ROW._replace(headers=HEADERS)) is expected


def test_text_of_users_has_no_fields() -> None:
    row = Row("f", 0, offset=7, kind="user", value='{"a":1}')

    assert not row_condition("value.a = 1").holds(row)
    assert row_condition("value = '{\"a\":1}'").holds(row)


@pytest.mark.parametrize(
    ("text", "is_ruled_out"),
    [
        ("producerId = 9", False),
        ("producerId = 8", True),
        ("producerId is null", False),  # its row, if the batch is damaged
        ("producerId != 9", True),
        ("not producerId != 9", False),
        ("codec = 'zstd' and value.a = 1", True),
        ("codec = 'zstd' or value.a = 1", False),
        ("transactional", True),
        ("control or leaderEpoch > 5", True),
        ("timestampType = 'CreateTime'", False),
        ("offset = 100", False),
    ],
)
def test_header_rules_a_batch_out(text: str, is_ruled_out: bool) -> None:
    fields: dict[str, Any] = {"producer_id": 9, "producer_epoch": 1, "leader_epoch": 3}
    raw = batch_bytes([Record(0, 5, None, b"v")], **fields)

    assert row_condition(text).is_ruled_out(Batch(0, len(raw), raw).header) is is_ruled_out
