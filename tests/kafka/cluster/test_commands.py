"""`kafka-cluster` with real brokers and controllers: actions and refusals."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, restarted, running_cluster
from tests.helpers.kafka.nodes.configs import CLUSTER_ID
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.tools.console import CLUSTER, ENVIRONMENT, KRAFTOPS, Done, run_command
from tests.helpers.tools.distribution import long_after, long_but

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def cluster(*args: str) -> Done:
    """Run our tool."""
    done = run_command(*args, program=CLUSTER)
    assert "Traceback" not in done.err
    return done


def printed_json(*args: str) -> dict:  # type: ignore[type-arg]
    """Return the JSON that our tool prints."""
    done = cluster(*args, "--format", "json")
    assert (done.code, done.err) == (0, "")
    *_, last = done.text.splitlines()
    return json.loads(last)  # type: ignore[no-any-return]


def create_topics(addresses: str, *names: str, brokers: tuple[int, ...] = (101,)) -> None:
    """Create topics of one partition with a replica on each of some brokers."""
    assignment = [{"partition_index": 0, "broker_ids": [*brokers]}]
    topics = [
        {"name": n, "num_partitions": -1, "replication_factor": -1, "assignments": assignment,
         "configs": []}
        for n in names
    ]  # fmt: skip
    with connect(parse_bootstrap(addresses), Settings(), Deadline(30)) as connection:
        answer = connection.ask("CreateTopics", topics=topics, timeout_ms=30000)
    assert [topic.error_code for topic in answer.topics] == [0] * len(names)


@pytest.fixture(scope="module")
def live(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A controller and three brokers: 102 holds a replica of a topic, and 103 has stopped."""
    with running_cluster(jars, tmp_path_factory.mktemp("live"), Shape(brokers=3)) as found:
        create_topics(found.brokers, "orders", "mail", brokers=(101, 102))
        found.nodes[103].kill()
        found.nodes[102].kill()
        assert until(lambda: len(found.nodes[101].cluster().nodes) == 1)
        yield found


@pytest.fixture(params=["-b", "-C"])
def asking(request: pytest.FixtureRequest, live: Cluster) -> tuple[str, str]:
    """The option and the addresses of the brokers, then of the controllers."""
    place = live.brokers.split(",")[0] if request.param == "-b" else live.controllers
    return request.param, place


def test_id_is_reported_as_json(asking: tuple[str, str]) -> None:
    expected = {"command": "cluster-id", "formatVersion": 2, "clusterId": CLUSTER_ID}

    assert printed_json("id", *asking) == expected


@pytest.mark.parametrize(
    "command",
    long_but(
        [("unregister", "--id", "103")],
        [
            ("cluster-id",), ("list-endpoints",), ("api-versions",), ("describe",),
            ("unregister", "--id", "103"), ("wait", "--for", "brokers=1"),
        ],
    ),
    ids=lambda command: command[0],
)  # fmt: skip
def test_other_cluster_is_refused_by_both_ids(
    command: tuple[str, ...], asking: tuple[str, str]
) -> None:
    done = cluster(*command, *asking, "--expect-cluster-id", OTHER_ID)

    assert (done.code, done.text) == (3, "")
    assert OTHER_ID in done.err
    assert cluster(command[0], *asking, "--expect-cluster-id", OTHER_ID, *command[1:]).code == 3


def test_expected_cluster_is_asked(asking: tuple[str, str]) -> None:
    assert cluster("id", *asking, "--expect-cluster-id", CLUSTER_ID).code == 0


def test_report_of_running_controllers_tells_of_the_cluster(live: Cluster) -> None:
    done = run_command("report", "-C", live.controllers, "--format", "json", program=KRAFTOPS)

    assert (done.code, done.err) == (0, "")
    found = json.loads(done.text)
    assert found["cluster"]["clusterId"] == CLUSTER_ID
    bands = {one["id"]: one["bands"][-1]["state"] for one in found["timeline"]["brokers"]}
    assert bands == {101: "active", 102: "fenced", 103: "fenced"}
    made = {one["what"] for one in found["timeline"]["changes"] if one["kind"] == "topic-created"}
    assert made >= {"topic orders", "topic mail"}
    assert found["timeline"]["leadership"]
    (log,) = found["logs"]
    assert log["topic"] == "__cluster_metadata"
    assert log["records"] > 10


# unregister


@pytest.mark.parametrize(
    ("broker", "reason"),
    long_after(
        3,
        [
            (101, "broker 101 is running: it is not fenced"),
            (102, "broker 102 still holds 2 replicas of 2 topics: mail, orders"),
            (999, "Broker ID 999 is not currently registered"),
            (1, "Broker ID 1 is not currently registered"),
            (-1, "Broker ID -1 is not currently registered"),
        ],
    ),
)
def test_broker_that_is_needed_is_refused(
    asking: tuple[str, str], broker: int, reason: str
) -> None:
    done = cluster("unregister", *asking, "--id", str(broker))

    own_name = cluster("unregister", *asking, "--id", str(broker), "--format", "json")

    assert (done.code, done.text) == (1, "")
    assert own_name.code == (4 if "not currently" in reason else 3)
    assert reason in done.errors[0]
    assert asking[1] in done.errors[0]
    if "not currently" in reason:
        assert done.errors[1] == "hint: registered are: 101, 102, 103"


def test_one_that_is_refused_keeps_all(asking: tuple[str, str]) -> None:
    assert cluster("unregister", *asking, "-i", "103", "-i", "101").code == 1
    assert len(printed_json("describe", *asking)["brokers"]) == 3


def test_dry_run_changes_nothing(asking: tuple[str, str]) -> None:
    done = cluster("unregister", *asking, "-i", "103", "--dry-run")
    data = printed_json("unregister", *asking, "-i", "103", "-i", "102", "--force", "--dry-run")

    assert (done.code, done.text) == (0, "Broker 103 would be unregistered.\n")
    assert data["changed"] is False
    assert [
        (broker["id"], broker["wasRegistered"], broker["outcome"]) for broker in data["brokers"]
    ] == [(103, True, "untried"), (102, True, "untried")]
    assert len(printed_json("describe", *asking)["brokers"]) == 3


def test_unknown_one_may_be_missing(asking: tuple[str, str]) -> None:
    done = cluster("unregister", *asking, "-i", "999", "--if-registered")

    assert (done.code, done.text) == (0, "Broker 999 is not registered.\n")
    assert printed_json("unregister", *asking, "-i", "999", "--if-registered")["changed"] is False


def test_broker_is_unregistered_by_force_and_registers_again(
    live: Cluster, asking: tuple[str, str]
) -> None:
    assert printed_json("unregister", *asking, "-i", "103")["changed"] is True
    done = cluster("unregister", *asking, "-i", "102", "--force", "--yes")
    assert (done.code, done.text) == (0, "Broker 102 is no longer registered.\n")
    assert [each["id"] for each in printed_json("describe", *asking)["brokers"]] == [101]

    for node in (102, 103):
        restarted(live, node)
    assert cluster("wait", *asking, "--for", "brokers=3:unfenced", "--timeout", "30").code == 0
    for node in (102, 103):
        live.nodes[node].kill()
    assert until(lambda: len(live.nodes[101].cluster().nodes) == 1)


def test_dead_controller_is_not_waited_for_long(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape(brokers=1)) as found:
        found.nodes[1].kill()
        start = time.monotonic()

        done = cluster("unregister", "-b", found.brokers, "-i", "101", "--force", "--timeout", "3")

        assert (done.code, done.text) == (6, "")
        assert found.brokers in done.err
        assert time.monotonic() - start < 60


# describe, api-versions, wait


def test_description_is_complete_by_a_controller(live: Cluster) -> None:
    data = printed_json("describe", "-C", live.controllers)

    states = {each["id"]: (each["state"], each["replicas"]) for each in data["brokers"]}
    assert states == {
        101: ("active", 2), 102: ("registered-fenced", 2), 103: ("registered-fenced", 0),
    }  # fmt: skip
    assert all(len(each["directories"]) == 1 for each in data["brokers"])
    assert [each["name"] for each in data["brokers"][0]["listeners"]] == ["PLAINTEXT"]
    assert data["clusterId"] == CLUSTER_ID
    assert data["snapshot"]["lag"] > 0
    roles = {each["id"]: each["role"] for each in data["quorum"]["replicas"]}
    assert roles == {1: "leader", 101: "observer", 102: "observer", 103: "observer"}
    features = {each["name"]: each["finalized"] for each in data["features"]}
    assert features["metadata.version"] == 30


def test_description_has_dashes_by_a_broker(live: Cluster) -> None:
    data = printed_json("describe", "-b", live.brokers)
    text = cluster("describe", "-b", live.brokers).text

    assert data["snapshot"] is None
    assert [each["directories"] for each in data["brokers"]] == [None] * 3
    assert [(each["replicas"], each["leaders"]) for each in data["brokers"]] == [
        (2, 2), (2, 0), (0, 0),
    ]  # fmt: skip
    assert [each["state"] for each in data["brokers"]] == [
        "active", "registered-fenced", "registered-fenced",
    ]  # fmt: skip
    assert "snapshot       -\n" in text
    assert data["quorum"]["leader"] == 1


def test_nothing_shows_up_among_the_observers(live: Cluster) -> None:
    before = live.nodes[1].quorum().observers

    cluster("describe", "-C", live.controllers)
    cluster("wait", "-C", live.controllers, "--for", "brokers=1")

    assert live.nodes[1].quorum().observers == before


def test_watch_goes_on_until_it_is_interrupted(live: Cluster) -> None:
    command = [CLUSTER, "describe", "-C", live.controllers, "--watch", "0.2", "--format", "json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as watching:
        assert watching.stdout is not None
        lines = [json.loads(watching.stdout.readline()) for _ in range(3)]
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=60)

    assert [line["time"] for line in lines] == sorted({line["time"] for line in lines})
    assert (watching.returncode, err) == (130, b"")


def test_api_versions_are_those_of_each_node(live: Cluster) -> None:
    data = printed_json("api-versions", "-C", live.controllers)
    served = {each["name"]: each for each in data["nodes"][0]["apis"]}

    assert served["FetchSnapshot"]["key"] == 59
    assert served["DescribeCluster"]["max"] == 2
    assert "Metadata" not in served
    done = cluster("api-versions", "-C", live.controllers, "--compare")
    assert (done.code, done.text) == (0, "node 1: all the same\n")


def test_node_that_does_not_answer_is_an_error(live: Cluster, jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=2)
    with running_cluster(jars, tmp_path, shape) as found:
        both = cluster("api-versions", "-C", found.controllers, "--compare")
        found.nodes[2].kill()
        done = cluster("api-versions", "-C", found.controllers.split(",")[0], "--timeout", "3")

    assert both.text == "nodes 1, 2: all the same\n"
    assert done.code == 5
    assert "node 2: localhost:" in done.err or "no answer" in done.err


def test_wait_ends_in_time(asking: tuple[str, str]) -> None:
    start = time.monotonic()
    done = cluster("wait", *asking, "--for", "brokers=4", "--timeout", "1.5")

    assert done.code == 5
    assert "after 1.5 s: 3 brokers there, not 4" in done.err
    assert time.monotonic() - start < 60
    assert cluster("wait", *asking, "--for", "brokers=3").text == "brokers=3: true\n"
    unfenced = cluster("wait", *asking, "--for", "brokers=1:unfenced")
    assert unfenced.text == "brokers=1:unfenced: true\n"


def test_wait_begins_before_the_cluster_does(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape(is_combined=True)) as found:
        node = found.nodes[1]
        node.stop()
        command = [CLUSTER, "wait", "-b", found.brokers, "--for", "brokers=1", "--timeout", "60"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
        ) as waiting:
            time.sleep(1)
            assert waiting.poll() is None
            restarted(found, 1)
            out, err = waiting.communicate(timeout=60)

    assert (waiting.returncode, out, err) == (0, b"brokers=1: true\n", b"")
