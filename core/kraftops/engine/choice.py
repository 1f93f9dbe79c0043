"""The choice of an engine, and the folds and indexes that it makes."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.records.dialects import dialect

if TYPE_CHECKING:
    from kraftops.engine.fold_contract import Fetch, Fold
    from kraftops.engine.index_contract import RecordGroup

ENGINES = ("native", "reference")
_VARIABLE = "KRAFTOPS_ENGINE"


def engine_name() -> str:
    """Return the name of the engine that is used.

    Raises:
        UsageError: KRAFTOPS_ENGINE names no engine, or one that is not there.
    """
    return _engine(os.environ.get(_VARIABLE, ""))


@cache
def why_not_native() -> str | None:
    try:
        from kraftops.engine import _native  # noqa: F401 - only to see whether it loads
    except ImportError as error:
        if error.name == "kraftops.engine":  # it is there, but not the extension beside it
            return "not built"
        return str(error)
    return None


@cache
def _engine(name: str) -> str:
    if name not in ("", *ENGINES):
        raise UsageError(
            f"{_VARIABLE} is {name!r}: there is no such engine", hint=f"{' or '.join(ENGINES)}"
        )
    if name == "reference":
        return name
    reason = why_not_native()
    if reason is None:
        return "native"
    if name:
        raise UsageError(f"{_VARIABLE} asks for the native engine, which is {reason}")
    return "reference"


def open_fold(dialect_name: str, fetch: Fetch) -> Fold:
    """Return an empty fold by the engine that is used; drafts of KIP-631 use the reference.

    Args:
        dialect_name: how records are framed and numbered.
        fetch: returns the bytes of a batch that is needed again.

    Raises:
        UsageError: there is no such dialect; see also `engine_name`.
    """
    if _has_native_fold(dialect_name):
        from kraftops.engine.native_fold import NativeFold

        return NativeFold(fetch)
    from kraftops.engine.reference.fold import ReferenceFold

    return ReferenceFold(dialect_name, fetch)


def index_records(
    dialect_name: str, data: bytes, position: int, number: int, stop: int
) -> list[RecordGroup]:
    """Return the groups of similar records; see `kraftops.engine.reference.index.index_records`.

    Raises:
        UsageError: there is no such dialect; see also `engine_name`.
    """
    if _has_native_fold(dialect_name):
        from kraftops.engine.native_rules import index_records as index_natively

        return index_natively(data, position, number, stop)
    from kraftops.engine.reference.index import index_records as index_in_python

    return index_in_python(dialect_name, data, position, number, stop)


def _has_native_fold(dialect_name: str) -> bool:
    return engine_name() == "native" and dialect(dialect_name).is_released
