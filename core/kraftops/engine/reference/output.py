"""The output of a scan since its last call."""

from array import array
from collections.abc import Iterable, Iterator

from kraftops.engine.scan_contract import MAX_OUTPUT, Note, NoteKind, Outcome, Why
from kraftops.errors import BatchLimitError, DecodeError


class Output:
    """Lines, and notes of problems."""

    def __init__(self, *, marks: bool) -> None:
        """Begin without output; *marks* keeps the ends of lines."""
        self._parts: list[bytes] = []
        self._size = 0
        self._has_marks = marks
        self._marks = array("i")
        self.gaps = array("q")
        self.notes: list[Note] = []

    @property
    def is_full(self) -> bool:
        """Whether the call should end."""
        return self._size >= MAX_OUTPUT

    def line(self, text: str, *, is_batch: bool = False) -> None:
        """Add the line of a record, or of a batch before its records."""
        part = text.encode()
        self._parts.append(part)
        self._size += len(part)
        if self._has_marks:
            self._marks.append(-self._size if is_batch else self._size)

    def long_line(self, pieces: Iterable[str]) -> Iterator[None]:
        """Add a line piece by piece; pause if the call should end."""
        for text in pieces:
            part = text.encode()
            self._parts.append(part)
            self._size += len(part)
            if self.is_full:
                yield
        if self._has_marks:
            self._marks.append(self._size)

    def count_row(self) -> None:
        self._size += 1

    def lost_batch(self, position: int, error: DecodeError | MemoryError) -> str:
        """Note a batch that cannot be read, or takes more than it may; return why."""
        if isinstance(error, MemoryError):
            error = BatchLimitError("the batch needs more memory than there is")
        kind = NoteKind.LIMIT if isinstance(error, BatchLimitError) else NoteKind.FAILURE
        self.notes.append(Note(kind, position, error.message, self._size))
        return error.message

    def failure(self, position: int, reason: str) -> None:
        """Note a problem that Kafka's tool dies of."""
        self.notes.append(Note(NoteKind.FAILURE, position, reason, self._size))

    def finding(self, position: int, reason: str) -> None:
        """Note other damage."""
        self.notes.append(Note(NoteKind.FINDING, position, reason, self._size))

    def take(self, following: int, why: Why) -> Outcome:
        """Return the output, and begin again without."""
        taken = Outcome(
            out=b"".join(self._parts),
            next=following,
            why=why,
            notes=self.notes,
            gaps=self.gaps.tobytes(),
            marks=self._marks.tobytes(),
        )
        self._parts, self._size, self.notes = [], 0, []
        self._marks, self.gaps = array("i"), array("q")
        return taken
