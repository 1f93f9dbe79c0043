"""Values of the compiled engine as named tuples of the contracts, which have the same fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

N = TypeVar("N")


def named(kind: type[N], native: object) -> N:
    """Return the named tuple that has the fields of a value of `_native`."""
    make: Callable[..., N] = kind
    fields_of: attrgetter[tuple[Any, ...]] = _fields_of(kind)  # type: ignore[arg-type] # classes hash
    return make(*fields_of(native))


def named_if_any(kind: type[N], native: object | None) -> N | None:
    return None if native is None else named(kind, native)


def named_all(kind: type[N], natives: Iterable[object]) -> list[N]:
    return [named(kind, native) for native in natives]


@cache
def _fields_of(kind: Any) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*kind._fields)
