"""`kafka-cluster api-versions`: what every node serves (KIP-35), and where nodes differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kraftops_cli.cluster.columns import columns
from kraftops_cli.cluster.target import Target, cluster_syntax, target_of, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.wire.rpc.cluster import Abilities, Feature
    from kraftops.wire.rpc.connection import Range

EXAMPLES = (
    ("what brokers serve", "kafka-cluster api-versions -b localhost:9092"),
    ("is an upgrade complete?", "kafka-cluster api-versions -C localhost:9093 --compare"),
)
DIFFER = 2


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax("compare"),
    name="api-versions",
    examples=EXAMPLES,
    help="Show the APIs of every broker or controller with their versions, and its features.",
)
@target_options
@click.option("--compare", is_flag=True, help="Show only what is not the same on all nodes.")
@click.pass_obj
def api_versions(terminal: Terminal, /, form: str, *, compare: bool, **target: Any) -> int:
    """Run the subcommand; return its exit code."""
    found = target_of(terminal, **target)
    cluster_id, nodes, is_whole = _asked(terminal, found)
    differs = compare and len({_shape(each) for each in nodes.values()}) > 1
    if form == "json":
        told = [_told(node, each) for node, each in nodes.items()]
        more = {"differs": differs} if compare else {}
        terminal.json("api-versions", {"clusterId": cluster_id, **more, "nodes": told})
    elif compare:
        terminal.write(_comparison(nodes) if differs else f"{_named(nodes)}: all the same\n")
    else:
        terminal.write("\n".join(_table(names, each) for names, each in _grouped(nodes)))
    if not is_whole:
        return 1
    return DIFFER if differs else 0


def _asked(terminal: Terminal, target: Target) -> tuple[str | None, dict[int, Abilities], bool]:
    """Return the cluster's id, the abilities of nodes by id, and whether all of them answered."""
    from kraftops.errors import WireError
    from kraftops.wire.rpc.cluster import abilities

    with target.connect() as connection:
        described = target.described(connection)
        nodes: dict[int, Abilities] = {}
        for node in sorted(described.nodes):
            try:
                if node.address == connection.address:
                    nodes[node.node_id] = abilities(connection)
                    continue
                with target.connect_to(node.address) as other:
                    nodes[node.node_id] = abilities(other)
            except WireError as error:
                terminal.error(f"node {node.node_id}: {error.message}", error.hint)
    return described.cluster_id, nodes, len(nodes) == len(described.nodes)


def api_name(key: int) -> str:
    """Return Kafka's name of an API, or its number."""
    from kafka.protocol.api_key import ApiKey

    try:
        return str(ApiKey(key).name)
    except ValueError:
        return f"api-{key}"


def _range(both: Range | None) -> str | None:
    return f"{both.first}-{both.last}" if both else None


def _feature(feature: Feature | None) -> str | None:
    if feature is None:
        return None
    finalized = "-" if feature.finalized is None else feature.finalized
    return f"{finalized} of {_range(feature.supported) or '-'}"


def _shape(abilities: Abilities) -> str:
    return repr((sorted(abilities.apis.items()), abilities.features))


def _grouped(nodes: Mapping[int, Abilities]) -> list[tuple[str, Abilities]]:
    """Return what nodes have, and the nodes that have the same."""
    groups: dict[str, dict[int, Abilities]] = {}
    for node, each in nodes.items():
        groups.setdefault(_shape(each), {})[node] = each
    return [(_named(group), next(iter(group.values()))) for group in groups.values()]


def _named(nodes: Mapping[int, Abilities]) -> str:
    return f"node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"


def _table(names: str, abilities: Abilities) -> str:
    apis: Sequence[Sequence[object]] = [
        (key, api_name(key), *served) for key, served in sorted(abilities.apis.items())
    ]
    features: Sequence[Sequence[object]] = [
        (each.name, each.finalized, _range(each.supported)) for each in abilities.features
    ]
    text = f"{names}\n" + columns([("KEY", "API", "MIN", "MAX"), *apis])
    if features:
        text += columns([("FEATURE", "FINALIZED", "SUPPORTED"), *features])
    return text


def _comparison(nodes: Mapping[int, Abilities]) -> str:
    """Return a table of the APIs and features that are not the same everywhere."""
    rows: list[Sequence[object]] = [("", *(f"node {node}" for node in nodes))]
    for key in sorted({key for each in nodes.values() for key in each.apis}):
        served = [_range(each.apis.get(key)) for each in nodes.values()]
        if len(set(served)) > 1:
            rows.append((f"{api_name(key)} ({key})", *served))
    features = [{f.name: f for f in each.features} for each in nodes.values()]
    for name in sorted({name for each in features for name in each}):
        levels = [_feature(each.get(name)) for each in features]
        if len(set(levels)) > 1:
            rows.append((name, *levels))
    return columns(rows)


def _told(node: int, abilities: Abilities) -> dict[str, object]:
    return {
        "id": node,
        "apis": [
            {"key": key, "name": api_name(key), "min": served.first, "max": served.last}
            for key, served in sorted(abilities.apis.items())
        ],
        "features": [
            {
                "name": each.name,
                "finalized": each.finalized,
                "min": each.supported.first if each.supported else None,
                "max": each.supported.last if each.supported else None,
            }
            for each in abilities.features
        ],
    }
