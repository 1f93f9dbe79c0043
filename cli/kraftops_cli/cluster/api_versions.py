"""`kafka-cluster api-versions`: APIs and features of every node (KIP-35), and differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, number, parts, text
from kraftops.display.columns import Cell, Column, folded
from kraftops.errors import WireError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.rpc.cluster import Feature, NodeApiVersions
from kraftops.wire.rpc.cluster import api_versions as ask_api_versions
from kraftops.wire.rpc.connection import VersionRange
from kraftops.wire.rpc.node_release import release_of
from kraftops_cli.cluster.broker_ids import ids_text
from kraftops_cli.cluster.description_fields import FEATURE
from kraftops_cli.cluster.options import TargetOptions, subcommand
from kraftops_cli.cluster.target import cluster_of
from kraftops_cli.syntax.option_fields import flag
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.console import Console
from kraftops_terminal.tables import Table, table_of, table_text

_API = (
    number("key", "number of the API", get=lambda api: api[0], column="KEY"),
    text("name", "its name", get=lambda api: api_name(api[0]), column="API"),
    number("min", "lowest version", get=lambda api: api[1].first, column="MIN"),
    number("max", "highest version", get=lambda api: api[1].last, column="MAX"),
)
_NODE = (
    number("id", "node id", get=lambda node: node[0]),
    text(
        "release",
        "the releases that have these APIs and features",
        get=lambda node: release_of(node[1].apis, node[1].features),
    ),
    parts("apis", "its APIs", _API, get=lambda node: sorted(node[1].apis.items())),
    parts("features", "its features", FEATURE, get=lambda node: node[1].features),
)
API_VERSIONS = Answer(
    (
        text("clusterId?", "id of the cluster"),
        boolean("differs", "with --compare: whether nodes differ", may_be_missing=True),
        parts(
            "nodes", "its brokers or controllers", _NODE, get=lambda answer: answer.nodes.items()
        ),
    )
)


@dataclass(frozen=True, kw_only=True)
class ApiVersionsOptions(TargetOptions):
    """The values of the options."""

    compare: bool = flag("--compare", help="Show only the differences between nodes.")


@subcommand(ApiVersionsOptions, answer="API_VERSIONS")
def api_versions(terminal: Terminal, options: ApiVersionsOptions) -> int:
    answer = _ask_nodes(cluster_of(terminal, options))
    console, compare, nodes = terminal.console, options.compare, answer.nodes
    differs = compare and answer.differs

    def lines() -> str:
        if not compare:
            return "\n".join(
                _tables(names, versions, console) for names, versions in _grouped(nodes)
            )
        return _comparison(nodes, console) if differs else f"{_node_names(nodes)}: all the same\n"

    print_answer(
        terminal,
        [field for field in API_VERSIONS.fields if compare or field.name != "differs"],
        answer,
        lines,
    )
    failures = [*answer.errors.values()]
    for error in failures[:-1]:
        terminal.failure(error)
    if failures:
        raise failures[-1].with_known({"failedNodes": [*answer.errors]})
    return HAS_FINDINGS if differs else 0


class _Answers(NamedTuple):
    """The answers of the nodes of a cluster, or their errors, by node id."""

    cluster_id: str | None
    nodes: dict[int, NodeApiVersions]
    errors: dict[int, WireError]

    @property
    def differs(self) -> bool:
        """Whether nodes serve different APIs, versions or features."""
        return len({_sort_key(versions) for versions in self.nodes.values()}) > 1


def _ask_nodes(cluster: ClusterConnections) -> _Answers:
    with cluster.connect() as connection:
        described = cluster.nodes(connection)
        nodes: dict[int, NodeApiVersions] = {}
        errors: dict[int, WireError] = {}
        for node in sorted(described.nodes):
            try:
                if node.address == connection.address:
                    nodes[node.node_id] = ask_api_versions(connection)
                    continue
                with cluster.connect_to(node.address) as other:
                    nodes[node.node_id] = ask_api_versions(other)
            except WireError as error:
                message = f"node {node.node_id}: {error.message}"
                failure = WireError(message, error.hint, code=error.code)
                errors[node.node_id] = failure.with_known(error.known)
    return _Answers(described.cluster_id, nodes, errors)


def api_name(key: int) -> str:
    """Return Kafka's name of an API, or its number if kafka-python does not know it."""
    from kafka.protocol.api_key import ApiKey

    try:
        return str(ApiKey(key).name)
    except ValueError:
        return f"api-{key}"


def _range_text(versions: VersionRange | None) -> str | None:
    return f"{versions.first}-{versions.last}" if versions else None


def _feature_levels(feature: Feature | None) -> str | None:
    if feature is None:
        return None
    finalized = "-" if feature.finalized is None else feature.finalized
    return f"{finalized} of {_range_text(feature.supported) or '-'}"


def _sort_key(versions: NodeApiVersions) -> str:
    return repr((sorted(versions.apis.items()), versions.features))


def _grouped(nodes: Mapping[int, NodeApiVersions]) -> list[tuple[str, NodeApiVersions]]:
    groups: dict[str, dict[int, NodeApiVersions]] = {}
    for node, versions in nodes.items():
        groups.setdefault(_sort_key(versions), {})[node] = versions
    return [(_node_names(group), next(iter(group.values()))) for group in groups.values()]


def _node_names(nodes: Mapping[int, NodeApiVersions]) -> str:
    return f"node{'s' if len(nodes) > 1 else ''} {ids_text(nodes)}"


def _tables(names: str, versions: NodeApiVersions, console: Console) -> str:
    table = table_of(_API, sorted(versions.apis.items()), title=names)
    features = table_of(FEATURE, versions.features)
    return table_text(console, table) + table_text(console, features)


def _comparison(nodes: Mapping[int, NodeApiVersions], console: Console) -> str:
    """Draw a row for each API and feature in which nodes differ; equal nodes share a column."""
    groups = _grouped(nodes)
    versions = [group for _, group in groups]
    rows: list[list[Cell]] = []
    for key in sorted({key for group in versions for key in group.apis}):
        served = [_range_text(group.apis.get(key)) for group in versions]
        if len(set(served)) > 1:
            rows.append([f"{api_name(key)} ({key})", *served])
    features = [{f.name: f for f in group.features} for group in versions]
    for name in sorted({name for group in features for name in group}):
        levels = [_feature_levels(group.get(name)) for group in features]
        if len(set(levels)) > 1:
            rows.append([name, *levels])
    columns = [folded("API"), *(Column(names, at) for at, (names, _) in enumerate(groups))]
    return table_text(console, Table(columns, rows))
