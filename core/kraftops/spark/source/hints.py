"""Hints of errors, which Spark leaves out: it shows only the trace."""

from collections.abc import Iterator
from contextlib import contextmanager

from kraftops.errors import KraftopsError


@contextmanager
def shown_hints() -> Iterator[None]:
    """Let errors show their hints."""
    try:
        yield
    except KraftopsError as error:
        if error.hint:
            error.add_note(f"hint: {error.hint}")
        raise
