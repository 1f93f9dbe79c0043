"""The option of the memory budget, for all commands that read logs."""

from __future__ import annotations

import click

from kraftops.errors import UsageError
from kraftops.memory import VARIABLE, max_memory, set_max_memory
from kraftops_cli.syntax.values import Size

_LEAST_MEMORY = 64 << 20


def _set_memory(_: click.Context, __: click.Parameter, size: int | None) -> None:
    """Set the budget; refuse too small a one of the environment, by which all data looks damaged.

    Raises:
        UsageError: the environment has no budget of that size.
    """
    if size is not None:
        set_max_memory(size)
    elif max_memory() < _LEAST_MEMORY:
        least = f"it is a number of bytes, at least {_LEAST_MEMORY}"
        raise UsageError(f"{VARIABLE} is {max_memory()}: that is too little", hint=least)


MAX_MEMORY = click.option(
    "--max-memory",
    type=Size(_LEAST_MEMORY),
    metavar="SIZE",
    expose_value=False,
    callback=_set_memory,
    help="Memory beside the image, as 512m or 2g; a quarter for a batch.  [default: 256m]",
)
