"""Subcommands of `kafka-storage` without directories: UUIDs, releases, features."""

from collections.abc import Sequence
from functools import partial
from operator import itemgetter

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.terminal.answer import FORM, print_answer
from kraftops_cli.terminal.streams import Terminal


@tool_command(Argparse4j(ours=frozenset({"form"})))
@FORM
def random_uuid(terminal: Terminal, /) -> None:
    from kraftops import uuids

    text = uuids.to_text(uuids.random_uuid())
    print_answer(terminal, (), {"uuid": text}, lambda: f"{text}\n")


@tool_command(Argparse4j(ours=frozenset({"form"})))
@click.option(
    "--release-version",
    "-r",
    metavar="RELEASE",
    help="The release, such as 3.9 or 3.9-IV0.  [default: the newest]",
)
@FORM
def version_mapping(terminal: Terminal, /, release_version: str | None) -> None:
    from kraftops.storage.bootstrap.releases import (
        FEATURES,
        LATEST_PRODUCTION,
        by_name,
        default_level,
    )

    asked = LATEST_PRODUCTION.name if release_version is None else release_version
    version = by_name(asked, unstable=True)
    levels = {name: default_level(name, version.level) for name in FEATURES}
    print_answer(
        terminal,
        (),
        {"metadataVersion": {"level": version.level, "name": version.name}, "features": levels},
        lambda: (
            f"metadata.version={version.level} ({asked})\n"
            + "".join(f"{name}={level}\n" for name, level in levels.items())
        ),
    )


@tool_command(Argparse4j(ours=frozenset({"form"})))
@click.option(
    "--feature",
    "-f",
    "features",
    metavar="NAME=LEVEL",
    multiple=True,
    required=True,
    help="A feature and its level; may be given more than once.",
)
@FORM
def feature_dependencies(terminal: Terminal, /, features: tuple[str, ...]) -> None:
    from kraftops.answers.fields import parts, text, texts
    from kraftops.storage.bootstrap.features import dependencies

    need = (text("feature", "", get=itemgetter(0)), texts("requires", "", get=itemgetter(1)))
    print_answer(
        terminal,
        [parts("features", "", need, get=partial(map, dependencies))],
        features,
        lambda: (_requirements(*dependencies(feature)) for feature in features),
    )


def _requirements(feature: str, required: Sequence[str]) -> str:
    if not required:
        return f"{feature} has no dependencies.\n"
    return "".join(
        f"{line}\n" for line in (f"{feature} requires:", *(f"    {x}" for x in required))
    )
