"""`kafka-cluster` run on a fake broker."""

import socket
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


def serving(nodes: list[dict[str, object]], apis: dict[int, tuple[int, int]] = APIS) -> Peer:
    """Return a broker of a cluster of *nodes*, which has no topics and refuses DESCRIBE."""

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                reply = api_versions(correlation, apis, version=version)
            elif key == 60:
                reply = described(correlation, version, brokers=nodes)
            elif key == 3:
                reply = answer("Metadata", version, correlation, brokers=[], topics=[])
            elif key == 55:
                reply = answer("DescribeQuorum", version, correlation, error_code=31, topics=[])
            elif key == 64:
                reply = answer("UnregisterBroker", version, correlation, error_code=0)
            else:
                return
            connection.sendall(reply)

    return Peer(handle)
