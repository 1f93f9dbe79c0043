"""Search for paths by some of their letters."""

from time import monotonic

import pytest

from kraftops.tree.node import Directory, fixed
from kraftops_shell.repl.path_search import PathSearch
from tests.helpers.tree.small_trees import directory, leaf

TREE = {
    "image": {
        "cluster": {"brokers": {"1": 1}},
        "topics": {
            "byId": {"orders-id": {"0": 1}},
            "byName": {"orders": {"0": 1, "10": 1}, "Orders": {"0": 1}, "o[r]d*": {}},
        },
    },
}
ORDERS = "/image/topics/byName/orders"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("orders", ORDERS),
        ("Orders", "/image/topics/byName/Orders"),
        ("tno10", f"{ORDERS}/10"),
        ("brk1", "/image/cluster/brokers/1"),
        ("/image/topics/byN", "/image/topics/byName"),
        ("[r]", r"/image/topics/byName/o\[r]d\*"),
    ],
)
def test_best_path_is_first(query: str, first: str) -> None:
    search = PathSearch(directory(TREE))

    found = search.best(query, seconds=10)

    assert search.is_complete
    assert first in found[:2]
    assert found[0].lower() == first.lower()


def test_letters_narrow_the_search_and_others_begin_a_new_one() -> None:
    search = PathSearch(directory(TREE))

    for query in ("o", "or", "ord", "br", "orders"):
        found = search.best(query, seconds=10)
        assert found == PathSearch(directory(TREE)).best(query, seconds=10)
    assert search.best("xyz", seconds=10) == []
    assert len(search.best("", seconds=10, most=3)) == 3


def test_search_ends_in_time_and_goes_on_with_the_next_letter() -> None:
    wide = Directory(lambda: map(str, range(10**9)), lambda _: leaf(1), is_known_flat=True)
    search = PathSearch(fixed({"wide": wide}))
    begin = monotonic()

    first = search.best("wide/77", seconds=0.05, most=1)

    assert monotonic() - begin < 60
    assert not search.is_complete
    assert first == ["/wide/77"]
    assert search.best("wide/777", seconds=0.05, most=1) == ["/wide/777"]
