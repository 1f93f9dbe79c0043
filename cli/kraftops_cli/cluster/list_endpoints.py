"""`kafka-cluster list-endpoints`: the nodes of a cluster and their endpoints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kraftops.answers.fields import Answer, boolean, number, parts, text
from kraftops.errors import UsageError
from kraftops.java.text import utf16_length
from kraftops.wire.rpc.cluster import ClusterNode
from kraftops_cli.cluster.options import TargetOptions, subcommand
from kraftops_cli.cluster.target import cluster_of
from kraftops_cli.syntax.option_fields import flag
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal

_NO_HOST, _NO_RACK = 100, 10  # Kafka's widths of columns without values


@dataclass(frozen=True, kw_only=True)
class ListOptions(TargetOptions):
    """The values of the options."""

    include_fenced_brokers: bool = flag(
        "--include-fenced-brokers", help="List fenced brokers too; only with -b."
    )


@subcommand(ListOptions, answer="ENDPOINTS")
def list_endpoints(terminal: Terminal, options: ListOptions) -> int:
    cluster = cluster_of(terminal, options)
    if options.include_fenced_brokers and cluster.is_of_controllers:
        raise UsageError(
            "The option --include-fenced-brokers is only supported with --bootstrap-server option"
        )
    with cluster.connect() as connection:
        answer = cluster.nodes(connection, with_fenced=options.include_fenced_brokers)
    print_answer(
        terminal,
        ENDPOINTS.fields,
        answer,
        lambda: _table(answer.nodes, terminal.shown, is_of_controllers=cluster.is_of_controllers),
    )
    return 0


def _kind(node: ClusterNode) -> str:
    return "controller" if node.is_fenced is None else "broker"


ENDPOINTS = Answer(
    (
        text("clusterId?", "id of the cluster"),
        parts(
            "nodes",
            "its brokers or controllers",
            (
                number("id", "node id", get="node_id"),
                text("host", "host of its endpoint", get="address.host"),
                number("port", "port of its endpoint", get="address.port"),
                text("rack?", "its rack, if it has one"),
                boolean("isFenced?", "whether it is fenced; null for controllers"),
                text("type", "what it is", values=("broker", "controller"), get=_kind),
            ),
        ),
    )
)


def _table(
    nodes: Sequence[ClusterNode], escape: Callable[[str], str], *, is_of_controllers: bool
) -> str:
    """Return Kafka's table; headers and `null` do not count for the widths of its columns."""
    hosts = [escape(node.address.host) for node in nodes]
    racks = [escape(node.rack or "") for node in nodes]
    host = max(map(utf16_length, hosts), default=_NO_HOST)
    rack = max(map(utf16_length, filter(None, racks)), default=_NO_RACK)
    widths = [10, host, 10, rack, 10, 15]
    rows = [["ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE"]]
    rows += [
        [
            str(node.node_id),
            host_name,
            str(node.address.port),
            rack_name or "null",
            "fenced" if node.is_fenced else "unfenced",
            _kind(node),
        ]
        for node, host_name, rack_name in zip(nodes, hosts, racks, strict=True)
    ]
    columns = (0, 1, 2, 3, 5) if is_of_controllers else range(6)
    lines = [" ".join(_padded(row[column], widths[column]) for column in columns) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - utf16_length(cell))
