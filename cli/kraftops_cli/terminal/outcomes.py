"""Report of work on several things: each outcome as it happens, then a failure if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from kraftops.errors import with_code
from kraftops.outcomes import Outcome, Result, worst_error
from kraftops_cli.terminal.failure import conclude, fail, failure_of
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

K = TypeVar("K", int, str)

_STYLES = {
    Outcome.DONE: "good",
    Outcome.ALREADY: "good",
    Outcome.UNTRIED: "muted",
    Outcome.UNKNOWN: "warning",
}
_OUTCOME_WIDTH = max(map(len, Outcome))


class OutcomeReport(Generic[K]):
    """Prints each result: in the answer for programs, as a row on a terminal, or as a sentence.

    Sentences of what is done are on standard output, reasons on standard error.
    """

    def __init__(
        self,
        terminal: Terminal,
        noun: str,
        sentence: Callable[[Result[K]], str],
        fields: Callable[[Sequence[Result[K]]], Mapping[str, object]],
        keys: Sequence[K],
    ) -> None:
        """Begin without results.

        Args:
            terminal: Where they are printed.
            noun: A thing that is worked on (`broker`).
            sentence: Returns what was done or would be done, without a newline; or nothing.
            fields: Returns the JSON fields of the answer with the results so far.
            keys: All things; several are a table on a terminal.
        """
        self.results: list[Result[K]] = []
        self._terminal = terminal
        self._noun = noun
        self._sentence: Callable[[Result[K]], str] = sentence
        self._fields: Callable[[Sequence[Result[K]]], Mapping[str, object]] = fields
        self._is_table = not terminal.is_json and len(keys) > 1 and terminal.console.is_terminal
        self._width = max((len(str(key)) for key in [noun, *keys]), default=0)

    def add(self, result: Result[K]) -> None:
        self.results.append(result)
        if self._terminal.is_json:
            # After each result, because an interruption writes the answer so far.
            self._terminal.answer(self._terminal.command, self._fields(self.results))
        elif self._is_table:
            self._print_row(result)
        elif result.error:
            self._terminal.failure(result.error)
        elif sentence := self._sentence(result):
            self._terminal.write(f"{sentence}\n")
        self._terminal.flush()

    def finish(self) -> int:
        """Conclude with a failure where an outcome is not what was asked; return the exit code."""
        if self._terminal.is_json:
            self._terminal.answer(self._terminal.command, self._fields(self.results))
        error = worst_error(self.results)
        if error is None:
            return 0
        untried = [result.key for result in self.results if result.outcome is Outcome.UNTRIED]
        if untried and not self._terminal.is_json and not self._is_table:
            self._terminal.error(f"not tried: {self._noun} {', '.join(map(str, untried))}")
        failure = failure_of(error)
        if self._terminal.is_json or self._is_table:
            return fail(self._terminal, failure)
        return conclude(self._terminal, failure)

    def _print_row(self, result: Result[K]) -> None:
        if len(self.results) == 1:
            self._write_row(self._noun.upper(), "OUTCOME", "", "header")
        error = result.error
        reason = with_code(error.message, error.code) if error else self._sentence(result)
        style = _STYLES.get(result.outcome, "bad")
        self._write_row(str(result.key), result.outcome.value, reason, style)

    def _write_row(self, key: str, outcome: str, reason: str, style: str) -> None:
        """Write a row as soon as it is known, in columns that are as wide as they can be."""
        painted = self._terminal.console.painted(f"{outcome:<{_OUTCOME_WIDTH}}", style)
        row = f"{key:<{self._width}}  {painted}  {escaped(reason)}".rstrip()
        self._terminal.write(f"{row}\n")


def error_fields(result: Result[K]) -> dict[str, object]:
    """Return the further JSON fields of a result: what is known, and the error."""
    error = result.error
    if error is None:
        return {**result.known}
    reason = {"error": error.code, "message": error.message, "hint": error.hint}
    return {**result.known, **reason, **error.known}
