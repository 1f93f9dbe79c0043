"""The details of a summary, by decoder."""

import pytest

from kraftops.dump.summary.details import NoDetails, details_for
from kraftops.log.batch import Record
from tests.helpers.logs.summaries import as_json, empty_summary


@pytest.mark.parametrize(
    ("decoder", "names"),
    [
        ("offsets", {"groups"}),
        ("transaction", {"transactionalIds"}),
        ("metadata", set()),
        ("user", set()),
    ],
)
def test_decoder_adds_its_fields_to_a_summary(decoder: str, names: set[str]) -> None:
    added = as_json(empty_summary(decoder)).keys() & {"groups", "transactionalIds"}

    assert added == names


def test_decoder_without_details_counts_nothing() -> None:
    details, later = (details_for("user", has_open=True) for _ in range(2))
    details.add_record(Record(0, 0, b"not a key of a coordinator", None), -1)
    details.add_marker(7, is_commit=True)
    details.merge(later)

    assert isinstance(details, NoDetails)


def test_details_of_two_summaries_are_separate() -> None:
    first, second = (details_for("offsets", has_open=True) for _ in range(2))
    key = b"\0\x02\0\x01g"
    first.add_record(Record(0, 0, key, None), 7)

    assert [as_json(details, "groups")["pendingOffsets"] for details in (first, second)] == [1, 0]
