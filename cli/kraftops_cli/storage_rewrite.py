"""`kafka-storage rewrite`: change the ids of formatted directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from kraftops_cli.argparse4j import clicks_arguments
from kraftops_cli.command import Number, ToolCommand
from kraftops_cli.storage_options import CONFIG, DRY_RUN, FORM, OVERRIDE, warn_of_id
from kraftops_cli.terminal import Terminal

if TYPE_CHECKING:
    from kraftops.storage.config import ServerConfig
    from kraftops.storage.rewrite import Rewrite

EXAMPLES = (
    (
        "a volume of an earlier cluster id",
        'kafka-storage rewrite -c server.properties --cluster-id "$CLUSTER_ID"',
    ),
    ("directories of version 0", "kafka-storage rewrite -c server.properties --to-v1"),
)


@click.command(
    cls=ToolCommand,
    syntax=clicks_arguments,
    ours=frozenset({"overrides", "cluster_id", "node_id", "to_v1", "dry_run", "form"}),
    name="rewrite",
    examples=EXAMPLES,
    help="""\
Change the ids in the meta.properties of all formatted directories of a stopped node.

The old file stays beside the new one as meta.properties.before-rewrite. What a server has written
into its logs is not changed: the voters of a dynamic quorum keep their node ids.""",
)
@CONFIG
@click.option("--cluster-id", "-t", metavar="ID", help="The new cluster id.")
@click.option("--node-id", type=Number(0x7FFFFFFF), metavar="N", help="The new node id.")
@click.option("--to-v1", is_flag=True, help="Make version 1 of version 0.")
@DRY_RUN
@OVERRIDE
@FORM
@click.pass_obj
def rewrite(
    terminal: Terminal,
    /,
    config: str,
    cluster_id: str | None,
    node_id: int | None,
    to_v1: bool,
    dry_run: bool,
    overrides: tuple[str, ...],
    form: str,
) -> None:
    """Run the subcommand."""
    from kraftops.storage.config import load_config
    from kraftops.storage.rewrite import RewriteRequest, plan_rewrite
    from kraftops.storage.rewrite import rewrite as rewrite_all

    if cluster_id is not None:
        warn_of_id(terminal, cluster_id, strict=False)
    loaded = load_config(config, overrides, os.environ)
    request = RewriteRequest(cluster_id=cluster_id, node_id=node_id, to_v1=to_v1)
    planned = plan_rewrite(loaded, request)
    _warn(terminal, loaded, planned)
    if not dry_run:
        rewrite_all(planned)
    if form == "json":
        directories = [
            {"path": one.directory.path, "changes": one.changes, "properties": one.after}
            for one in planned
        ]
        changed = not dry_run and any(one.changes for one in planned)
        told = {"dryRun": dry_run, "changed": changed, "directories": directories}
        terminal.json("rewrite", told)
        return
    for one in planned:
        for key, (old, new) in one.changes.items():
            values = f"{_shown(old)} -> {_shown(new)}"
            verb = "would change" if dry_run else "changed"
            terminal.write(f"{one.directory.meta_path}: {verb} {key}: {values}\n")
        if not one.changes:
            terminal.write(f"{one.directory.meta_path}: nothing to change\n")


def _shown(value: str | None) -> str:
    return "(none)" if value is None else value


def _warn(terminal: Terminal, config: ServerConfig, planned: tuple[Rewrite, ...]) -> None:
    from kraftops.storage.metadata_log import read_metadata_log

    for one in planned:
        node_id = one.after.get("node.id", one.after.get("broker.id"))
        if node_id not in (None, str(config.node_id)):
            terminal.error(
                f"warning: the configuration is of node {config.node_id}, "
                f"{one.directory.path} of node {node_id}",
                hint=f"set node.id={node_id} before a server starts",
            )
        meta = one.directory.meta
        log = read_metadata_log(one.directory.path)
        voters = log.quorum.voters if log else None
        if meta and node_id != str(meta.node_id):
            for voter in voters or ():
                if voter.node_id == meta.node_id:
                    terminal.error(
                        f"warning: the voters in {one.directory.path} name node {meta.node_id}",
                        hint="a voter of a dynamic quorum cannot change its node id: remove it "
                        "from the quorum and let it join anew",
                    )
