"""`kafka-storage verify`: whether servers would start on their directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from kraftops_cli.argparse4j import clicks_arguments
from kraftops_cli.command import ToolCommand
from kraftops_cli.storage_options import FORM, OVERRIDE
from kraftops_cli.terminal import Terminal

if TYPE_CHECKING:
    from kraftops.storage.inspector import Finding
    from kraftops.storage.verify import Node

HAS_FINDINGS = 2
EXAMPLES = (
    ("before a start", "kafka-storage verify -c server.properties"),
    ("the nodes of a cluster", "kafka-storage verify -c n1.properties -c n2.properties"),
)


@click.command(
    cls=ToolCommand,
    syntax=clicks_arguments,
    ours=frozenset({"configs", "cluster_id", "overrides", "form"}),
    name="verify",
    examples=EXAMPLES,
    help="""\
Tell whether a server with this configuration would start on its log directories, and have a quorum.

With several configurations, the nodes of one cluster, tell also whether they fit each other. One
line for each finding, and how to mend it. Nothing is locked or written.""",
)
@click.option(
    "--config",
    "-c",
    "configs",
    metavar="FILE",
    multiple=True,
    required=True,
    help="The configuration file of a node; may be given more than once.",
)
@click.option("--cluster-id", "-t", metavar="ID", help="The cluster id that is expected.")
@OVERRIDE
@FORM
@click.pass_obj
def verify(
    terminal: Terminal,
    /,
    configs: tuple[str, ...],
    cluster_id: str | None,
    overrides: tuple[str, ...],
    form: str,
) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.errors import ConfigError
    from kraftops.storage.config import load_config
    from kraftops.storage.inspector import Finding
    from kraftops.storage.verify import node, retired_keys, verify_cluster, verify_node

    found: list[Finding] = []
    nodes: list[Node] = []
    for path in configs:
        try:
            nodes.append(node(load_config(path, overrides, os.environ)))
        except ConfigError as error:
            found.append(Finding("", error.message, error.hint or "mend the configuration"))
            continue
        for key, reason in retired_keys(nodes[-1].config):
            terminal.error(f"note: {key} is ignored: {reason}")
        found += verify_node(nodes[-1], cluster_id)
    if len(nodes) > 1:
        found += verify_cluster(nodes)
    if form == "json":
        terminal.json("verify", _told(nodes, found))
    else:
        for finding in found:
            terminal.write(f"{finding}; {finding.cure}\n")
        if not found:
            for one in nodes:
                terminal.write(f"{one.config.path}: node {one.config.node_id} would start\n")
    return HAS_FINDINGS if found else 0


def _told(nodes: list[Node], found: list[Finding]) -> dict[str, object]:
    return {
        "isSound": not found,
        "nodes": [
            {
                "config": one.config.path,
                "nodeId": one.config.node_id,
                "roles": sorted(one.config.roles),
                "clusterId": one.cluster_id,
                "voters": None if one.voters is None else [str(voter) for voter in one.voters],
            }
            for one in nodes
        ],
        "findings": [finding._asdict() for finding in found],
    }
