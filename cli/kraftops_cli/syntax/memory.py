"""The option of the memory budget, for all commands that read logs."""

from __future__ import annotations

import click

from kraftops.memory import set_max_memory
from kraftops_cli.syntax.values import Size

_LEAST_MEMORY = 64 << 20


def _set_memory(_: click.Context, __: click.Parameter, size: int | None) -> None:
    if size is not None:
        set_max_memory(size)


MAX_MEMORY = click.option(
    "--max-memory",
    type=Size(_LEAST_MEMORY),
    metavar="SIZE",
    expose_value=False,
    callback=_set_memory,
    help="Memory beside the image, as 512m or 2g; a quarter for a batch.  [default: 256m]",
)
