"""What a record did to the entries that somebody watches."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.engine.fold_contract import Touch, Watch


class Touches:
    """Collects what one record after the other does."""

    def __init__(self) -> None:
        self._watched: dict[str, list[tuple[object, ...]]] = {}
        self._found: dict[tuple[str, tuple[object, ...]], Touch] = {}

    def watch(self, watches: Sequence[Watch]) -> None:
        """Collect what is about one of these, and no more what was about others."""
        self._watched = {}
        for table, key in watches:
            self._watched.setdefault(table, []).append(key)

    def clear(self) -> None:
        """Begin with the next record."""
        self._found.clear()

    def note(
        self, table: str, key: tuple[object, ...], before: int | None, after: int | None
    ) -> None:
        """Note the newest addresses of an entry; what was removed and put again is one touch.

        What was not there, and is not, was not touched.
        """
        if before is None and after is None:
            return
        for begin in self._watched.get(table, ()):
            if key[: len(begin)] == begin:
                earlier = self._found.get((table, key))
                first = before if earlier is None else earlier.before
                self._found[table, key] = Touch(table, key, first, after)
                return

    @property
    def found(self) -> list[Touch]:
        """What the last record did."""
        return list(self._found.values())

    def __bool__(self) -> bool:
        return bool(self._found)
