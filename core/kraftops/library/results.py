"""Results of the library: lists of plain objects, which can be tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from kraftops.answers.fields import Field, json_of
from kraftops.dump.scan.arrow import table_of_objects
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Finding, exit_code, worst_first

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
_MOST_SHOWN = 3  # a screen of a session has room for little more


@dataclass(frozen=True, repr=False)
class Results(Sequence[T], Generic[T]):
    """A sequence of *rows*, each with the *fields* that the JSON of the commands has."""

    rows: Sequence[T]
    fields: Sequence[Field]
    line: Callable[[T], str] = repr
    """Returns a row in a line, for `repr`."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[T]:
        return iter(self.rows)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self.rows[index]

    def __repr__(self) -> str:
        lines = [self.line(row) for row in self.rows[:_MOST_SHOWN]]
        more = [f"… {len(self) - _MOST_SHOWN} more"] if len(self) > _MOST_SHOWN else []
        return "\n".join([f"{type(self).__name__} ({len(self)})", *lines, *more])

    def to_dicts(self) -> list[dict[str, object]]:
        """Return the rows as the commands' JSON has them."""
        return [json_of(self.fields, row) for row in self.rows]

    def to_arrow(self) -> pa.Table:
        """Return the rows as a table of Arrow.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return table_of_objects(self.to_dicts(), self.fields)

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame of pandas, which must be installed; errors as above."""
        return self.to_arrow().to_pandas()


@dataclass(frozen=True, repr=False)
class Findings(Results[Finding]):
    """What is wrong, the worst first; true if anything is worse than a note."""

    def __bool__(self) -> bool:
        return bool(exit_code(self.rows))


def findings_of(findings: Iterable[Finding]) -> Findings:
    """Return findings as a table, the worst first."""
    return Findings(worst_first(findings), FINDING, str)
