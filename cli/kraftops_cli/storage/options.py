"""Options of several subcommands of `kafka-storage`, and the check of a cluster id."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.storage.config.server_config import ServerConfig


def override_option() -> Any:
    return option(
        "--override KEY=VALUE",
        multiple=True,
        help="A configuration key that replaces the file's; may be given more than once.",
    )


def metadata_option() -> Any:
    return option(
        "--metadata DIR",
        type=click.Path(),
        multiple=True,
        help="A directory of another node with a metadata log, to check against; may be given more "
        "than once. Logs in the node's own directories are found.",
    )


def dry_run_option() -> Any:
    return flag("--dry-run", "-n", help="Check and show everything, write nothing.")


@dataclass(frozen=True, kw_only=True)
class NodeOptions:
    """The values of the options of a subcommand about one node."""

    config: str = option(
        "--config", "-c FILE", required=True, help="The configuration file of the node."
    )
    overrides: tuple[str, ...] = override_option()
    form: str = option("--format", **FORM_ATTRIBUTES)

    def load(self) -> ServerConfig:
        from kraftops.storage.config.server_config import load_config

        return load_config(self.config, self.overrides, os.environ)


def warn_of_id(terminal: Terminal, cluster_id: str, *, strict: bool) -> None:
    """Warn of a cluster id that is not a canonical UUID.

    Raises:
        UsageError: it is empty, or with *strict* no canonical UUID.
    """
    from kraftops.errors import DecodeError, UsageError
    from kraftops.uuids import from_text, to_text

    if not cluster_id:
        raise UsageError("the cluster id is empty", hint="kafka-storage random-uuid makes one")
    try:
        canonical = to_text(from_text(cluster_id))
        hint = (
            f"{canonical} is the canonical text of the same 16 bytes, for a new cluster; servers "
            "compare ids as text, so keep the one that the other nodes have"
        )
    except DecodeError:
        canonical, hint = "", "kafka-storage random-uuid makes one"
    if canonical == cluster_id:
        return
    message = f"the cluster id {cluster_id!r} is not a canonical UUID"
    if strict:
        raise UsageError(message, hint)
    terminal.error(f"warning: {message}", hint)
