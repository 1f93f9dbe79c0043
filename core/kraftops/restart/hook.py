"""The command of the user that restarts a node, run by the shell for several nodes side by side."""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.display import quoting
from kraftops.errors import KraftopsError
from kraftops.restart.nodes import Node
from kraftops.wire.net.deadline import Deadline

_PLACEHOLDER = re.compile(r"\{(id|host|role|rack)\}")
_TAIL_BYTES = 2000  # hold the last line, where programs say why they end
"""Bytes of the output of a command in which its last line is looked for."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A command with placeholders, and the seconds in which it must end."""

    template: str
    seconds: float

    def command(self, node: Node) -> str:
        """Fill in the template's placeholders, each quoted; other braces are the shell's."""
        values = {"id": node.node_id, "host": node.host, "role": node.roles, "rack": node.rack}
        return _PLACEHOLDER.sub(
            lambda match: quoting.quote(str(values[match[1]] or "")), self.template
        )

    def run(self, nodes: Sequence[Node]) -> None:
        """Run the commands of nodes at once, until all have ended.

        They write to files: a server that a command leaves running would keep a pipe open. They go
        on if this process is killed, or interrupted on its terminal.

        Raises:
            KraftopsError: one has failed, or has not ended in time.
        """
        limit = Deadline(self.seconds)
        with tempfile.TemporaryDirectory() as folder:
            running = [(node, *self._started(node, folder)) for node in nodes]
            failures = [
                failure for part in running if (failure := self._failure(*part, limit)) is not None
            ]
        if failures:
            raise failures[0]

    def _started(self, node: Node, folder: str) -> tuple[subprocess.Popen[bytes], str]:
        path = os.path.join(folder, str(node.node_id))
        with open(path, "wb") as output:
            process = subprocess.Popen(  # noqa: S603 - it is the user's own command
                ["/bin/sh", "-c", self.command(node)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return process, path

    def _failure(
        self, node: Node, process: subprocess.Popen[bytes], path: str, limit: Deadline
    ) -> KraftopsError | None:
        """Wait for a command; return the error if it has failed."""
        reason = f"has not ended within {self.seconds:g} s, and was killed"
        try:
            if not (code := process.wait(limit.left)):
                return None
            reason = f"has ended with {code}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        with open(path, "rb") as output:
            lines = output.read()[-_TAIL_BYTES:].decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return KraftopsError(
            f"the command of --hook for node {node.node_id} {reason}{': ' * bool(last)}{last}",
            code="hook-failed",
            id=node.node_id,
        )
