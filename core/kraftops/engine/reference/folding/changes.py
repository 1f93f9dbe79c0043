"""The changes of watched entries by a record."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.engine.metadata_state import EntryChange, EntryKey


class WatchedChanges:
    """The changes of watched entries by the last record."""

    def __init__(self) -> None:
        self._watched: dict[str, list[tuple[object, ...]]] = {}
        self._found: dict[tuple[str, tuple[object, ...]], EntryChange] = {}

    def watch(self, keys: Sequence[EntryKey]) -> None:
        """Watch these entries, and no others any more."""
        self._watched = {}
        for table, key in keys:
            self._watched.setdefault(table, []).append(key)

    def clear(self) -> None:
        """Begin with the next record."""
        self._found.clear()

    def note(
        self, table: str, key: tuple[object, ...], before: int | None, after: int | None
    ) -> None:
        """Note the newest addresses of an entry; removing and putting it again is one change.

        An entry that was not there, and is not, did not change.
        """
        if before is None and after is None:
            return
        for beginning in self._watched.get(table, ()):
            if key[: len(beginning)] == beginning:
                earlier = self._found.get((table, key))
                first = before if earlier is None else earlier.before
                self._found[table, key] = EntryChange(table, key, first, after)
                return

    @property
    def found(self) -> list[EntryChange]:
        """The changes, in the order of the entries' first ones."""
        return list(self._found.values())

    def __bool__(self) -> bool:
        return bool(self._found)
