"""The values of filter options make a filter, or are refused."""

import time
from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.query.filters import Filter
from kraftops_cli.dump_log.filter_values import parsed_filter, refuse_unknown_types
from kraftops_cli.dump_log.filters import FilterOptions


def parsed(decoder: str | None = "metadata", **values: Any) -> Filter:
    return parsed_filter(FilterOptions(**values), decoder)


def test_nothing_is_filtered_without_options() -> None:
    assert parsed().is_empty


def test_each_option_is_a_condition() -> None:
    found = parsed(
        types=("TOPIC_RECORD,partition", "noop"),
        topics=("t",),
        keys=("k", "l"),
        offsets="5..9",
    )

    assert found == Filter(
        types=frozenset({"topic", "partition", "noop"}),
        topics=frozenset({"t"}),
        keys=frozenset({"k", "l"}),
        first_offset=5,
        last_offset=9,
    )


def test_times_are_dates_or_before_now() -> None:
    before = time.time() * 1000

    found = parsed(since="1970-01-01T00:00:01Z", until="2h")

    assert found.since == 1000
    assert before - 7_200_001 <= found.until <= time.time() * 1000 - 7_200_000


@pytest.mark.parametrize(
    ("decoder", "name", "is_known"),
    [
        ("metadata", "topic", True),
        ("metadata", "offsetcommit", False),
        (None, "topic", True),
        (None, "nonsense", False),
        ("metadata", "leaderchange", True),
    ],
)
def test_type_must_be_one_of_the_decoder(decoder: str | None, name: str, is_known: bool) -> None:
    if is_known:
        assert parsed(decoder, types=(name,)).types == {name}
        return
    with pytest.raises(UsageError, match=f"no record type '{name}'"):
        parsed(decoder, types=(name,))


@pytest.mark.parametrize(
    ("types", "decoders", "is_refused"),
    [
        pytest.param({"topic"}, {None}, True, id="no-decoder"),
        pytest.param({"topic"}, {None, "user"}, True, id="users"),
        pytest.param({"topic"}, {None, "metadata"}, False, id="one-has-a-decoder"),
        pytest.param({"leaderchange"}, {None}, False, id="control"),
        pytest.param({"leaderchange", "topic"}, {"user"}, True, id="control-and-others"),
        pytest.param(set(), {None}, False, id="no-types"),
    ],
)
def test_types_without_a_decoder_are_refused(
    types: set[str], decoders: set[str | None], is_refused: bool
) -> None:
    filter_ = Filter(types=frozenset(types))
    if not is_refused:
        refuse_unknown_types(filter_, decoders)
        return
    with pytest.raises(UsageError, match="none is chosen") as refused:
        refuse_unknown_types(filter_, decoders)
    assert "--cluster-metadata-decoder" in (refused.value.hint or "")
