"""The screen of `describe --watch` with fake controllers, in a terminal of its own."""

import signal
from collections.abc import Iterator

import pytest

from tests.helpers.tools.console import CLUSTER
from tests.helpers.tools.emulator import Emulator
from tests.helpers.wire.quorums import Controllers
from tests.helpers.wire.watched_clusters import WatchedCluster, watched

INTERVAL = "0.2"


@pytest.fixture
def small() -> Iterator[tuple[WatchedCluster, Controllers]]:
    found = WatchedCluster(5, 20, racks=("r1", "r2"))
    with watched(found) as controllers:
        yield found, controllers


def command(controllers: Controllers, *more: str) -> list[str]:
    addresses = ",".join(str(controllers.address(each)) for each in controllers.peers)
    return [CLUSTER, "describe", "-C", addresses, "--watch", INTERVAL, "--timeout", "2", *more]


def test_screen_follows_the_cluster_and_answers_keys(
    small: tuple[WatchedCluster, Controllers],
) -> None:
    """Brokers are fenced, the leader goes, then all controllers; the screen goes on."""
    changing, controllers = small
    with Emulator(*command(controllers), rows=30) as screen:
        screen.wait_for("brokers: 5 active")
        assert "20 partitions" in screen.text
        changing.fence(2)
        changing.shrink(0, 1)
        screen.wait_for("broker 2: registered-fenced, was active")
        screen.wait_for("2 partitions under-replicated")

        screen.send("/fenced\r")
        screen.wait_for("filter: fenced")
        screen.wait(
            lambda found: sum("example:" in line or " r1 " in line for line in found.lines) == 1
        )
        screen.send("\x1b")
        screen.resize(30, 160)
        screen.wait_for("broker-5.example:9092")

        controllers.kill(3001)
        changing.log.elect(3002)
        screen.wait_for("led by 3002 after 3001, epoch 2")
        controllers.kill(3002)
        controllers.kill(3003)
        screen.wait_for("no answer for")
        assert "broker-5.example:9092" in screen.text

        screen.send("q")
        assert screen.wait_for_end() == 0
        assert screen.is_as_before


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_keys_lead_to_pages_and_back(
    small: tuple[WatchedCluster, Controllers], columns: int
) -> None:
    changing, controllers = small
    changing.fence(2)
    changing.shrink(0, 1)
    with Emulator(*command(controllers), rows=40, columns=columns) as screen:
        screen.wait_for("1 registered-fenced")
        screen.send("\x1b[B\r")
        screen.wait_for("broker 2")
        screen.wait_for("ok, 2 under-replicated")
        screen.send("p")
        screen.wait_for("partitions: 2 under-replicated")
        screen.send("c")
        screen.wait_for("the last hour")
        screen.send("o")
        screen.wait_for("no operation is under way")
        screen.send("\x1b")
        screen.wait(lambda shown: ">" in shown.text and "NODE" in shown.text)
        screen.send("q")
        assert screen.wait_for_end() == 0


@pytest.mark.parametrize(
    ("end", "code"),
    [("\x03", 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)],
)
def test_terminal_is_left_as_it_was(
    small: tuple[WatchedCluster, Controllers], end: str | int, code: int
) -> None:
    with Emulator(*command(small[1])) as screen:
        screen.wait_for("brokers: 5 active")
        if isinstance(end, str):
            screen.send(end)
        else:
            screen.signal(end)

        assert screen.wait_for_end() == code
        assert screen.is_as_before
        assert "Traceback" not in screen.text


def test_error_that_does_not_pass_is_told_on_the_main_screen(
    small: tuple[WatchedCluster, Controllers],
) -> None:
    with Emulator(*command(small[1], "--expect-cluster-id", "mine")) as screen:
        assert screen.wait_for_end() == 3
        assert screen.is_as_before
        text = screen.text.replace("\n", "")
        assert "kafka-cluster: " in text
        assert "not mine" in text


def test_dumb_terminal_has_blocks(small: tuple[WatchedCluster, Controllers]) -> None:
    with Emulator(*command(small[1]), rows=60, environment={"TERM": "dumb"}) as screen:
        screen.wait(lambda found: found.raw.count(b"cluster id") > 1)

        assert b"\x1b" not in screen.raw
