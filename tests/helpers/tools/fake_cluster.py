"""`kafka-cluster` run on a fake broker."""

import socket
import ssl
from collections.abc import Callable, Collection
from pathlib import Path

from tests.helpers.tools.console import CLUSTER, Done, run_here
from tests.helpers.wire.peers import APIS, Peer, answer, api_versions, described, read_request

NODES = [
    {"broker_id": 1, "host": "ä.example", "port": 9092, "rack": "zürich-😀", "is_fenced": False},
    {"broker_id": 22, "host": "b", "port": 65535, "rack": None, "is_fenced": True},
]


def cluster(*args: str, cwd: Path | str = ".", stdin: str = "") -> Done:
    done = run_here(*args, program=CLUSTER, cwd=cwd, stdin=stdin)
    assert "Traceback" not in done.err
    return done


def serving(
    nodes: list[dict[str, object]],
    apis: dict[int, tuple[int, int]] = APIS,
    *,
    silent: Collection[int] = (),
    denied: Collection[int] = (),
    is_late: bool = False,
    returning: int | None = None,
    sees_all: bool = False,
    context: ssl.SSLContext | None = None,
) -> Peer:
    """Return a broker of a cluster of *nodes*, which has no topics, with TLS if it has a *context*.

    It refuses DESCRIBE, unless one *sees_all*. It unregisters nodes. For the *silent* ids it gives
    no answer, and does so only if *is_late*; for the *denied* ids it answers that there is no
    permission. A *returning* node runs again after the first request.
    """
    operations = 0x1FFF if sees_all else -(1 << 31)  # those of Kafka 4.3, and not asked

    def unregister(version: int, correlation: int, body: bytes) -> bytes:
        broker = int.from_bytes(body[1:5], signed=True)  # after the tags of the header
        code = 31 if broker in denied else 0
        if not code and (is_late or broker not in silent):
            code = 0 if any(node["broker_id"] == broker for node in nodes) else 102
            nodes[:] = [node for node in nodes if node["broker_id"] != broker]
        for node in nodes:
            if node["broker_id"] == returning:
                node["is_fenced"] = False
        if broker in silent:
            return b""
        return answer("UnregisterBroker", version, correlation, error_code=code)

    def reply(key: int, version: int, correlation: int, body: bytes) -> bytes:
        replies: dict[int, Callable[[], bytes]] = {
            3: lambda: answer("Metadata", version, correlation, brokers=[], topics=[]),
            46: lambda: answer(
                "ListPartitionReassignments", version, correlation, error_code=0, topics=[]
            ),
            18: lambda: api_versions(correlation, apis, version=version),
            55: lambda: answer("DescribeQuorum", version, correlation, error_code=31, topics=[]),
            60: lambda: described(
                correlation, version, brokers=nodes, cluster_authorized_operations=operations
            ),
            64: lambda: unregister(version, correlation, body),
        }
        if key not in replies:
            raise EOFError
        return replies[key]()

    def handle(connection: socket.socket) -> None:
        while True:
            connection.sendall(reply(*read_request(connection)))

    return Peer(handle, context)
