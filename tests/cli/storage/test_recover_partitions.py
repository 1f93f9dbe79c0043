"""`kafka-storage recover` counts the records that brokers would cut, and elects the newest."""

import json
import os
import pty
import shlex
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from kraftops import load
from kraftops.engine.metadata_state import PartitionState
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import feature, no_ops, records_batch, write_log
from tests.helpers.nodes.broker_disks import ORDERS, TOPIC_ID, broker_disk
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    broker,
    other_node,
    recover,
    recovery_data,
    refusal,
    survivor,
    write_meta,
)
from tests.helpers.nodes.node_directories import locked, storage
from tests.helpers.tools.console import STORAGE

SELF = ("--voters", "self")


def cluster(folder: Path, *, noted: int | None = 303) -> tuple[Path, list[str]]:
    """Make a survivor whose metadata let 101 lead, and two disks: 102's is newer by an epoch."""
    node = survivor(folder / "node", *ORDERS)
    broker_disk(folder / "b101", 101, {"orders-0": [(0, 100), (2, 220)]})
    broker_disk(folder / "b102", 102, {"orders-0": [(0, 100), (2, 220), (4, 303)]}, noted=noted)
    return node, [f"--from={folder / name}" for name in ("b101", "b102")]


def state(node: Path) -> PartitionState:
    """Return the partition after a recovery."""
    found = load([str(node / "meta")]).partition(TOPIC_ID, 0)
    assert found
    return found


def codes(plan: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in plan["findings"]]


def test_table_of_losses_comes_first(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)

    done = recover(node, *SELF, *disks, "--dry-run")

    first, header, row, _, title, *_ = done.text.splitlines()
    assert first == "83 acknowledged records of orders-0 would be cut from broker 102."
    assert header.startswith("PARTITION")
    assert row.split()[:6] == ["orders-0", "102", "220", "303", "83", "83"]
    assert row.split()[-3:] == ["101", "-", "-"]  # it leads, nobody else has them, no meaning
    assert title == "Copies that differ"
    assert "Elections by --elect-newest:" in done.text


def test_text_says_that_no_partitions_were_given(tmp_path: Path) -> None:
    node, _ = cluster(tmp_path)

    done = recover(node, *SELF, "--unseen-broker=101,102", "--dry-run")

    unknown = "No partitions were given: what brokers would cut is unknown"
    assert done.text.startswith(f"{unknown}.\n")
    total = recovery_data(node, *SELF, "--unseen-broker=101,102")["lossTotal"]
    assert (total["acknowledged"], total["possible"], total["text"]) == (None, None, unknown)


def test_records_above_noted_high_watermarks_are_possibly_acknowledged(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path, noted=300)

    plan = recovery_data(node, *SELF, *disks)

    total = plan["lossTotal"]
    assert (total["acknowledged"], total["possible"]) == (80, 3)
    assert codes(plan)[0] == "records-cut"
    assert [plan["losses"][0][key] for key in ("broker", "leader", "alsoOn")] == [102, 101, []]
    assert state(node).leader == 101


def test_without_high_watermarks_it_is_unknown_what_was_acknowledged(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path, noted=None)

    plan = recovery_data(node, *SELF, *disks, "--dry-run")

    total = plan["lossTotal"]
    assert (total["acknowledged"], total["possible"]) == (None, 83)
    assert plan["losses"][0]["acknowledged"] is None
    assert total["text"].startswith("83 possibly acknowledged records of orders-0 would be cut")


@pytest.mark.parametrize("source", ["its high watermark", "a producer snapshot"])
def test_records_that_brokers_had_and_no_given_copy_has_are_lost(
    tmp_path: Path, source: str
) -> None:
    node, disks = cluster(tmp_path, noted=400 if source == "its high watermark" else None)
    (tmp_path / f"b101/orders-0/{400:020}.snapshot").touch()

    plan = recovery_data(node, *SELF, *disks, "--elect-newest", "--dry-run")

    (gone,) = (finding for finding in plan["findings"] if finding["code"] == "missing-end")
    lost = f"orders-0: offsets 303 to 399, below {source}, would be in none of these copies"
    assert (gone["severity"], gone["text"]) == ("loss", lost)
    assert plan["lossTotal"]["text"] == f"Records are lost: {lost}"


def test_newest_broker_is_elected_above_all_epochs(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    before = state(node)

    plan = recovery_data(node, *SELF, *disks, "--elect-newest")

    after = state(node)
    assert plan["losses"] == []
    assert (after.leader, after.isr, after.eligible_leader_replicas) == (102, [102], [])
    assert (after.leader_epoch, after.partition_epoch) == (5, before.partition_epoch + 3)
    assert (after.replicas, after.directories) == (before.replicas, before.directories)
    (election,) = plan["elections"]
    assert [election[key] for key in ("name", "leader", "leaderBefore", "leaderEpoch")] == [
        *("orders-0", 102, 101),
        5,
    ]


@pytest.mark.parametrize(("elects", "code"), [((), 2), (("--elect-newest",), 0)])
def test_plan_that_cuts_records_needlessly_begins_with_that(
    elects: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    node, disks = cluster(tmp_path)
    voter = ("--from", str(node / "server.properties"), "--voters", "1", "--offline")

    done = storage(node, "recover-plan", *voter, *disks, *elects, f"--output={tmp_path / 'plan'}")

    page = " ".join((tmp_path / "plan/README.txt").read_text().split())
    advice = (
        "1. 83 acknowledged records of orders-0 would be cut from broker 102: make another plan"
    )
    assert (done.code, f"{advice} with --elect-newest, unless they may go." in page) == (
        code,
        bool(code),
    )


def test_copy_whose_end_a_start_cuts_is_not_elected(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    log = tmp_path / "b102" / "orders-0" / f"{0:020}.log"
    damaged = bytearray(log.read_bytes())
    damaged[100] ^= 1
    log.write_bytes(damaged)

    plan = recovery_data(node, *SELF, *disks, "--elect-newest")

    assert state(node).leader == 101
    cut = next(finding for finding in plan["findings"] if finding["code"] == "start-cuts-log")
    assert (cut["severity"], cut["node"], cut["records"]) == ("loss", 102, 303)
    compared = storage(node, "compare", *(option[7:] for option in disks))
    assert compared.code == 2
    assert "a start ends the log at offset 0: offsets 0 to 302 are lost" in compared.text


def test_copy_that_no_start_takes_is_not_elected(tmp_path: Path) -> None:
    """Its cure is to move it away: then its broker leads without a record."""
    node, disks = cluster(tmp_path)
    (tmp_path / "b102" / "orders-0" / "leader-epoch-checkpoint").write_text("words")

    plan = recovery_data(node, *SELF, *disks, "--elect-newest")

    assert state(node).leader == 101
    assert "start-refused" in codes(plan)


def test_garbage_in_the_high_watermarks_is_told(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    (tmp_path / "b102" / "replication-offset-checkpoint").write_text("words")

    plan = recovery_data(node, *SELF, *disks)

    assert "bad-checkpoint" in codes(plan)
    assert plan["lossTotal"]["acknowledged"] is None


def test_broker_whose_disk_lacks_a_replica_is_in_the_order_of_start(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    orders = tmp_path / "b101" / "orders-0"
    orders.rename(tmp_path / "lost")
    # A replica belongs to the directory that the metadata have for it.
    (tmp_path / "b101" / "meta.properties").write_text(
        (tmp_path / "b101" / "meta.properties")
        .read_text()
        .replace(to_text(bytes([101]) * 16), to_text(bytes(16)))
    )

    plan = recovery_data(node, *SELF, *disks, "--dry-run")

    texts = [step["text"] for step in plan["nextSteps"] if "start broker" in step["text"]]
    assert texts == ["start broker 102", "start broker 101"]


def test_broker_that_only_replicas_name_is_a_note(tmp_path: Path) -> None:
    registration = records_batch(5, broker(101))
    node = survivor(tmp_path / "node", registration, no_ops(6, 1), *ORDERS[1:])
    disk = broker_disk(tmp_path / "b101", 101, {"orders-0": [(0, 220)]}, noted=220)

    plan = recovery_data(node, *SELF, f"--from={disk}")

    (note,) = [finding for finding in plan["findings"] if finding["code"] == "brokers-not-given"]
    assert note["severity"] == "note"
    assert note["text"].endswith("have replicas, and are not registered, were not given: 102")


def test_second_election_changes_nothing(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    recovery_data(node, *SELF, *disks, "--elect-newest")

    again = recovery_data(node, *SELF, *disks, "--elect-newest")

    assert (again["changed"], again["elections"]) == (False, [])


def test_election_after_a_recovery_without_one(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    first = recovery_data(node, *SELF, *disks)

    second = recovery_data(node, *SELF, *disks, "--elect-newest")

    assert second["epoch"] > first["epoch"]
    assert state(node).leader == 102


@pytest.mark.parametrize("level", [14, 17, 23])
def test_record_of_an_election_is_of_the_finalized_version(tmp_path: Path, level: int) -> None:
    node, disks = cluster(tmp_path)
    write_log(
        node / "meta",
        {0: [*BEGINNING, *ORDERS, records_batch(9, feature("metadata.version", level))]},
    )

    recovery_data(node, *SELF, *disks, "--elect-newest")

    last = load([str(node / "meta")]).fold.newest(TOPIC_ID, 0)
    assert last
    record = load([str(node / "meta")]).record(last.address)
    assert record.value is not None
    assert record.value[:3] == bytes([1, 3, (level >= 17) + (level >= 23)])


def test_open_transaction_is_aborted_before_the_records(tmp_path: Path) -> None:
    """The next leader would abort the transaction, and the election with it."""
    node, disks = cluster(tmp_path)
    begin = records_batch(9, ("BeginTransactionRecord", {"name": "t"}))
    write_log(node / "meta", {0: [*BEGINNING, *ORDERS, begin]})

    recovery_data(node, *SELF, *disks, "--elect-newest")

    assert state(node).leader == 102


def test_producer_ids_of_disks_are_not_handed_out_again(tmp_path: Path) -> None:
    node = survivor(tmp_path / "node", *ORDERS)
    for node_id in (101, 102):
        broker_disk(tmp_path / f"b{node_id}", node_id, {"orders-0": [(0, 9)]}, producer=2500)
    disks = [f"--from={tmp_path / name}" for name in ("b101", "b102")]

    plan = recovery_data(node, *SELF, *disks)

    assert codes(plan) == ["voters-not-given", "producer-ids-raised"]
    image = load([str(node / "meta")])
    assert image.producer_ids is not None
    assert image.read(image.producer_ids)[1]["nextProducerId"] == plan["nextProducerId"] == 7000
    assert not recovery_data(node, *SELF, *disks)["changed"]


def test_brokers_whose_disks_were_not_read_are_refused(tmp_path: Path) -> None:
    """--yes answers for the controllers only."""
    node, disks = cluster(tmp_path)
    both = "the disks of brokers 101 and 102 have not been read"

    for args, missing, text in (
        ([], "101,102", both),
        (disks[:1], "102", "the disk of broker 102 has not been read"),
        (["--unseen-broker=102"], "101", "the disk of broker 101 has not been read"),
    ):
        answer = refusal(node, *SELF, *args)

        assert (answer["error"], answer["changed"]) == ("unseen-brokers", False)
        assert answer["message"] == f"{text}, and nothing was written"
        assert f"Or accept that: --unseen-broker {missing}. To pack" in answer["hint"]
        assert answer["unseenBrokers"] == [int(broker) for broker in missing.split(",")]
    assert recovery_data(node, *SELF, "--unseen-broker=101,102")["changed"]


def test_unseen_broker_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)

    answer = refusal(node, *SELF, *disks, "--unseen-broker=999", code=4)

    assert answer["message"].startswith("--unseen-broker 999: there is no such broker")
    assert answer["hint"] == "registered brokers: 101,102"


def test_refusal_with_the_logs_of_most_voters_says_what_it_is_for(tmp_path: Path) -> None:
    node, _ = cluster(tmp_path)
    other_node(tmp_path / "c2", 2, *ORDERS)

    answer = refusal(node, *SELF, f"--from={tmp_path / 'c2'}", "--force")

    assert "brokers cut no more than after a restart" in answer["message"]


def test_terminal_asks_for_unseen_brokers(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    command = [STORAGE, "recover", "-c", "server.properties", *SELF, disks[0], "--yes"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=node, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.write(ours, b"102\n")
        assert process.wait(60) == 0
    os.close(theirs)
    os.close(ours)


def test_printed_command_packs_what_is_read(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    (tmp_path / "b102" / ".kafka_cleanshutdown").touch()
    (tmp_path / "b102" / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 303\n")
    hint = refusal(node, *SELF, disks[0])["hint"]
    command = hint[hint.index("find ") :]
    line = command.replace("/var/lib/kafka", shlex.quote(str(tmp_path / "b102")))
    line = line.replace("/etc/kafka/", "")
    subprocess.run(["sh", "-c", line], cwd=node, check=True)

    plan = recovery_data(node, *SELF, disks[0], "--from=node-N.tar.gz", "--elect-newest")

    assert state(node).leader == 102
    assert plan["lossTotal"]["partitions"] == []


def packed(disk: Path, *files: Path) -> str:
    """Pack a disk without its meta.properties, and files; return the option that names it."""
    archive = disk.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as tar:
        for path in (*sorted(disk.rglob("*")), *files):
            if path.is_file() and path.name != "meta.properties":
                tar.add(path, str(path))
    return f"--from={archive}"


def test_server_properties_name_the_broker_of_an_archive(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    properties = tmp_path / "server.properties"
    properties.write_text("process.roles=broker\nnode.id=102\n")

    plan = recovery_data(node, *SELF, disks[0], packed(tmp_path / "b102", properties))

    assert plan["unseenBrokers"] == []
    assert {loss["broker"] for loss in plan["losses"]} == {102}


def test_partitions_of_nobody_are_refused_with_what_to_pack(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    archive = packed(tmp_path / "b102")

    answers = [refusal(node, *SELF, disks[0], archive)]
    answers.append(json.loads(storage(node, "compare", archive[7:], "--format", "json").text))

    for answer in answers:
        assert answer["error"] == "no-identity"
        assert "neither a meta.properties nor a server.properties" in answer["message"]
        assert "/etc/kafka/server.properties" in answer["hint"]


def test_both_log_directories_of_a_broker_are_one_disk(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)
    other = broker_disk(tmp_path / "b102-2", 102, {"orders-1": [(0, 7)]})

    plan = recovery_data(node, *SELF, *disks, f"--from={other}", "--dry-run")

    assert plan["unseenBrokers"] == []
    assert {loss["name"] for loss in plan["losses"]} == {"orders-0"}


def test_newest_broker_starts_first(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)

    plan = recovery_data(node, *SELF, *disks, "--dry-run")

    texts = [step["text"] for step in plan["nextSteps"] if " broker 10" in step["text"]]
    assert texts[-3:] == [
        "start broker 102",
        "wait for broker 102: it alone has the newest copies of 1 partition",
        "start broker 101",
    ]


def test_end_that_an_archive_does_not_tell_may_be_a_loss(tmp_path: Path) -> None:
    """Of a killed broker without its logs only the epochs are known."""
    node, disks = cluster(tmp_path, noted=None)
    (tmp_path / "b102" / "orders-0" / f"{0:020}.log").unlink()

    plan = recovery_data(node, *SELF, *disks)

    total = plan["lossTotal"]
    assert total["text"] == "An unknown number of records of orders-0 may be cut from broker 102"
    assert (total["possible"], total["isAtLeast"]) == (0, True)
    assert [plan["losses"][0][key] for key in ("endOffset", "isAtLeast")] == [220, True]


def test_disk_of_a_running_broker_is_refused(tmp_path: Path) -> None:
    node, disks = cluster(tmp_path)

    with locked(tmp_path / "b102"):
        assert refusal(node, *SELF, *disks)["error"] == "running"


def test_internal_topics_are_named_for_what_they_mean(tmp_path: Path) -> None:
    name = "__consumer_offsets"
    topic = records_batch(7, ("TopicRecord", {"name": name, "topicId": TOPIC_ID}))
    node = survivor(tmp_path / "node", ORDERS[0], topic, ORDERS[2])
    broker_disk(tmp_path / "b101", 101, {f"{name}-0": [(0, 100)]})
    broker_disk(tmp_path / "b102", 102, {f"{name}-0": [(0, 100), (4, 303)]})
    disks = f"--log-dirs={tmp_path / 'b101'},{tmp_path / 'b102'}"

    plan = recovery_data(node, *SELF, disks)

    assert "consumer groups go back" in plan["losses"][0]["meaning"]
    assert "consumer groups go back" in plan["findings"][0]["consequence"]


def two_directories(folder: Path) -> Path:
    """Make a survivor, and 101 with two registered directories: orders-0 is in the second one."""
    name, data = broker(101)
    ids = [bytes([101]) * 16, bytes([201]) * 16]
    registered = records_batch(5, (name, {**data, "logDirs": ids}), broker(102), version=3)
    node = survivor(folder / "node", registered, *ORDERS[1:])
    broker_disk(folder / "n101/data", 101, {"orders-1": [(0, 10)]}, noted=10)
    second = broker_disk(
        folder / "n101/data2", 101, {"orders-0": [(0, 100), (2, 200), (2, 220)]}, noted=220
    )
    write_meta(second, 101, directory_id=to_text(ids[1]))
    broker_disk(folder / "b102", 102, {"orders-0": [(0, 100), (2, 200)]}, noted=200)
    return node


def test_log_directory_that_was_not_given_is_told_and_nothing_is_lost_for_lack_of_it(
    tmp_path: Path,
) -> None:
    node = two_directories(tmp_path)
    disks = f"--from={tmp_path / 'n101/data'}", f"--from={tmp_path / 'b102'}"

    done = recover(node, *SELF, *disks, "--dry-run", "--format", "json")

    plan = json.loads(done.text)
    (risk,) = [finding for finding in plan["findings"] if finding["code"] == "brokers-not-given"]
    assert risk["text"] == "1 of the log directories of broker 101 has not been read"
    assert risk["evidence"][0]["fact"] == f"directory.id {to_text(bytes([201]) * 16)}"
    assert {name for row in plan["brokers"] for name in row["partitionsLostIfGone"]} == {"orders-1"}


@pytest.mark.parametrize("given", ["n101/data", "meta-101"])
def test_log_directory_that_was_not_given_is_refused_by_its_id(tmp_path: Path, given: str) -> None:
    """It may have the only copy of records, as here of those from offset 200 on."""
    node = two_directories(tmp_path)
    other_node(tmp_path / "meta-101", 101)  # its metadata log alone
    disks = f"--from={tmp_path / given}", f"--from={tmp_path / 'b102'}"

    answer = refusal(node, *SELF, *disks)

    assert answer["error"] == "unseen-brokers"
    assert "of the log directories of broker 101 ha" in answer["message"]
    assert f"directory.id {to_text(bytes([201]) * 16)}" in answer["message"]
    assert "--unseen-broker 101" in answer["hint"]
    assert answer["unseenBrokers"] == [101]
    assert storage(node, "recover", "-c", "server.properties", *SELF, *disks, "--dry-run").code == 3
    assert recovery_data(node, *SELF, *disks, "--unseen-broker=101")["changed"]


def test_directory_of_a_node_stands_for_its_log_directories(tmp_path: Path) -> None:
    node = two_directories(tmp_path)

    plan = recovery_data(node, *SELF, f"--from={tmp_path / 'n101'}", f"--from={tmp_path / 'b102'}")

    assert "brokers-not-given" not in codes(plan)
    lost = {row["broker"]: row["partitionsLostIfGone"] for row in plan["brokers"]}
    assert lost == {101: ["orders-0", "orders-1"], 102: []}


@pytest.mark.parametrize(("elects", "code"), [((), 2), (("--elect-newest",), 0)])
def test_dry_run_that_would_cut_records_needlessly_ends_with_2(
    elects: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    node, disks = cluster(tmp_path)

    assert recover(node, *SELF, *disks, *elects, "--dry-run").code == code
