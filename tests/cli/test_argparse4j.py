"""The argument syntax of Kafka's newer tools, on a tool like kafka-storage."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pytest

from kraftops_cli import main
from kraftops_cli.argparse4j import clicks_arguments
from kraftops_cli.command import LazyGroup, Number, ToolCommand, ToolGroup
from tests.console import ENVIRONMENT, Done, MemoryTerminal

ID = "MkU3OEVBNTcwNTJENDM2Qk"
USAGE = "kafka-storage{} --help shows how it is used"

CONFIG = click.option("--config", "-c", required=True)
OURS = click.option("--format", type=click.Choice(["text", "json"]), default="text")


def tell(ctx: click.Context, /, **options: object) -> int:
    """Print what the command got, and nothing that was left out."""
    given = {
        name: value
        for name, value in options.items()
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    ctx.obj.write(json.dumps([ctx.command_path, given]) + "\n")
    return 0


def subcommand(name: str, *options: Callable[..., Any], **attributes: Any) -> click.Command:
    command = click.command(
        name, cls=ToolCommand, syntax=clicks_arguments, help=f"Do {name}.", **attributes
    )
    body: Any = click.pass_context(tell)
    for option in reversed(options):
        body = option(body)
    return command(body)


info = subcommand("info", CONFIG, OURS, ours=frozenset({"format"}))
format_ = subcommand(
    "format",
    CONFIG,
    click.option("--cluster-id", "-t", required=True),
    click.option("--add-scram", "-S", multiple=True),
    click.option("--ignore-formatted", "-g", is_flag=True),
    click.option("--release-version", "-r"),
    click.option("--feature", "-f", multiple=True),
    click.option("--standalone", "-s", is_flag=True),
    click.option("--no-initial-controllers", "-N", is_flag=True),
    click.option("--initial-controllers", "-I"),
    click.option("--dry-run", is_flag=True),
    click.option("--replace-directory", "-R", multiple=True),
    click.option("--timeout", type=Number(60)),
    click.option("--no-sync", is_flag=True),
    ours=frozenset({"dry_run", "replace_directory", "timeout", "no_sync"}),
    exclusive=(("standalone", "no_initial_controllers", "initial_controllers"),),
    examples=[("prepare a directory", "kafka-storage format -c server.properties -t ID")],
    sections=[("Exit status", "0: done.\n1: could not."), ("Notes", "Only in the manual.")],
)
version_mapping = subcommand("version-mapping", click.option("--release-version", "-r"))
feature_dependencies = subcommand(
    "feature-dependencies", click.option("--feature", "-f", multiple=True, required=True)
)
random_uuid = subcommand("random-uuid")
rewrite = subcommand("rewrite", CONFIG)
verify = subcommand(
    "verify",
    click.option("-d", multiple=True, help="An option with a short name only."),
    click.argument("path", required=True),
    click.argument("others", nargs=-1),
)
COMMANDS = {
    name: (f"{__name__}:{place}", f"Do {name}.")
    for name, place in {
        "info": "info",
        "format": "format_",
        "version-mapping": "version_mapping",
        "feature-dependencies": "feature_dependencies",
        "random-uuid": "random_uuid",
        "rewrite": "rewrite",
        "verify": "verify",
    }.items()
}


@click.group(
    cls=ToolGroup,
    name="storage",
    lazy=COMMANDS,
    ours=frozenset({"rewrite", "verify", "version"}),
    examples=[("a new identifier", "kafka-storage random-uuid")],
    sections=[("Exit status", "0: done.\n1: could not.")],
    help="Prepare directories.",
)
@click.version_option("4.3.1", message="%(version)s")
def storage() -> None:
    pass


@click.group(cls=LazyGroup, name="kraftops", lazy={"storage": (f"{__name__}:storage", "Prepare.")})
def root() -> None:
    pass


def run(*args: str, cwd: Path | str = ".", program: str = "kafka-storage") -> Done:
    out, echoed, err = io.BytesIO(), io.StringIO(), io.StringIO()
    command = storage if program == "kafka-storage" else root
    with (
        chdir(cwd),
        patch.object(sys, "argv", [program, *args]),
        redirect_stdout(echoed),
        redirect_stderr(err),
    ):
        code = main.run(command, program, MemoryTerminal(program, out))
    return Done(code, out.getvalue() + echoed.getvalue().encode(), err.getvalue())
