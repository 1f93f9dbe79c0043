"""`kraftops changes` and `kraftops incidents`."""

import json
import os
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kraftops.display.times import iso_time
from kraftops.storage.config.host import LocalKafka
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.console import KRAFTOPS, Done, run_here
from tests.helpers.tools.corpus import DATA
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.quorums import quorum

LOG = str(DATA / "incidents/three/00000000000000000000.log")


def run(*args: str) -> Done:
    return run_here(*args, program=KRAFTOPS)


def data(command: str, *args: str) -> dict[str, Any]:
    done = run(command, *args, "--format", "json")
    assert done.code == 0, done.err
    assert problems(command, done.text) == []
    answer: dict[str, Any] = json.loads(done.text)
    return answer


def test_a_span_of_times_of_day_is_of_the_last_day_of_the_log() -> None:
    done = run("changes", LOG, "--since", "23:51:01", "--until", "23:51:20", "--kind", "topic")

    assert done.code == 0
    assert (
        "kraftops: note: 23:51:01 is 2026-11-23T23:51:01.000Z, by the end of the log\n" in done.err
    )
    assert [line.split()[1] for line in done.text.splitlines()[1:]] == ["252", "253"]


def test_topic_that_did_not_exist_in_the_span_is_told_with_its_times() -> None:
    whole = data("changes", LOG, "--kind", "topic")["changes"]
    created = next(change for change in whole if change["old"] is None)

    done = run("changes", LOG, "--topic", created["topic"], "--until", str(created["time"]))

    assert done.code == 4
    assert f"there was no topic '{created['topic']}' in this span" in done.err
    assert f"was created at {iso_time(created['time'])}, offset {created['offset']}" in done.err
    assert run("changes", LOG, "--topic", "nosuch").err.startswith("kraftops: there is no topic")


def test_changes_are_chosen_by_broker_kind_and_condition() -> None:
    changes = data("changes", LOG, "--broker", "103", "--kind", "leader", "--where", "offset < 100")

    assert [each["offset"] for each in changes["changes"]] == [48, 66, 69, 93, 94, 95, 97, 98, 99]


def test_changes_by_cause() -> None:
    groups = data("changes", LOG, "--group-by", "cause", "--topic", "single")["groups"]

    assert groups[1]["cause"] == "broker 102 is fenced"
    assert groups[1]["kinds"] == [{"kind": "leader", "count": 1}, {"kind": "isr", "count": 1}]


def test_incidents_are_told_in_words() -> None:
    done = run("incidents", LOG, "--since", "23:52:10")

    assert done.code == 0
    assert "  still  fenced  " in done.text
    assert "broker 102 was fenced, and is not back" in done.text


def test_incidents_of_an_archive_are_those_of_its_log(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(LOG, "node/__cluster_metadata-0/00000000000000000000.log")

    assert data("incidents", str(archive)) == data("incidents", LOG)


@pytest.mark.parametrize("command", ["incidents", "changes", "report", "shell"])
def test_members_of_an_archive_that_are_skipped_show_in_the_exit_code(
    command: str, tmp_path: Path
) -> None:
    """As in a dump: 1 for a member whose name is refused, 2 where damage hides the rest."""
    refused, torn = tmp_path / "refused.tar", tmp_path / "torn.tar"
    with tarfile.open(refused, "w") as tar:
        tar.add(LOG, "node/__cluster_metadata-0/00000000000000000000.log")
        tar.addfile(tarfile.TarInfo("../orders-0/00000000000000000000.log"))
    with tarfile.open(torn, "w") as tar:
        tar.add(LOG, "node/__cluster_metadata-0/00000000000000000000.log")
        cut = tar.offset + 1000  # within the next member
        tar.add(LOG, "node/orders-0/00000000000000000000.log")
    os.truncate(torn, cut)
    args = {
        "report": lambda path: ("report", path, "--format", "json"),
        "shell": lambda path: ("metadata-shell", "-s", path, "brokers"),
    }.get(command, lambda path: (command, path))

    assert run(*args(str(refused))).code == run("dump-log", "summary", str(refused)).code == 1
    assert run(*args(str(torn))).code == run("dump-log", "summary", str(torn)).code == 2


def nodes(folder: Path) -> str:
    """Return a directory of two nodes, of which the second has the newer log."""
    for node, scenario in (("n1/data", "three"), ("n2", "fresh-4.3")):
        log = DATA / f"incidents/{scenario}/00000000000000000000.log"
        (folder / node / "__cluster_metadata-0").mkdir(parents=True)
        shutil.copy(log, folder / node / "__cluster_metadata-0")
        (folder / node / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    return str(folder)


@pytest.mark.parametrize(
    "words",
    [
        ("incidents", "--format", "json"),
        ("changes", "--format", "json"),
        ("report", "--format", "json"),
        ("metadata-shell", "incidents", "--format", "json"),
    ],
    ids=lambda words: str(words[0]),
)
def test_of_several_nodes_the_log_that_can_be_read_furthest_is(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    folder = nodes(tmp_path)
    named = ("-s", folder) if words[0] == "metadata-shell" else (folder,)

    done = run(words[0], *named, *words[1:])

    note = f"note: of 2 metadata logs, that of {folder}/n2 can be read furthest: to offset 286"
    assert note in done.err
    assert done.code == 0
    assert "alerts" in done.text
    assert "orders" not in done.text


def test_a_summary_of_several_nodes_has_the_logs_of_each(tmp_path: Path) -> None:
    done = run("dump-log", "summary", nodes(tmp_path), "--format", "json")

    assert len(json.loads(done.text)["logs"]) == 2


def test_without_a_source_the_log_of_this_host_is_read(tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    directory = f"{nodes(tmp_path)}/n1/data"
    config.write_text(
        f"node.id=1\nprocess.roles=broker\nlog.dirs={directory}\n"
        "controller.listener.names=C\ncontroller.quorum.voters=9@localhost:9093\n"
    )
    local = LocalKafka(str(config))
    with patch("kraftops.storage.config.host.kafka_of_this_host", lambda: [local]):
        done = run("changes", "--topic", "orders")

    assert "orders" in done.text
    assert f"note: looking at {config}" in done.err


def test_incidents_in_json() -> None:
    incidents = data("incidents", LOG)["incidents"]

    assert [each["cause"] for each in incidents][:3] == ["restarted", "crashed", "cut-off"]
    assert incidents[1]["uncleanElections"] == ["single-0"]


def test_running_controllers_are_asked() -> None:
    log = MetadataLog()
    log.add(*topic(1))
    with quorum(log) as controllers:
        address = str(controllers.address(1))
        changes = data("changes", "--controllers", address, "--kind", "topic")["changes"]

    assert [each["what"] for each in changes] == ["topic t1"]


def test_the_log_of_the_authorizer_tells_who_likely_did_it(tmp_path: Path) -> None:
    folder = DATA / "incidents/principals"
    log, names = str(folder / "00000000000000000000.log"), str(tmp_path / "kafka-authorizer.log")
    lines = (folder / "kafka-authorizer.log").read_text()
    Path(names).write_text(re.sub(r"(,\d{3})]", r"\1Z]", lines))

    done = run("changes", log, "--authorizer-log", names, "--topic", "orders", "--kind", "topic")

    assert done.code == 0
    assert done.text.splitlines()[1].endswith("client, likely User:alice")
    assert "note: principals are likely" in done.err
    wanted = "'User:bob' in likelyPrincipals and kind = 'config'"
    bob = data("changes", log, "--authorizer-log", names, "--where", wanted)["changes"]
    assert [change["what"] for change in bob] == [
        "TOPIC:team-a retention.ms", "TOPIC:team-a cleanup.policy",
    ]  # fmt: skip


def test_a_log_of_the_authorizer_without_requests_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()

    done = run("changes", LOG, "--authorizer-log", str(tmp_path / "empty.log"))

    assert "kafka.authorizer.logger is at DEBUG" in done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("incidents", LOG, "-C", "localhost:1"), "name files of a metadata log, or controllers"),
        (("changes", LOG, "--since", "soon"), "'soon' is not a valid time"),
        (("changes", LOG, "--kind", "colour"), "colour"),
        (("changes", LOG, "--where", "colour = 3"), "colour"),
        (("dump-log", LOG, "--top", "3"), "--top needs --summary: kraftops dump-log summary"),
    ],
)
def test_bad_arguments_are_refused(args: tuple[str, ...], message: str) -> None:
    done = run(*args)

    assert done.code == 1
    assert message in done.err


def test_a_log_that_is_not_there_is_named() -> None:
    assert run("incidents", "nowhere").code == 4
    assert run("changes", LOG, "--authorizer-log", "nowhere").code == 4


@pytest.mark.parametrize("is_named_twice", [True, False], ids=["two directories", "a parent"])
def test_a_newest_log_that_is_damaged_early_is_passed_over(
    is_named_twice: bool, tmp_path: Path
) -> None:
    """Its last segment has the newest times, and its state is the oldest."""
    folder = Path(nodes(tmp_path))
    newest = folder / "n2/__cluster_metadata-0/00000000000000000000.log"
    bytes_ = bytearray(newest.read_bytes())
    bytes_[900] ^= 1
    newest.write_bytes(bytes_)
    names = [str(folder / "n1/data"), str(folder / "n2")] if is_named_twice else [str(folder)]

    done = run("changes", *names)

    assert f"that of {folder}/n1/data can be read furthest: to offset 369\n" in done.err
    assert (done.code, "orders" in done.text) == (0, True)


@pytest.mark.parametrize(
    "command", ["changes", "incidents", "report --format json", "metadata-shell ls / -s"]
)
def test_logs_of_two_clusters_are_not_taken_for_one(command: str, tmp_path: Path) -> None:
    folder = Path(nodes(tmp_path))
    (folder / "n1/server.log").write_text("[2026-11-23 23:50:00,000] INFO starting\n")
    assert run(*command.split(), str(folder)).code == 0

    for node, cluster in (("n1/data", "MkU3OEVBNTcwNTJENDM2Qk"), ("n2", "g2u8XPY6QASNOS_uKr0tpw")):
        (folder / node / "meta.properties").write_text(
            f"version=1\ncluster.id={cluster}\nnode.id=1\n"
        )
    done = run(*command.split(), str(folder))

    assert done.code == 1
    assert "these metadata logs are of several clusters: " in done.err
    assert f"{folder}/n2" in done.err
    assert "g2u8XPY6QASNOS_uKr0tpw" in done.err


@pytest.mark.parametrize("command", ["changes", "incidents", "report"])
def test_a_log_that_ends_before_the_span_is_told(command: str) -> None:
    done = run(
        command, LOG, "--since", "1h", *(["--format", "json"] if command == "report" else [])
    )

    assert "note: the log ends at 2026-11-23T23:52:" in done.err
    assert "hint: -1h is the last hour of the log" in done.err
    assert "No incident: " not in done.text


def test_changes_about_a_broker_are_those_of_its_configuration_too() -> None:
    meta = str(DATA / "dump-4.3.1/in/meta")
    changes = data("changes", meta, "--kind", "config", "--broker", "1")["changes"]

    assert {change["what"] for change in changes} >= {
        "BROKER:1 max.connections.per.ip",
        "all brokers log.cleaner.threads",
    }
