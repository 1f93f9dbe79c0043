"""Ids of brokers on the command line, and in sentences: one, several, and ranges."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import click

from kraftops_cli.syntax.values import JavaInteger

MOST_IDS = 10_000  # in a range: more is a slip of the keyboard
_SHORT = 3  # ids that are listed one by one
_RANGE = re.compile(r"([0-9]{1,10})-([0-9]{1,10})")
_MAX_ID = 0x7FFFFFFF  # an int in Kafka


class BrokerIds(click.ParamType[tuple[int, ...]]):
    """Ids, separated by commas, as `3`, `101,102`, `101-120`; each as Kafka's tool reads it."""

    name = "ids"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value  # a default
        ids: list[int] = []
        for entry in str(value).split(","):
            if match := _RANGE.fullmatch(entry):
                first, last = map(int, match.groups())
                if not first <= last < first + MOST_IDS or last > _MAX_ID:
                    self.fail(f"{entry!r} is not a range of at most {MOST_IDS} ids", param, ctx)
                ids += range(first, last + 1)
            else:
                ids.append(JavaInteger().convert(entry, param, ctx))
        return tuple(ids)


def flattened(values: Iterable[tuple[int, ...]]) -> list[int]:
    """Join the lists of an option that was repeated; an id that comes again is dropped."""
    return [*dict.fromkeys(broker for ids in values for broker in ids)]


def ids_text(ids: Iterable[int]) -> str:
    """Return ids in order, as an option takes them: `3, 101-120`."""
    runs = groupby(enumerate(sorted(ids)), key=lambda pair: pair[1] - pair[0])
    parts: list[str] = []
    for _, run in runs:
        run_ids = [broker for _, broker in run]
        is_range = len(run_ids) > _SHORT and run_ids[0] >= 0
        parts += [f"{run_ids[0]}-{run_ids[-1]}"] if is_range else map(str, run_ids)
    return ", ".join(parts)
