"""The names of record types."""

import pytest

from kraftops.records.control import CONTROL_TYPES
from kraftops.records.decoders import record_types
from kraftops.records.internal_topics import decoder_names
from tests.helpers.logs.corpus_rows import EVERY_LOG, decoder_of, query_of, rows
from tests.helpers.logs.messages import table

CONTROL = frozenset(CONTROL_TYPES)


@pytest.mark.parametrize(
    ("decoder", "name"),
    [
        ("metadata", "PARTITION_CHANGE_RECORD"),
        ("metadata", "REGISTER_BROKER_RECORD"),
        ("offsets", "OFFSET_COMMIT"),
        ("offsets", "GROUP_METADATA"),
        ("transaction", "TRANSACTION_LOG"),
        ("share", "SHARE_SNAPSHOT"),
        ("remote", "REMOTE_LOG_SEGMENT_METADATA_RECORD"),
    ],
)
def test_types_are_those_of_the_decoder_and_of_control_records(decoder: str, name: str) -> None:
    assert record_types(decoder) == record_types(decoder) | CONTROL
    assert name in record_types(decoder)
    assert name in record_types(None)
    for other in {*decoder_names()} - {"user"}:
        assert (name in record_types(other)) is (other == decoder)


def test_user_records_have_no_types() -> None:
    assert record_types("user") == CONTROL


@pytest.mark.parametrize(
    ("dialect", "name"), [("kip-631", "kip_631"), ("kip-631-draft", "kip_631_draft")]
)
def test_dialects_have_types_of_their_own(dialect: str, name: str) -> None:
    assert len(record_types("metadata", dialect) - CONTROL) == len(table(name))


def test_every_type_in_the_corpus_is_known() -> None:
    for path in EVERY_LOG:
        found = {row.type for row in rows(path, query_of(path)) if row.type and not row.error}

        assert found <= record_types(decoder_of(path))
