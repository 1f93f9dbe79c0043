"""Servers on loopback, good and bad, for tests of connections."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Self

from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import definition

Handler = Callable[[socket.socket], None]
APIS = {0: (0, 13), 1: (4, 18), 3: (0, 13), 18: (0, 4), 55: (0, 2), 60: (0, 2), 64: (0, 0)}
"""The APIs of a Kafka 4.3 broker that are used here."""
CONTROLLER_APIS = {key: served for key, served in APIS.items() if key != 3} | {59: (0, 1)}
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
_NO_TAGS_IN_HEADER = {18}

for _api in ("ApiVersions", "DescribeCluster", "DescribeQuorum", "Fetch", "FetchSnapshot"):
    # Loaded here: within a test, the first use could take longer than its timeout.
    definition(f"{_api}Request")
    definition(f"{_api}Response")


class Peer:
    """A server on a free port of loopback that hands each connection to *handler*, in a thread."""

    def __init__(self, handler: Handler, context: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = Address("localhost", self._listener.getsockname()[1])
        self.connections = 0
        self._stopped = threading.Event()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, EOFError):
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
                self._open.append(connection)
            self._handler(connection)
        with suppress(OSError):
            connection.close()


def read_request(connection: socket.socket) -> tuple[int, int, int, bytes]:
    """Return the key, version, correlation id and body of a request."""
    payload = take(connection, int.from_bytes(take(connection, 4)))
    key, version = int.from_bytes(payload[:2]), int.from_bytes(payload[2:4])
    client = 10 + int.from_bytes(payload[8:10])
    return key, version, int.from_bytes(payload[4:8]), payload[client:]


def take(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def answer(api: str, version: int, correlation: int, **values: object) -> bytes:
    """Return the frame of an answer."""
    response = definition(f"{api}Response")
    head = correlation.to_bytes(4)
    if response.is_flexible(version) and response.key not in _NO_TAGS_IN_HEADER:
        head += b"\0"
    payload = head + response.encode(version, values)
    return len(payload).to_bytes(4) + payload


def api_versions(
    correlation: int,
    apis: Mapping[int, tuple[int, int]] = APIS,
    version: int = 3,
    error: int = 0,
) -> bytes:
    """Return the answer to ApiVersions of a node that serves *apis*."""
    served = [
        {"api_key": key, "min_version": first, "max_version": last}
        for key, (first, last) in apis.items()
    ]
    return answer("ApiVersions", version, correlation, error_code=error, api_keys=served)


def described(correlation: int, version: int = 2, **values: object) -> bytes:
    """Return a broker's answer to DescribeCluster."""
    broker = {
        "broker_id": 1,
        "host": "localhost",
        "port": 9092,
        "rack": None,
        "is_fenced": False,
    }
    whole = {"cluster_id": CLUSTER_ID, "controller_id": 1, "brokers": [broker], **values}
    return answer("DescribeCluster", version, correlation, **whole)


def broker(connection: socket.socket) -> None:
    """Answer ApiVersions and DescribeCluster as a broker does; close at any other request."""
    while True:
        key, version, correlation, _ = read_request(connection)
        if key == 18:
            connection.sendall(api_versions(correlation, version=version))
        elif key == 60:
            connection.sendall(described(correlation, version))
        else:
            return


def silent(connection: socket.socket) -> None:
    """Receive everything and answer nothing."""
    while connection.recv(1 << 16):
        pass


def saying(*data: bytes) -> Handler:
    """Return a handler that answers one request with *data*, and closes."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        for part in data:
            connection.sendall(part)

    return handle


@contextmanager
def free_port() -> Iterator[int]:
    """Yield a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
