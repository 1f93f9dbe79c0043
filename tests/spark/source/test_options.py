"""Options of the data source, without a session."""

import pytest

from kraftops.errors import UsageError
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.spark.source.options import query_from_text, query_text, source_options


def test_names_may_be_in_any_case() -> None:
    options = source_options({"PATH": "a.log", "FromStart": "TRUE", "splitbytes": "100"})

    assert options.names == ("a.log",)
    assert options.from_start
    assert options.split_bytes == 100


def test_several_paths_are_a_json_list() -> None:
    assert source_options({"paths": '["a.log", "b,c.log"]'}).names == ("a.log", "b,c.log")


def test_query_survives_its_text() -> None:
    wanted = Filter(types=frozenset({"topic", "config"}), first_offset=3, keys=frozenset({"k"}))
    query = Query(decoder="metadata", form="json", filter=wanted)

    assert query_from_text(query_text(query)) == query


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "no path is given"),
        ({"path": "a", "nonsense": "1"}, "no option 'nonsense'"),
        ({"path": "a", "raw": "yes"}, "raw is true or false, not 'yes'"),
        ({"path": "a", "groups": "g", "decoder": "metadata"}, "has records about groups"),
        ({"path": "a", "cores": "-1"}, "cores is a number, not '-1'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        source_options(options)
