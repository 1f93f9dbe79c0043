"""Tables of `kafka-cluster` on terminals of 80 and 200 columns, and in pipes."""

import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kraftops.engine.metadata_state import BrokerLoad
from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.effects import effects_of
from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition
from kraftops.placement.plan import Move
from kraftops.placement.safety import Danger, MinIsr
from kraftops.reassign.access import ClusterAccess
from kraftops.voters.stop import Stop
from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.cluster import (
    ClusterNode,
    ClusterNodes,
    Feature,
    NodeApiVersions,
    QuorumInfo,
    ReplicaState,
)
from kraftops.wire.rpc.connection import VersionRange
from kraftops_cli.cluster.api_versions import _comparison
from kraftops_cli.cluster.describe import description_text
from kraftops_cli.cluster.description import (
    ClusterDescription,
    _listed_brokers,
    members_in,
    with_facts,
)
from kraftops_cli.cluster.health import Counts, Health, NodeFacts
from kraftops_cli.cluster.moving.access import Work
from kraftops_cli.cluster.moving.drain import print_leaders
from kraftops_cli.cluster.moving.plans import print_plan
from kraftops_cli.cluster.moving.safe_to_stop import StopAnswer, stop_text
from kraftops_cli.cluster.options import AccessOptions
from kraftops_cli.live.kafka_package import skip_kafka_clients
from kraftops_terminal.console import Console
from tests.helpers.tools.emulator import emulated
from tests.helpers.tools.own_terminal import OwnTerminal
from tests.helpers.tools.screen_files import RecordedScreens

HOSTILE = "\x1b]0;x\x07\x9b31m\n\u202e\ud800\u200b日本"
NOW = 1_795_348_800_000
ROWS = 80
BROKERS = (
    ClusterNode(101, Address("broker-101.kafka.example", 9092), "zürich-a", False),
    ClusterNode(102, Address("broker-102.kafka.example", 9092), "日本", True),
    ClusterNode(103, Address("broker-103.kafka.example", 9092), HOSTILE, False),
)
LEVELS = VersionRange(7, 30)


def described() -> ClusterDescription:
    """Return a cluster with a fenced broker, a failed directory and hostile names."""
    replicas = [
        ReplicaState(node, bytes(15) + bytes([node]), 104_873 - node, NOW, NOW - 900 * node)
        for node in (1, 2, 3)
    ]
    quorum = QuorumInfo(
        1, 17, 104_872, replicas[:2], replicas[2:],
        {1: [("CONTROLLER", Address(f"controller-{HOSTILE}", 9093))]},
    )  # fmt: skip
    loads = {each.node_id: BrokerLoad(3_000, 1_000) for each in BROKERS}
    health = Health(Counts(120_000, 700, 3, 12, 0), True, {}, loads)
    facts = {101: NodeFacts("4.3", (), ()), 103: NodeFacts("4.2", (), ("/data/2", HOSTILE))}
    brokers = _listed_brokers(ClusterNodes(HOSTILE, None, list(BROKERS)), health)
    return ClusterDescription(
        NOW,
        cluster_id=HOSTILE,
        leader=1,
        quorum=quorum,
        members=members_in(quorum, 104_872, NOW, facts),
        features=[Feature("metadata.version", LEVELS, 30), Feature(HOSTILE, None, 2)],
        health=health,
        brokers=with_facts(brokers, facts, (), ()),
    )


def describe(console: Console) -> str:
    return description_text(described(), console)


def compare(console: Console) -> str:
    skip_kafka_clients()  # as the command does
    nodes = {
        node: NodeApiVersions(
            {18: VersionRange(0, 4), 1: VersionRange(4, 17 + node % 2)},
            [Feature("metadata.version", LEVELS, 29 + node % 2)],
        )
        for node in range(1, 8)
    }
    return _comparison(nodes, console)


def _work(console: Console, written: list[str]) -> Work:
    terminal = SimpleNamespace(
        write=written.append, console=console, flush=lambda: None, is_json=False
    )
    return Work(terminal, AccessOptions(), ClusterAccess(None))  # type: ignore[arg-type]


def plan(console: Console) -> str:
    partitions = [TopicPartition(name, number) for number, name in enumerate(("orders", HOSTILE))]
    brokers = {each.node_id: BrokerPlace(each.rack, bool(each.is_fenced), True) for each in BROKERS}
    placement = Placement(
        brokers, {each: Replicas((101, 103), (101, 103), 101) for each in partitions}
    )
    written: list[str] = []
    moves = [Move(each, (101, 103), (101, 102)) for each in partitions]
    disks = {
        broker: [LogDirectory(path, {partitions[0]: DiskReplica(5 << 30)}, {}, 1 << 40, room)]
        for broker, path, room in ((101, "/d1", 3 << 40), (103, HOSTILE, None))
    }
    disks[103].append(LogDirectory("/d2", usable=0))
    effects = effects_of(placement, moves, disks)
    print_plan(_work(console, written), effects, is_whole=True)
    return "".join(written)


def dangers(console: Console) -> str:
    found = [
        Danger(TopicPartition("orders", 0), (), MinIsr(2)),
        Danger(TopicPartition(HOSTILE, 1), (102,), MinIsr(2, is_assumed=True)),
    ]
    stop = Stop([101, 103], found, [], None, False)
    return stop_text(_work(console, []), StopAnswer(None, stop, ()))  # type: ignore[arg-type]


def stay(console: Console) -> str:
    written: list[str] = []
    partition = TopicPartition(HOSTILE, 1)
    assert print_leaders(_work(console, written), [partition], [partition]) == 2
    return "".join(written)


TABLES = [describe, compare, plan, dangers, stay]


def shown(make: Callable[[Console], str], columns: int) -> str:
    with OwnTerminal(columns) as terminal:
        return make(Console(lambda _: None, terminal.fd, True, environment={"TERM": "xterm"}))


def piped(make: Callable[[Console], str]) -> str:
    return make(Console(lambda _: None, -1, is_terminal=False))


@pytest.mark.parametrize("columns", [80, 200])
def test_tables_are_as_recorded(columns: int, recorded: RecordedScreens) -> None:
    text = "\n".join(shown(make, columns) for make in TABLES)
    lines = emulated(text, columns, ROWS)

    recorded.check(f"cluster-tables-{columns}", lines)
    assert lines[-1] == ""  # nothing has scrolled away


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("columns", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal(make: Callable[[Console], str], columns: int) -> None:
    tables = [
        line
        for line in re.sub(r"\x1b\[[\d;]*m", "", shown(make, columns)).splitlines()
        if not line.startswith(("partitions", "no room", "101, 103"))
    ]

    assert max(map(len, tables)) <= columns


@pytest.mark.parametrize("make", TABLES)
def test_pipe_has_plain_text_with_all_columns(make: Callable[[Console], str]) -> None:
    text, wide = piped(make), shown(make, 1000)

    assert "\x1b" not in text
    heads = [line.split("  ")[0].strip() for line in text.splitlines()]
    plain = re.sub(r"\x1b\[[\d;]*m", "", wide)
    assert [line.split() for line in text.splitlines()] == [
        line.split() for line in plain.splitlines()
    ]
    assert heads


@pytest.mark.parametrize("make", TABLES)
def test_hostile_names_stay_text(make: Callable[[Console], str]) -> None:
    for text in (piped(make), re.sub(r"\x1b\[[\d;]*m", "", shown(make, 200))):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b\ud800]", text)


def test_nothing_to_list_is_said() -> None:
    empty = replace(described(), brokers=[], features=[], members=[])

    text = description_text(empty, Console(lambda _: None, -1, is_terminal=False))

    assert text.endswith("\n\nbrokers  none\n\nquorum  none\n\nfeatures  none\n")
