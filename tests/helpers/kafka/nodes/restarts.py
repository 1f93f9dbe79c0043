"""A command that restarts nodes of a cluster which this process has started."""

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.helpers.kafka.nodes.clusters import Cluster

_HOOK = (
    "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; echo $0 >&3; read -r answer <&3;"
    ' echo "$answer"; [ "$answer" = restarted ]\' {{id}}'
)


class Restarter:
    """The ids of nodes in the order of their restarts; *faults* take the place of a restart."""

    def __init__(self, cluster: Cluster, port: int) -> None:
        self.hook = _HOOK.format(port=port)
        self.restarted: list[int] = []
        self.faults: dict[int, Callable[[], str]] = {}
        self._cluster = cluster

    def restart(self, node_id: int) -> str:
        """Restart a node; return what the command prints."""
        if fault := self.faults.pop(node_id, None):
            return fault()
        node = self._cluster.nodes[node_id]
        node.stop()
        node.start()
        self.restarted.append(node_id)
        return "restarted"


@contextmanager
def restarter(cluster: Cluster) -> Iterator[Restarter]:
    """Serve a command of `--hook`, from one thread: nodes end with the thread that starts them."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            answer = served.restart(int(self.rfile.readline()))
            self.wfile.write(f"{answer}\n".encode())

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        served = Restarter(cluster, server.server_address[1])
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
