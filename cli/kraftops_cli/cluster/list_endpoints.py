"""`kafka-cluster list-endpoints`: the nodes of a cluster and where they listen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from kraftops.java.text import utf16_length
from kraftops_cli.cluster.target import cluster_syntax, target_of, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.wire.rpc.cluster import NodeAddress

EXAMPLES = (
    ("brokers, fenced ones too", "kafka-cluster list-endpoints -b b:9092 --include-fenced-brokers"),
    ("controllers", "kafka-cluster list-endpoints -C localhost:9093"),
)
_NO_HOST, _NO_RACK = 100, 10  # Kafka's widths where there is none


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax(),
    name="list-endpoints",
    examples=EXAMPLES,
    help="List the brokers or the controllers, at the listener that is asked.",
)
@target_options
@click.option(
    "--include-fenced-brokers", is_flag=True, help="List fenced brokers too; only with -b."
)
@click.pass_obj
def list_endpoints(
    terminal: Terminal, /, form: str, *, include_fenced_brokers: bool, **target: Any
) -> int:
    """Run the subcommand; return its exit code."""
    found = target_of(terminal, **target)
    if include_fenced_brokers and found.is_of_controllers:
        from kraftops.errors import UsageError

        raise UsageError(
            "The option --include-fenced-brokers is only supported with --bootstrap-server option"
        )
    with found.connect() as connection:
        described = found.described(connection, with_fenced=include_fenced_brokers)
    if form == "json":
        nodes = [_told(node) for node in described.nodes]
        terminal.json("list-endpoints", {"clusterId": described.cluster_id, "nodes": nodes})
    else:
        terminal.write(_table(described.nodes, is_of_controllers=found.is_of_controllers))
    return 0


def _told(node: NodeAddress) -> dict[str, object]:
    return {
        "id": node.node_id,
        "host": node.address.host,
        "port": node.address.port,
        "rack": node.rack,
        "isFenced": node.is_fenced,
        "type": _kind(node),
    }


def _kind(node: NodeAddress) -> str:
    return "controller" if node.is_fenced is None else "broker"


def _table(nodes: Sequence[NodeAddress], *, is_of_controllers: bool) -> str:
    """Return Kafka's table, whose widths take no notice of the heads and of `null`."""
    host = max((utf16_length(node.address.host) for node in nodes), default=_NO_HOST)
    rack = max((utf16_length(node.rack) for node in nodes if node.rack), default=_NO_RACK)
    widths = [10, host, 10, rack, 10, 15]
    rows = [["ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE"]]
    rows += [
        [
            str(node.node_id),
            node.address.host,
            str(node.address.port),
            node.rack or "null",
            "fenced" if node.is_fenced else "unfenced",
            _kind(node),
        ]
        for node in nodes
    ]
    shown = (0, 1, 2, 3, 5) if is_of_controllers else range(6)
    lines = [" ".join(_padded(row[at], widths[at]) for at in shown) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - utf16_length(text))
