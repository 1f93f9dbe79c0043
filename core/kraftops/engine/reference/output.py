"""What a scan has made since its last call ended."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from kraftops.engine.scan_contract import MOST_OUTPUT, Note, NoteKind, Outcome, Why


class Output:
    """Lines, and notes of what is wrong."""

    def __init__(self, *, marks: bool) -> None:
        """Begin with nothing; with *marks*, it is kept where lines end."""
        self._parts: list[bytes] = []
        self._size = 0
        self._keeps_marks = marks
        self._marks = array("i")
        self.gaps = array("q")
        self.notes: list[Note] = []

    @property
    def is_full(self) -> bool:
        """Whether the call should end."""
        return self._size >= MOST_OUTPUT

    def line(self, text: str, *, leads: bool = False) -> None:
        """Add the line of a record; one that *leads* is of a batch whose records follow."""
        part = text.encode()
        self._parts.append(part)
        self._size += len(part)
        if self._keeps_marks:
            self._marks.append(-self._size if leads else self._size)

    def long_line(self, pieces: Iterable[str]) -> Iterator[None]:
        """Add a line piece by piece; pause where the call should end, unless that cuts a record."""
        for text in pieces:
            part = text.encode()
            self._parts.append(part)
            self._size += len(part)
            if self.is_full and not self._keeps_marks:
                yield
        if self._keeps_marks:
            self._marks.append(self._size)

    def count_row(self) -> None:
        """Know that a row was made that is no line."""
        self._size += 1

    def failure(self, position: int, reason: str) -> None:
        """Note what Kafka's tool dies of."""
        self.notes.append(Note(NoteKind.FAILURE, position, reason, self._size))

    def finding(self, position: int, reason: str) -> None:
        """Note other damage."""
        self.notes.append(Note(NoteKind.FINDING, position, reason, self._size))

    def take(self, following: int, why: Why) -> Outcome:
        """Return what there is, and begin anew."""
        taken = Outcome(
            b"".join(self._parts),
            following,
            why,
            self.notes,
            self.gaps.tobytes(),
            self._marks.tobytes(),
        )
        self._parts, self._size, self.notes = [], 0, []
        self._marks, self.gaps = array("i"), array("q")
        return taken
