"""Command of `kafka-storage recover` that findings propose."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from kraftops.log.files import METADATA_PARTITION
from kraftops.storage.logdirs.node import Node


def recover_command(node: Node, nodes: Sequence[Node], *arguments: str) -> str:
    """Return the command that recovers a node, with the logs of the others, for a shell."""
    command = ["kafka-storage", "recover", "-c", node.config.path]
    for other in nodes:
        if other is not node and other.log.is_used:
            folder = os.path.join(other.metadata.path, METADATA_PARTITION)
            command += ["--from", folder]
    return shlex.join([*command, *arguments])
