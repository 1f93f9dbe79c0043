"""Source of a generated function: its lines, and the objects that they refer to."""

from collections.abc import Callable
from itertools import count
from struct import Struct
from typing import Any

from kraftops.schema.message import SCALARS, Field


class Source:
    """Lines of one generated function; `function` compiles them."""

    def __init__(self, names: dict[str, object]) -> None:
        self._names = names
        self._lines: list[str] = []
        self._numbers = count()

    def add(self, depth: int, *lines: str) -> None:
        """Append *lines*, indented by *depth* levels."""
        self._lines += ["    " * depth + line for line in lines]

    def name(self, prefix: str, value: object = None) -> str:
        """Return a fresh name; the generated code knows *value* by it, if there is one."""
        name = f"{prefix}{next(self._numbers)}"
        if value is not None:
            self._names[name] = value
        return name

    def function(self, name: str) -> Callable[..., Any]:
        """Compile the lines and return the function that they define as *name*."""
        exec("\n".join(self._lines), self._names)  # noqa: S102 - the source is made from the tables of this package
        return self._names[name]  # type: ignore[return-value]


def fixed_runs(fields: list[Field]) -> list[list[Field]]:
    """Group neighbours of fixed width, to be read by one `Struct`; other fields stand alone."""
    runs: list[list[Field]] = []
    for field in fields:
        if field.is_fixed and runs and runs[-1][0].is_fixed:
            runs[-1].append(field)
        else:
            runs.append([field])
    return runs


def struct_of(fields: list[Field]) -> Struct:
    """Return the `Struct` of a run of fixed-width fields."""
    return Struct(">" + "".join(SCALARS[field.type] for field in fields))
