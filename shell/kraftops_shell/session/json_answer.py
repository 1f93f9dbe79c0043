"""The JSON of a command: one object with a list of rows, or a line for each row."""

from collections.abc import Callable, Mapping, Sequence

from kraftops.answers.version import JSON_VERSION
from kraftops.tree.node import json_text


class JsonAnswer:
    """Writes the JSON of a command while its rows come: there can be millions."""

    def __init__(
        self, out: Callable[[str], object], command: str, rows: str = "", *, is_lines: bool = False
    ) -> None:
        """Begin the answer.

        Args:
            out: Writes text.
            command: Name of the command.
            rows: Name of the list of rows, or nothing where there are only fields.
            is_lines: Whether each row is a line of its own, without an object around them.
        """
        self._out = out
        self._rows = rows
        self._is_lines = is_lines
        self._has_row = self._is_over = False
        self._head = {"command": command, "formatVersion": JSON_VERSION}
        if not is_lines:
            out(json_text(self._head)[:-1])
        if rows and not is_lines:
            out(f",{json_text(rows)}:[")

    def put(self, row: Mapping[str, object]) -> None:
        self.put_texts([json_text(row)])

    def put_texts(self, rows: Sequence[str]) -> None:
        if self._is_lines:
            self._out("\n".join([*rows, ""]))
        else:
            self._out("," * self._has_row + ",".join(rows))
            self._has_row = True

    def put_fields(self, fields: Mapping[str, object]) -> None:
        """Write fields after others of the object that is open."""
        self._out(f",{json_text(fields)[1:-1]}")

    def end(self, fields: Mapping[str, object]) -> None:
        """Write further fields of the object, for example of a failure, and its end, once."""
        if self._is_over:
            return
        self._is_over = True
        if not self._is_lines:
            more = json_text(fields)[1:-1]
            self._out(("]" if self._rows else "") + (f",{more}" if more else "") + "}\n")
        elif fields:
            self._out(json_text({**self._head, **fields}) + "\n")
