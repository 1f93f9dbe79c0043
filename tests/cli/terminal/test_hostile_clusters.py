"""Names from servers on a pseudo-terminal: every command on a cluster obeys none."""

import socket
from collections.abc import Iterator

import pytest

from tests.helpers.tools.console import CLUSTER, KRAFTOPS
from tests.helpers.tools.emulator import Emulator
from tests.helpers.tools.fake_cluster import serving
from tests.helpers.tools.hostile import NAME, check_shown, on_terminal
from tests.helpers.wire.peers import APIS, Peer, answer, described, read_request
from tests.helpers.wire.watched_clusters import WatchedCluster, watched

NODES = [
    {"broker_id": 1, "host": NAME, "port": 9092, "rack": NAME, "is_fenced": False},
    {"broker_id": 2, "host": NAME, "port": 9092, "rack": NAME, "is_fenced": True},
]
OF_BROKERS = {
    "cluster-id": (),
    "list-endpoints": ("--include-fenced-brokers",),
    "describe": (),
    "api-versions": ("--timeout", "1"),
    "wait": ("--for", "brokers=9", "--timeout", "2"),
    "unregister": ("-i", "2,9"),
    "safe-to-stop": ("-i", "1"),
    "controllers": (),
    "decommission": ("-i", "1"),
    "rebalance": (),
}
OF_CONTROLLERS = {
    "describe": (),
    "wait": ("--for", "no-under-replicated", "--timeout", "2"),
    "unregister": ("-i", "2"),
    "list-endpoints": (),
    "safe-to-stop": ("-i", "1"),
    "controllers": (),
}
SHOWING = {"describe", "safe-to-stop", "wait", "unregister"}


@pytest.fixture(scope="module")
def brokers() -> Iterator[str]:
    with serving(NODES) as peer:
        yield str(peer.address)


@pytest.fixture(scope="module")
def controllers() -> Iterator[str]:
    cluster = WatchedCluster(3, 5, racks=(NAME,), host=NAME, topic=NAME)
    cluster.shrink(0, 1)
    cluster.fence(2)
    with watched(cluster) as found:
        yield ",".join(str(found.address(each)) for each in found.peers)


@pytest.mark.parametrize("name", OF_BROKERS)
def test_names_of_brokers_are_not_obeyed(brokers: str, name: str) -> None:
    check_shown(on_terminal(CLUSTER, name, "-b", brokers, *OF_BROKERS[name]))


@pytest.mark.parametrize("name", OF_CONTROLLERS)
def test_names_of_controllers_are_not_obeyed(controllers: str, name: str) -> None:
    shown = on_terminal(CLUSTER, name, "-C", controllers, *OF_CONTROLLERS[name])

    check_shown(shown)
    assert name not in SHOWING or "title\\x07" in shown.replace("\n", "")


@pytest.mark.parametrize(
    "arguments", [("report", "--format", "json"), ("metadata-shell", "summary")]
)
def test_live_logs_are_not_obeyed(controllers: str, arguments: tuple[str, ...]) -> None:
    command, *more = arguments
    check_shown(on_terminal(KRAFTOPS, command, "-C", controllers, *more))


def test_screen_shows_names_with_escapes(controllers: str) -> None:
    command = (CLUSTER, "describe", "-C", controllers, "--watch", "0.2")
    with Emulator(*command, columns=200, rows=40) as screen:
        screen.wait_for("title\\x07")
        raw = screen.raw.decode()

    assert "\x1b]" not in raw
    assert "\x1b[5m" not in raw
    assert not {"\x07", "\x9b", "\u202e", "\u2066", "\u200b", "\ufeff"} & {*raw}
    assert not any(line.startswith("FORGED") for line in screen.lines)


@pytest.mark.parametrize("name", ["api-versions", "describe"])
def test_names_of_features_are_not_obeyed(name: str) -> None:
    levels = {"name": NAME, "min_version": 0, "max_version": 1}
    finalized = {"name": NAME, "min_version_level": 1, "max_version_level": 1}
    keys = [
        {"api_key": key, "min_version": first, "max_version": last}
        for key, (first, last) in APIS.items()
    ]

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                reply = answer(
                    "ApiVersions", version, correlation, error_code=0, api_keys=keys,
                    supported_features=[levels], finalized_features=[finalized],
                    finalized_features_epoch=1,
                )  # fmt: skip
            elif key == 60:
                reply = described(correlation, version, brokers=[NODES[0]])
            else:
                return
            connection.sendall(reply)

    with Peer(handle) as peer:
        shown = on_terminal(CLUSTER, name, "-b", str(peer.address), "--timeout", "1")

    check_shown(shown)
    assert "title\\x07" in shown.replace("\n", "")
