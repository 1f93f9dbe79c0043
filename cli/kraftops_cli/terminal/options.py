"""Options for output to a file."""

from __future__ import annotations

import click

OVERWRITE = click.option(
    "--overwrite", is_flag=True, help="Replace the output if it exists, as a whole."
)
