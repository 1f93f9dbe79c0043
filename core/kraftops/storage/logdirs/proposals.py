"""Proposed commands, and their arguments: ids from files, quoted for a shell."""

import os
import re
from collections.abc import Iterable

from kraftops.display import quoting
from kraftops.findings.aside import given_to_owner
from kraftops.findings.finding import Cure
from kraftops.uuids import to_text

_POSSIBLE_ID = re.compile(r"[A-Za-z0-9_.=+/-]{1,256}")
_SOURCE_OF_ID = (
    "take the cluster id for {option} from the meta.properties of another node; "
    "kafka-storage random-uuid makes that of a new cluster"
)


def cluster_id_argument(cluster_id: str) -> str:
    if safe_cluster_id(cluster_id) is None:
        return "the id in its meta.properties"
    # Kafka's tool reads what begins with a dash as an option (KAFKA-13741).
    return f"--cluster-id={cluster_id}" if cluster_id.startswith("-") else f"-t {cluster_id}"


def safe_cluster_id(cluster_id: str | None) -> str | None:
    """Return a cluster id, if a shell finds nothing special in it."""
    return cluster_id if cluster_id and _POSSIBLE_ID.fullmatch(cluster_id) else None


def format_cure(text: str, config: str, cluster_id: str | None, *options: str) -> Cure:
    """Return the cure that formats what is not formatted, with a configuration file.

    Any text is a cluster id to Kafka, so a command with a placeholder would be executed as it is.
    """
    if (safe_id := safe_cluster_id(cluster_id)) is None:
        command = " ".join(["kafka-storage format", *options])
        return Cure(f"{text} ({command}): {_SOURCE_OF_ID.format(option='-t')}")
    command = f"kafka-storage format -c {quoting.quote_path(config)} {cluster_id_argument(safe_id)}"
    return Cure(text, (" ".join([command, *options]),))


def rewrite_cure(text: str, config: str, cluster_id: str | None, *options: str) -> Cure:
    """Return the cure that changes the cluster id of a node, with its configuration file."""
    if (safe_id := safe_cluster_id(cluster_id)) is None:
        option = " ".join(["kafka-storage rewrite", *options, "--cluster-id"])
        return Cure(f"{text}: {_SOURCE_OF_ID.format(option=option)}")
    separator = "=" if safe_id.startswith("-") else " "
    command = f"{_rewrite(config)} --cluster-id{separator}{safe_id}"
    return Cure(text, (" ".join([command, *options]),))


def rewrite_to_node(config: str, node_id: int) -> str:
    """Return the command that changes the id of a node, with its configuration file."""
    return f"{_rewrite(config)} --node-id {node_id}"


def meta_lines(node_id: int, cluster_id: str | None, directory_id: bytes | None) -> list[str]:
    """Return the lines of a meta.properties; a server makes any directory.id but a voter's."""
    cluster = safe_cluster_id(cluster_id) or "(that of the other nodes)"
    lines = ["version=1", f"node.id={node_id}", f"cluster.id={cluster}"]
    return [*lines, f"directory.id={to_text(directory_id)}"] if directory_id else lines


def write_command(path: str, lines: Iterable[str]) -> str:
    place = quoting.quote_path(path)
    end = given_to_owner(place, os.path.dirname(path))
    return f"printf '%s\\n' {quoting.join(lines)} > {place}{end}"


def _rewrite(config: str) -> str:
    return f"kafka-storage rewrite -c {quoting.quote_path(config)}"
