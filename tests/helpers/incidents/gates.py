"""Gates before the controllers of a broker: one that is closed refuses its connections."""

import socket
import threading
from contextlib import suppress
from pathlib import Path

from tests.helpers.kafka.nodes.configs import _free_ports

_LISTENERS = "listeners="


class Gate:
    """A port that leads to a node, whose configuration says where it listens."""

    def __init__(self, node: Path) -> None:
        self.port = _free_ports(1)[0]
        self._node = node
        self._listening: socket.socket | None = None
        self._passing: list[socket.socket] = []

    def open(self) -> None:
        """Let connections through, from now on."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def close(self) -> None:
        """End the connections, and have new ones refused."""
        assert self._listening is not None
        for ended in (self._listening, *self._passing):
            with suppress(OSError):
                ended.shutdown(socket.SHUT_RDWR)
            ended.close()
        self._passing.clear()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client = listening.accept()[0]
                server = socket.create_connection(("127.0.0.1", self._port_of_node()))
                self._passing += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()

    def _port_of_node(self) -> int:
        lines = self._node.read_text().splitlines()
        listeners = next(line for line in lines if line.startswith(_LISTENERS))
        return int(listeners.rpartition(":")[2])


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
