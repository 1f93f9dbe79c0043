"""Proposed commands, and their arguments: ids from files, quoted for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from kraftops.uuids import to_text

_POSSIBLE_ID = re.compile(r"[A-Za-z0-9_.=+/-]{1,256}")
PLACEHOLDER = "ID"


def cluster_id_argument(cluster_id: str | None) -> str:
    """Return `-t` and a cluster id, or a placeholder for text that can hardly be an id."""
    text = shown_cluster_id(cluster_id)
    # Kafka's tool reads what begins with a dash as an option (KAFKA-13741).
    return f"--cluster-id={text}" if text.startswith("-") else f"-t {text}"


def shown_cluster_id(cluster_id: str | None) -> str:
    """Return a cluster id, in which a shell finds nothing special, or a placeholder."""
    if cluster_id is None or not _POSSIBLE_ID.fullmatch(cluster_id):
        return PLACEHOLDER
    return cluster_id


def format_command(config: str, cluster_id: str | None) -> str:
    """Return the command that formats what is not formatted, with a configuration file."""
    return f"kafka-storage format -c {shlex.quote(config)} {cluster_id_argument(cluster_id)}"


def rewrite_to_cluster(config: str, cluster_id: str | None) -> str:
    """Return the command that changes the cluster id of a node, with its configuration file."""
    text = shown_cluster_id(cluster_id)
    separator = "=" if text.startswith("-") else " "
    return f"{_rewrite(config)} --cluster-id{separator}{text}"


def rewrite_to_node(config: str, node_id: int) -> str:
    """Return the command that changes the id of a node, with its configuration file."""
    return f"{_rewrite(config)} --node-id {node_id}"


def meta_lines(node_id: int, cluster_id: str | None, directory_id: bytes | None) -> list[str]:
    """Return the lines of a meta.properties; a server makes any directory.id but a voter's."""
    cluster = shown_cluster_id(cluster_id)
    lines = ["version=1", f"node.id={node_id}", f"cluster.id={cluster}"]
    return [*lines, f"directory.id={to_text(directory_id)}"] if directory_id else lines


def write_command(path: str, lines: Iterable[str]) -> str:
    return f"printf '%s\\n' {shlex.join(lines)} > {shlex.quote(path)}"


def _rewrite(config: str) -> str:
    return f"kafka-storage rewrite -c {shlex.quote(config)}"
