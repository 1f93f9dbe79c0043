"""The defaults of a query."""

from dataclasses import replace

import pytest

from kraftops.query.query import Query
from kraftops.records.internal_topics import decoder_names


@pytest.mark.parametrize("decoder", [None, *sorted({*decoder_names()} - {"metadata"})])
def test_batch_may_inflate_to_256_mib(decoder: str | None) -> None:
    assert Query(decoder=decoder).max_inflated_bytes == 256 << 20


def test_batch_of_a_metadata_log_may_inflate_to_64_mib() -> None:
    """Also where the decoder is known later than the query, as that of a directory."""
    assert Query(decoder="metadata").max_inflated_bytes == 64 << 20
    assert replace(Query(), decoder="metadata").max_inflated_bytes == 64 << 20


@pytest.mark.parametrize("decoder", [None, "metadata"])
@pytest.mark.parametrize("limit", [0, 100 << 20, 1 << 40])
def test_limit_that_is_given_wins(decoder: str | None, limit: int) -> None:
    assert Query(decoder=decoder, inflation_limit=limit).max_inflated_bytes == limit
