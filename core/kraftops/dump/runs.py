"""Runs of records in a batch's bytes, and what quickly prints the plain ones among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from kraftops.log.batch import Header

PAUSE = 4096
"""Records, after which what was made may be taken away: a batch can have millions."""
UNFIT_RECORDS = 16
"""Records of a batch that were not plain, after which it is not tried again whether one is."""


class Run(NamedTuple):
    """Records number *done* to *stop* of a batch, of which the first is at *p* in the bytes *b*."""

    b: bytes
    p: int
    done: int
    stop: int
    header: Header


class FastLines(Protocol):
    """A quick way to print plain records as Kafka does, which may leave any of them."""

    def add(self, run: Run, append: Callable[[str], None]) -> tuple[int, int]:
        """Append lines of records; return where the first begins that is left, and its number."""


class FastRows(Protocol):
    """A quick way to show plain records as rows, which may leave any of them."""

    def add(
        self, run: Run, append: Callable[[Any], None], head: Any, middle: str
    ) -> tuple[int, int]:
        """Append rows of records; return where the first begins that is left, and its number.

        What rows of a batch have in common is in *head* and, behind the timestamp, in *middle*.
        """
