"""`kraftops doctor`: its answer, exit codes, and what it looks at."""

import json
import os
import shutil
import tarfile
from pathlib import Path
from unittest.mock import patch

import pytest

from kraftops.storage.config.host import LocalKafka
from tests.helpers.logs.incidents import INCIDENT, broker, fencing, incident_directory
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.random_logs import new_record
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.nodes.node_directories import PROPERTIES, STATIC, format_node, make_node
from tests.helpers.tools.console import KRAFTOPS, Done, run_here


def doctor(*args: str, cwd: Path | str = ".") -> Done:
    return run_here("doctor", *args, cwd=cwd, program=KRAFTOPS)


def test_healthy_broker_has_notes_alone() -> None:
    done = doctor(str(REAL / "stopped"))

    assert done.code == 0
    assert done.text.splitlines()[0].startswith("nothing is wrong: ")
    assert "severe" not in done.text


@pytest.mark.parametrize("name", ["plain-0", "empty", "albums"])
def test_directory_that_is_not_of_a_server_is_not_called_healthy(name: str, tmp_path: Path) -> None:
    shutil.copytree(REAL / "stopped/plain-0", tmp_path / "plain-0")
    (tmp_path / "empty").mkdir()
    (tmp_path / "albums/photos-2").mkdir(parents=True)
    (tmp_path / "albums/photos-2/a.jpg").touch()

    done = doctor(name, cwd=tmp_path)

    assert done.code == 1
    assert done.text.startswith(f"nothing could be examined: {name} is not a log directory")
    if name != "plain-0":
        disk = run_here("disk", name, cwd=tmp_path, program=KRAFTOPS)
        assert (disk.code, "is not a log directory" in disk.err) == (1, True)


def test_finding_has_evidence_and_the_next_command(tmp_path: Path) -> None:
    folder = incident_directory(tmp_path, INCIDENT[:9])

    answer = json.loads(doctor(str(folder), "--format", "json").text)

    first = answer["findings"][0]
    assert (first["code"], first["node"], first["severity"]) == ("broker-down", 1, "risk")
    assert first["commands"]
    assert answer["verdict"].startswith("1 risk; first: broker 1 has been down since 2026")
    assert {run["status"] for run in answer["checks"]} == {"done", "skipped"}


def test_broker_that_was_stopped_in_order_is_only_to_be_started(tmp_path: Path) -> None:
    stopping = new_record(
        "BrokerRegistrationChangeRecord", brokerId=1, brokerEpoch=1, inControlledShutdown=1
    )
    folder = incident_directory(tmp_path, [*INCIDENT[:7], (9, [stopping]), *INCIDENT[7:9]])

    findings = json.loads(doctor(str(folder), "--format", "json").text)["findings"]

    (down,) = (finding for finding in findings if finding["code"] == "broker-down")
    assert (down["severity"], down["cure"], down["commands"]) == ("note", "start it", [])


@pytest.mark.parametrize(
    ("fenced", "text"),
    [
        ((1, 2, 3), "brokers 1, 2 and 3 are fenced, as all others are"),
        ((4,), "broker 4 is fenced, and no partition is affected"),
    ],
)
def test_fenced_brokers_are_a_note_where_no_partition_tells_them(
    tmp_path: Path, fenced: tuple[int, ...], text: str
) -> None:
    log = [*INCIDENT[:7], *([(9, [broker(4)])] if 4 in fenced else [])]
    folder = incident_directory(tmp_path, [*log, (10, [fencing(number, 1) for number in fenced])])

    answer = json.loads(doctor(str(folder), "--format", "json", "--only", "broker-down").text)

    (down,) = answer["findings"]
    assert (down["severity"], down["text"]) == ("note", text)


def test_refused_configuration_does_not_hide_the_rest(tmp_path: Path) -> None:
    node = make_node(tmp_path, STATIC, num_partitions="many")

    done = doctor("-c", PROPERTIES, str(REAL / "stopped"), "--format", "json", cwd=node)

    answer = json.loads(done.text)
    assert done.code == 2
    assert answer["findings"][0]["code"] == "bad-configuration"
    assert answer["findings"][0]["file"] == PROPERTIES
    assert PROPERTIES not in answer["findings"][0]["text"]
    assert len([run for run in answer["checks"] if run["status"] == "done"]) > 5


@pytest.fixture
def damaged_cluster(tmp_path: Path) -> Path:
    """The small cluster of the documentation, where a start of node 103 would cut orders-1."""
    example_cluster(tmp_path)
    log = tmp_path / f"cluster/node-103/data/orders-1/{0:020}.log"
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    return tmp_path / "cluster"


BAD_PROVIDER = """\
log.dirs=${file:/x:y}
config.providers=file
config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider
config.providers.file.param.allowed.paths=relative"""
NODES = [word for node in (101, 102, 103) for word in ("-c", f"node-{node}.properties")]


@pytest.mark.parametrize("command", [("doctor",), ("storage", "verify")])
@pytest.mark.parametrize(
    "lines", ["num.partitions=many\nlog.retention.ms=soon", "listeners=PLAINTEXT//localhost"]
)
def test_bad_keys_do_not_hide_the_loss_on_the_disks_of_their_node(
    lines: str, command: tuple[str, ...], damaged_cluster: Path
) -> None:
    with open(damaged_cluster / "node-103.properties", "a") as file:
        file.write(f"{lines}\n")

    done = run_here(*command, *NODES, cwd=damaged_cluster, program=KRAFTOPS)

    assert done.code == 2
    assert f"loss: node-103/data/orders-1/{0:020}.log, position " in done.text
    assert "stops: node-103.properties: line " in done.text
    assert "were not read" not in done.text
    if command == ("doctor",):
        assert "kafka-storage compare node-101/data node-102/data node-103/data\n" in done.text


@pytest.mark.parametrize("command", [("doctor",), ("storage", "verify")])
@pytest.mark.parametrize("line", ["node.id=x", "log.dirs=", BAD_PROVIDER])
def test_node_whose_directories_were_not_read_is_said_to_be(
    line: str, command: tuple[str, ...], damaged_cluster: Path
) -> None:
    with open(damaged_cluster / "node-103.properties", "a") as file:
        file.write(f"{line}\n")

    done = run_here(*command, *NODES, cwd=damaged_cluster, program=KRAFTOPS)

    assert done.code == 2
    assert "; its log directories were not read" in done.text
    assert "node-103/data" not in done.text


def test_configuration_that_is_named_twice_is_one_node(tmp_path: Path) -> None:
    node = make_node(tmp_path, STATIC)
    format_node(node)
    once = json.loads(doctor("-c", PROPERTIES, "--format", "json", cwd=node).text)

    twice = doctor("-c", PROPERTIES, "-c", f"./{PROPERTIES}", "--format", "json", cwd=node)

    assert json.loads(twice.text) == once


def test_node_that_is_not_formatted_does_not_start(tmp_path: Path) -> None:
    node = make_node(tmp_path, STATIC)
    format_node(node)
    (node / "d2/meta.properties").unlink()

    done = doctor("-c", PROPERTIES, "--format", "json", cwd=node)

    assert json.loads(done.text)["findings"][0]["code"] == "not-formatted"


def test_directory_of_the_configuration_is_examined_once_by_any_name(tmp_path: Path) -> None:
    node = make_node(tmp_path, STATIC)
    format_node(node)
    os.symlink("d2", node / "link")
    alone = json.loads(doctor("-c", PROPERTIES, "--format", "json", cwd=node).text)

    for name in ("d2", "./d2", "link", f"{node}/d2"):
        done = doctor(name, "-c", PROPERTIES, "--format", "json", cwd=node)
        assert json.loads(done.text) == alone


@pytest.mark.parametrize("args", [(), ("-c", PROPERTIES)])
def test_directory_without_an_identity_has_no_strays(args: tuple[str, ...], tmp_path: Path) -> None:
    node = make_node(tmp_path, STATIC)
    format_node(node)
    copy = shutil.copytree(REAL / "stopped", node / "copy")
    (copy / "meta.properties").unlink()

    answer = json.loads(doctor("copy", *args, "--format", "json", cwd=node).text)

    of_copy = {
        finding["code"]: finding["severity"]
        for finding in answer["findings"]
        if finding["directory"] == "copy"
    }
    assert of_copy == {"not-formatted": "stops"}
    assert "failed" not in {run["status"] for run in answer["checks"]}


def test_voter_alone_does_not_tell_whether_a_majority_is_left(tmp_path: Path) -> None:
    voters = {"controller.quorum.voters": "1@localhost:29093,2@localhost:29094,3@localhost:29095"}
    make_node(tmp_path, voters)
    format_node(tmp_path)

    done = doctor("-c", PROPERTIES, cwd=tmp_path)

    first, *_, last = done.text.splitlines()
    assert done.code == 0
    assert first.startswith("nothing is wrong with node 1 (voters 2 and 3 not given): ")
    unknown = "without -c for voters 2 and 3, it cannot be said whether a majority is left"
    assert f"cluster (one node is named; {unknown})" in last


def test_skipped_checks_are_one_line() -> None:
    lines = doctor(str(REAL / "stopped")).text.splitlines()

    assert [line for line in lines if "skipped" in line] == [lines[-1]]
    assert "cluster, copies (one node is named)" in lines[-1]
    assert "partitions (--deep reads all partitions)" in lines[-1]


def test_archive_is_named_as_it_was_given(tmp_path: Path) -> None:
    folder = incident_directory(tmp_path / "node", INCIDENT[:9])
    with tarfile.open(tmp_path / "node.tar.gz", "w:gz") as archive:
        archive.add(folder, "node")

    done = doctor("node.tar.gz", cwd=tmp_path)

    assert done.code == 2
    assert "broker 1 has been down" in done.text
    assert "/tmp/kraftops-" not in done.text


def test_codes_and_a_baseline_choose(tmp_path: Path) -> None:
    folder = incident_directory(tmp_path, INCIDENT[:9])
    before = doctor(str(folder), "--format", "json")
    (tmp_path / "before.json").write_text(before.text)

    assert doctor(str(folder), "--only", "incident").code == 0
    assert doctor(str(folder), "--skip", "broker-down").code == 0
    after = doctor(str(folder), "--baseline", str(tmp_path / "before.json"))
    assert (after.code, after.text.splitlines()[0]) == (
        0,
        "nothing else is wrong: 9 checks done; 1 finding not shown",
    )
    assert doctor(str(folder), "--only", "no-such-code").code == 4
    assert doctor(str(folder), "--baseline", str(folder / "meta.properties")).code == 1


def test_kafka_of_this_host_is_looked_for(tmp_path: Path) -> None:
    node = make_node(tmp_path, STATIC)
    format_node(node)
    local = LocalKafka(str(node / PROPERTIES))

    with patch("kraftops_cli.doctor.options.kafka_of_this_host", lambda: [local]):
        done = doctor(cwd=node)

    assert done.errors[0] == f"kraftops: note: looking at {node / PROPERTIES}"


def test_cluster_that_does_not_answer_is_told_from_findings() -> None:
    done = doctor("-b", "localhost:1", "--timeout", "1", "--format", "json")

    answer = json.loads(done.text)
    assert done.code == 5
    assert answer["verdict"].startswith("nothing could be examined: localhost:1: ")


def test_page_has_the_findings(tmp_path: Path) -> None:
    folder = incident_directory(tmp_path / "node", INCIDENT[:9])

    done = doctor(str(folder), "--html", str(tmp_path / "page.html"))
    again = doctor(str(folder), "--html", str(tmp_path / "page.html"))

    page = (tmp_path / "page.html").read_text()
    assert (done.code, again.code) == (2, 3)
    assert "broker 1 has been down since" in page
    assert "broker-down" in page


@pytest.mark.parametrize("deep", [(), ("--deep",)])
def test_damage_is_found(tmp_path: Path, deep: tuple[str, ...]) -> None:
    folder = Path(shutil.copytree(REAL / "stopped", tmp_path / "d"))
    log = folder / "plain-0" / f"{18:020}.log"
    log.write_bytes(log.read_bytes()[:100])  # a clean stop, and a log that is cut

    done = doctor(str(folder), *deep, "--format", "json")

    assert done.code == 2
    assert "missing-end" in {finding["code"] for finding in json.loads(done.text)["findings"]}


def test_directory_alone_has_its_quorum_state_read(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(REAL / "stopped", tmp_path / "d"))
    (folder / "__cluster_metadata-0/quorum-state").write_text("{")

    answer = json.loads(doctor("d", "--format", "json", cwd=tmp_path).text)

    first = answer["findings"][0]
    assert (first["code"], first["severity"]) == ("bad-quorum-state", "stops")
    assert first["commands"] == ["rm d/__cluster_metadata-0/quorum-state"]


def test_missing_configuration_is_told_as_such() -> None:
    done = doctor("-c", "no-such.properties")

    assert (done.code, "No such file" in done.err) == (4, True)


def test_lost_quorum_is_printed_before_the_losses_of_partitions(tmp_path: Path) -> None:
    example_cluster(tmp_path)
    for node in ("node-1", "node-2"):
        shutil.rmtree(tmp_path / "cluster" / node / "data")
        (tmp_path / "cluster" / node / "data").mkdir()

    done = doctor(".", cwd=tmp_path / "cluster")

    verdict, _, first, *_ = done.text.splitlines()
    assert "first: the quorum is lost: " in verdict
    assert first.startswith("stops: the quorum is lost: ")
