"""Changes of watched entries are collected, one for each entry and record."""

import pytest

from kraftops.engine.metadata_state import EntryChange, EntryKey
from kraftops.engine.reference.folding.changes import WatchedChanges


def test_removing_and_putting_an_entry_is_one_change() -> None:
    changes = WatchedChanges()
    changes.watch([EntryKey("topics")])

    changes.note("topics", (b"a",), 1, None)
    changes.note("topics", (b"a",), None, 5)

    assert changes.found == [EntryChange("topics", (b"a",), 1, 5)]


@pytest.mark.parametrize(
    ("table", "key", "before"),
    [
        pytest.param("brokers", (b"a", 1), 1, id="other-table"),
        pytest.param("partitions", (b"b", 1), 1, id="other-key"),
        pytest.param("partitions", (b"a", 1), None, id="never-there"),
    ],
)
def test_other_entries_are_left_out(
    table: str, key: tuple[object, ...], before: int | None
) -> None:
    changes = WatchedChanges()
    changes.watch([EntryKey("partitions", (b"a",))])

    changes.note(table, key, before, None)

    assert not changes


def test_next_record_begins_without_changes() -> None:
    changes = WatchedChanges()
    changes.watch([EntryKey("brokers")])
    changes.note("brokers", (1,), None, 5)

    changes.clear()
    assert not changes
    changes.note("brokers", (1,), 5, 6)
    assert changes.found == [EntryChange("brokers", (1,), 5, 6)]
