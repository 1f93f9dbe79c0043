"""Servers that greet well and then lie, drip or flood: every command ends soon, and small."""

import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

import pytest

from kraftops.wire.net.transport import LARGEST_FRAME
from tests.helpers.nodes.child_processes import Child, crowding
from tests.helpers.tools.console import KRAFTOPS
from tests.helpers.wire.peers import (
    APIS,
    CONTROLLER_APIS,
    Handler,
    Peer,
    answer,
    api_versions,
    described,
    read_request,
)

TIMEOUT = ("--timeout", "1")
OF_BROKERS = (
    "cluster-id",
    "list-endpoints",
    "describe",
    "api-versions",
    "wait --for brokers=1",
    "unregister -i 2 -y",
    "safe-to-stop -i 1",
    "controllers",
    "controllers add -i 4 -y",
    "drain -i 1 -y --save plan.json",
    "decommission -i 1 -y",
    "rebalance -y",
)
OF_CONTROLLERS = (
    "cluster cluster-id",
    "cluster list-endpoints",
    "cluster describe",
    "cluster wait --for brokers=1",
    "cluster unregister -i 2 -y",
    "cluster controllers",
    "cluster controllers remove -i 1 -y",
    "metadata-shell ls /",
    "dump-log --print-data-log",
    "report --output report.html",
)
MOVING = (37, 42, 43, 44, 45, 46, 32, 33)
"""APIs by which replicas are moved."""
SERVED = {"-b": APIS | dict.fromkeys(MOVING, (0, 5)), "-C": CONTROLLER_APIS}
WORDS = {"-b": [f"cluster {name}" for name in OF_BROKERS], "-C": OF_CONTROLLERS}
AT_ONCE = 30
"""Commands that run at a time: most of them wait for an answer."""
SECONDS = 3.0
"""On a processor; a loop without a wait takes more."""
MEMORY = 150 << 20
Attack = Callable[[socket.socket, int, int, int], None]


def after_a_greeting(attack: Attack, option: str) -> Handler:
    """Answer ApiVersions as a server does, and leave any other request to *attack*."""

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                connection.sendall(api_versions(correlation, SERVED[option], version=version))
            else:
                attack(connection, key, version, correlation)

    return handle


def drip(connection: socket.socket, _key: int, _version: int, correlation: int) -> None:
    connection.sendall((1 << 20).to_bytes(4) + correlation.to_bytes(4))
    while True:
        time.sleep(0.02)
        connection.sendall(b"\0")


def flood(connection: socket.socket, _key: int, _version: int, correlation: int) -> None:
    """Promise the largest answer that is taken, and send it."""
    connection.sendall(LARGEST_FRAME.to_bytes(4) + correlation.to_bytes(4))
    while True:
        connection.sendall(bytes(1 << 20))


def promise(connection: socket.socket, _key: int, _version: int, correlation: int) -> None:
    connection.sendall((0x7FFFFFFF).to_bytes(4) + correlation.to_bytes(4))
    while True:
        connection.sendall(bytes(1 << 20))


def mistake(connection: socket.socket, _key: int, version: int, correlation: int) -> None:
    """Answer another request, again and again."""
    while True:
        time.sleep(0.02)
        correlation += 1
        connection.sendall(described(correlation, min(version, 2)))


def count_wrongly(connection: socket.socket, _key: int, _version: int, correlation: int) -> None:
    """Announce as many elements as a number can."""
    body = correlation.to_bytes(4) + b"\0" * 9 + b"\xff\xff\xff\xff\x0f" * 8 + b"\x7f" * 60
    connection.sendall(len(body).to_bytes(4) + body)


def hang_up(connection: socket.socket, _key: int, _version: int, _correlation: int) -> None:
    connection.close()


def crowd(connection: socket.socket, key: int, version: int, correlation: int) -> None:
    """Tell of a thousand brokers, all at an address where nobody is."""
    if key != 60:
        raise EOFError
    one = {"host": "127.0.0.1", "port": 1, "rack": None, "is_fenced": False}
    brokers = [{"broker_id": at, **one} for at in range(1000)]
    connection.sendall(described(correlation, version, brokers=brokers))


def send_away(connection: socket.socket, key: int, version: int, correlation: int) -> None:
    """Say of every request that another node leads, and that it is this one."""
    _, port = connection.getsockname()
    if key == 60:
        me = {"broker_id": 1, "host": "127.0.0.1", "port": port, "rack": None, "is_fenced": False}
        connection.sendall(described(correlation, version, brokers=[me]))
    elif key == 55:
        connection.sendall(answer("DescribeQuorum", version, correlation, error_code=6, topics=[]))
    elif key == 1:
        connection.sendall(answer("Fetch", version, correlation, error_code=6, responses=[]))
    else:
        raise EOFError


def greet_forever(connection: socket.socket) -> None:
    """Drip already the greeting."""
    connection.sendall((1 << 20).to_bytes(4))
    while True:
        time.sleep(0.02)
        connection.sendall(b"\0")


def lie(connection: socket.socket) -> None:
    """Claim versions that there are not, in both directions."""
    apis = {
        key: (0, 32767) if key % 2 else (32767, -5) for served in SERVED.values() for key in served
    }
    while True:
        _, version, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, apis, version=min(version, 3)))


ATTACKS = (drip, flood, promise, mistake, count_wrongly, hang_up, crowd, send_away)
LIARS = (greet_forever, lie)


@pytest.fixture(scope="module")
def ended(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[tuple[str, Attack | Handler, str], Child]:
    """What became of each command, by option, attack and command: all peers are there at once."""
    folder = tmp_path_factory.mktemp("peers")
    (folder / "node").mkdir()
    cases: dict[tuple[str, Attack | Handler, str], tuple[str, ...]] = {}
    with ExitStack() as stack:
        for option, words in WORDS.items():
            for attack in (*LIARS, *ATTACKS):
                handler = attack if attack in LIARS else after_a_greeting(attack, option)
                peer = stack.enter_context(Peer(handler))
                for one in words:
                    command = (*one.split(), option, str(peer.address), *TIMEOUT)
                    cases[option, attack, one] = command
        first = [command for (_, attack, _), command in cases.items() if attack is lie]
        commands = [*cases.values()]
        found = crowding(folder / "node", folder / "run", commands, AT_ONCE, first, KRAFTOPS)
    return dict(zip(cases, found, strict=True))


@pytest.mark.parametrize("attack", [*ATTACKS, *LIARS])
@pytest.mark.parametrize("option", WORDS)
def test_every_command_ends_soon_and_small(
    option: str, attack: Attack | Handler, ended: Mapping[tuple[str, Attack | Handler, str], Child]
) -> None:
    for command in WORDS[option]:
        check(command, ended[option, attack, command])


def check(command: str, child: Child) -> None:
    assert child.code in (0, 1, 2, 4, 5, 6), (command, child.err)
    assert "Traceback" not in child.err, command
    errors = [line for line in child.errors if not line.startswith("kraftops: note: ")]
    has_line_a_node = command == "cluster api-versions"
    assert bool(errors) == (child.code != 0), (command, child.err)
    assert len(errors) <= 1 or has_line_a_node, (command, child.err)
    assert child.seconds < SECONDS, command
    assert child.memory < MEMORY, command
    assert [path.name for path in child.node.iterdir()] == [], command
