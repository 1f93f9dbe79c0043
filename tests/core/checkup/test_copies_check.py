"""Copies of one partition that several brokers have damaged: the best is named, with one cure."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.diagnosis import Selection, diagnosis_of
from kraftops.checkup.examination import Examination
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.findings.finding import Finding
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.disk_comparison import compare_disks
from tests.helpers.nodes.example_cluster import example_cluster, exchange


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Brokers 101 and 103 are in sync for orders-1 up to 724, broker 102 has it up to 602."""
    return example_cluster(tmp_path)


def damage(cluster: Path, broker: int, share: float) -> None:
    log = cluster / f"node-{broker}/data/orders-1/{0:020}.log"
    content = bytearray(log.read_bytes())
    content[int(len(content) * share)] ^= 1
    log.write_bytes(content)


def losses(cluster: Path, *brokers: int, is_deep: bool = False) -> list[Finding]:
    findings = severe(cluster, *brokers, is_deep=is_deep)
    return [finding for finding in findings if finding.severity == "loss"]


def sources(cluster: Path, *brokers: int) -> list[LogSource]:
    folders = [str(cluster / f"node-{broker}/data") for broker in brokers]
    return [LogSource(folder, folder) for folder in folders]


def severe(cluster: Path, *brokers: int, is_deep: bool = False) -> list[Finding]:
    examination = Examination(sources=sources(cluster, *brokers), is_deep=is_deep)
    diagnosis = diagnosis_of(examination, run_checks(examination, CHECKS), Selection())
    return [finding for finding in diagnosis.findings if finding.is_severe]


def test_copies_that_end_differently_cannot_be_judged_without_a_metadata_log(cluster: Path) -> None:
    for broker in (101, 102):
        shutil.rmtree(cluster / f"node-{broker}/data/__cluster_metadata-0")

    (finding,) = severe(cluster, 101, 102)

    assert (finding.code, finding.severity) == ("records-cut", "risk")
    assert "the copies of orders-0, orders-1, orders-2 end at different offsets" in finding.text
    assert finding.cure == "give __cluster_metadata-0 of a node of this cluster, too"
    folders = " ".join(str(cluster / f"node-{broker}/data") for broker in (101, 102))
    assert finding.commands == (f"kafka-storage compare {folders}",)


def test_two_damaged_copies_are_one_finding_with_the_longer_one_to_keep(
    cluster: Path,
) -> None:
    damage(cluster, 101, 0.5)
    damage(cluster, 103, 0.3)

    (finding,) = losses(cluster, 101, 103)

    assert finding.code == "damaged-copies"
    assert "2 of the 2 copies" in finding.text
    assert "the best is that of broker 101: it ends at offset 362, epoch 0" in finding.text
    assert "copy orders-1 of broker 101 over that of broker 103" in finding.cure
    assert {fact.source for fact in finding.evidence} >= {"start-cuts-log", "records-cut"}


def test_copy_with_relative_links_is_not_moved_away_by_a_command(cluster: Path) -> None:
    epochs = cluster / "node-103/data/orders-1/leader-epoch-checkpoint"
    epochs.rename(cluster / "epochs")
    epochs.symlink_to("../../../epochs")

    table = compare_disks(sources(cluster, 101, 102, 103))

    (cure,) = table.replacements
    assert cure.commands == ()
    assert cure.text.endswith(
        "on broker 103 first make its relative links absolute, which a move breaks: "
        "leader-epoch-checkpoint"
    )


def test_the_sound_copy_of_a_broker_that_may_not_lead_replaces_those_of_others(
    cluster: Path,
) -> None:
    damage(cluster, 101, 0.5)
    shutil.rmtree(cluster / "node-103/data/orders-1")

    (finding,) = losses(cluster, 101, 102, 103)

    assert "the best is that of broker 102: it ends at offset 602" in finding.text
    assert "copy orders-1 of broker 102 over that of brokers 101 and 103" in finding.cure


def test_one_damaged_copy_is_told_with_the_one_to_copy_over_it(cluster: Path) -> None:
    """To start 101 first does not keep its records: it was killed, and may not lead (ELR)."""
    damage(cluster, 103, 0.3)

    (finding,) = losses(cluster, 101, 102, 103)

    assert finding.code == "start-cuts-log"
    assert "records-cut" in {fact.source for fact in finding.evidence}
    assert finding.cure.endswith("copy orders-1 of broker 101 over that of broker 103")


@pytest.mark.parametrize("brokers", [(101,), (101, 102)])
def test_records_above_a_high_watermark_that_a_start_cuts_are_told_as_compare_tells_them(
    cluster: Path, brokers: tuple[int, ...]
) -> None:
    """A broker that was killed notes its high watermark up to 5 s late."""
    damage(cluster, 101, 0.5)
    noted = cluster / "node-101/data/replication-offset-checkpoint"
    noted.write_text(noted.read_text().replace("orders 1 724", "orders 1 100"))

    told = [finding.text for finding in losses(cluster, *brokers)]

    cut = next(
        finding.text
        for finding in compare_disks(sources(cluster, *brokers)).findings
        if finding.code == "start-cuts-log"
    )
    assert cut == "a start ends the log at offset 362: offsets 362 to 723 are lost"
    assert cut in told


@pytest.mark.parametrize("is_whole", [True, False])
def test_copy_without_topic_id_is_an_empty_one_until_it_has_it(
    cluster: Path, is_whole: bool
) -> None:
    """The broker sets it aside, and makes an empty one that may lead."""
    folder = cluster / "node-103/data/orders-0"
    for path in folder.iterdir():
        if path.name == "partition.metadata" or not is_whole:
            path.unlink()

    table = compare_disks(sources(cluster, 101, 103))
    told = [
        finding
        for finding in losses(cluster, 101, 103)
        if finding.place.partition_name == "orders-0"
    ]

    (stray,) = (finding for finding in table.findings if finding.code == "no-topic-id")
    assert any((loss.copy.name, loss.offsets.start) == ("orders-0", 0) for loss in table.losses)
    assert bool(stray.commands) == is_whole
    assert [finding.code for finding in told] == [stray.code if is_whole else "missing-partition"]
    assert is_whole or not any("printf" in line for finding in told for line in finding.commands)
    for command in stray.commands:
        subprocess.run(command, shell=True, check=True)
        table = compare_disks(sources(cluster, 101, 103))
        assert not any(loss.copy.name == "orders-0" for loss in table.losses)


@pytest.mark.parametrize("is_newest", [False, True])
def test_refused_copy_is_mended_and_never_the_source_of_a_cure(
    is_newest: bool, cluster: Path
) -> None:
    index = cluster / f"node-101/data/orders-0/{0:020}.index"
    with index.open("r+b") as file:
        file.truncate(1 << 31)
    if is_newest:
        log = cluster / f"node-103/data/orders-0/{0:020}.log"
        log.write_bytes(log.read_bytes()[:20_000])

    finding = next(finding for finding in severe(cluster, 101, 103) if finding.place.node == 101)

    (command,) = finding.commands
    assert finding.code == "start-refused"
    aside = f"{cluster}/node-101/data.aside/orders-0.XXXXXX"
    assert command.endswith(f'mv {index} "$(mktemp -d {aside})"')
    assert ("records-cut" in {fact.source for fact in finding.evidence}) == is_newest
    cure = "mend the copy of orders-0 on broker 101" if is_newest else "move the index away"
    assert finding.cure.startswith(cure)


def test_one_broker_with_exchanged_directories_tells_that_nothing_need_be_lost(
    cluster: Path,
) -> None:
    exchange(*(cluster / f"node-101/data/orders-{number}" for number in (0, 1)))

    (finding,) = losses(cluster, 101)

    assert (finding.code, finding.is_possible) == ("missing-end", True)
    assert "as orders-0 should: their directories may be exchanged" in finding.text
    assert finding.cure.startswith("copy both directories, and move neither before")


def test_exchanged_meta_properties_are_told_where_one_broker_alone_has_something(
    cluster: Path,
) -> None:
    """Broker 103 has mail-0, and 101 nothing that 103 lacks; moved by hand, no checkpoint has it."""
    metas = [cluster / f"node-{broker}/data/meta.properties" for broker in (101, 103)]
    exchange(*metas)
    findings = severe(cluster, 101, 103)

    assert {finding.code for finding in findings} == {"other-node-id"}
    assert "its content that of node 101" in findings[0].text
    exchange(*metas)
    (cluster / "node-103/data/mail-0").rename(cluster / "node-101/data/mail-0")
    findings = severe(cluster, 101, 103)
    assert "other-node-id" not in {finding.code for finding in findings}
    (missing,) = (finding for finding in findings if finding.code == "missing-partition")
    assert missing.cure == "while both brokers are stopped, move it back from broker 101"
    subprocess.run(["sh", "-c", *missing.commands], check=True)
    assert not {"missing-partition", "other-broker"} & {
        finding.code for finding in severe(cluster, 101, 103)
    }


def test_check_of_a_parent_checks_the_log_directories_in_it(cluster: Path) -> None:
    """A node's directory has a name like that of a partition."""
    checks, _ = check_directories(CheckRequest([str(cluster)]))

    assert len(checks) == 43
    assert not [check.path for check in checks if check.path.endswith("/node-101")]


def test_of_two_copies_with_other_records_none_is_called_the_newest(cluster: Path) -> None:
    exchange(*(cluster / f"node-103/data/orders-{number}" for number in (0, 1)))

    table = compare_disks(sources(cluster, 101, 103))

    disputed = [copy for copy in table.copies if copy.copy.name in ("orders-0", "orders-1")]
    assert not any(copy.is_newest for copy in disputed)
    assert {copy.content for copy in disputed} == {"differs at 0", "disputed"}
    assert all("orders" not in str(broker.gone.partitions) for broker in table.brokers)
    facts = [fact.fact for finding in table.findings for fact in finding.evidence]
    assert "broker 101: it ends at offset 724, epoch 0, noted high watermark 724" in facts


@pytest.mark.parametrize(
    "name", ["orders-1.bak", "orders-1 - Copy", "Orders-1", f"orders-1.{7:032x}-delete"]
)
def test_missing_partition_that_lies_beside_under_another_name_is_put_back(
    name: str, cluster: Path
) -> None:
    sound = severe(cluster, 101, 103)
    directory = cluster / "node-101/data/orders-1"
    directory.rename(directory.with_name(name))

    findings = severe(cluster, 101, 103)

    finding = next(finding for finding in findings if finding.code == "missing-partition")
    assert f"its records are in {name}, " in finding.text
    commands = {finding.place.path: finding.commands for finding in findings}
    assert commands.get(str(directory.with_name(name)), ()) == ()
    (command,) = finding.commands
    subprocess.run(["sh", "-c", command], check=True)
    assert severe(cluster, 101, 103) == sound


@pytest.mark.parametrize("name", ["orders-9", "moved"])
def test_no_cure_changes_the_number_in_the_name_of_a_partition(name: str, cluster: Path) -> None:
    """The topic id is that of all partitions of the topic: it may be any of them."""
    directory = cluster / "node-101/data/orders-1"
    directory.rename(directory.with_name(name))

    findings = severe(cluster, 101, 103)

    finding = next(finding for finding in findings if finding.code == "missing-partition")
    assert f"{name} has the id of its topic, and may be it" in finding.text
    commands = [command for finding in findings for command in finding.commands]
    assert not [command for command in commands if f"mv {directory.with_name(name)}" in command]


def test_directories_without_numbers_are_put_back_as_no_partition_where_several_are_missing(
    cluster: Path,
) -> None:
    for number in (0, 1):
        directory = cluster / f"node-101/data/orders-{number}"
        directory.rename(directory.with_name(f"moved{number}"))

    missing = [finding for finding in losses(cluster, 101) if finding.code == "missing-partition"]

    assert missing
    assert not [finding for finding in missing if "its records are in" in finding.text]


def test_partition_whose_copies_are_all_missing_is_to_be_restored(cluster: Path) -> None:
    for broker in (101, 103):
        shutil.rmtree(cluster / f"node-{broker}/data/orders-1")

    (finding,) = losses(cluster, 101, 103)

    assert finding.text == "2 of the 2 copies of orders-1 here are damaged"
    assert finding.cure == "restore one of them from a backup before any of these brokers starts"


@pytest.mark.parametrize("is_deep", [False, True])
def test_exchanged_directories_of_partitions_are_told_by_their_batches(
    is_deep: bool, cluster: Path
) -> None:
    """Both have 40 records of one epoch: epochs and ends are equal."""
    disk = cluster / "node-101/data"
    for name, other in (("payments-0", "payments-1"), ("payments-1", "payments-0")):
        log = f"{0:020}.log"
        shutil.copy(cluster / "node-103/data" / other / log, disk / name / log)

    findings = losses(cluster, 101, 102, 103, is_deep=is_deep)

    (finding,) = [one for one in findings if one.place.topic == "payments"]
    assert finding.code == "content-differs"
    assert finding.text == (
        "payments-0: the records of broker 101 are not those of brokers 102 and 103 from offset 0 "
        "on, and may be those of payments-1"
    )
    assert finding.count == 2
    assert "copy neither over the other" in finding.cure


def test_exchanged_directories_are_first_and_no_copy_of_theirs_is_the_newest(cluster: Path) -> None:
    exchange(*(cluster / f"node-101/data/orders-{number}" for number in (0, 1)))
    shutil.rmtree(cluster / "node-103/data/orders-1")
    shutil.copytree(cluster / "node-101/data/orders-0", cluster / "node-103/data/orders-1")

    table = compare_disks(sources(cluster, 101, 102, 103))
    (finding,) = severe(cluster, 101, 102, 103)

    assert (finding.code, finding.count) == ("content-differs", 2)
    assert "missing-end" in {fact.source for fact in finding.evidence}
    assert {copy.newest.broker for copy in table.copies if copy.difference} == {103}
    assert {copy.equal_up_to for copy in table.copies if copy.difference} == {0}
    assert not [broker for broker in table.brokers if broker.broker == 101 and broker.gone.possible]
    assert (table.is_safe, table.losses) == (False, [])
    assert str(table.loss_total).startswith("What a start would cut is unknown: orders-0: the ")


def test_exchanged_directories_of_topics_are_told_by_their_topic_ids(cluster: Path) -> None:
    exchange(*(cluster / f"node-101/data/{name}-0" for name in ("orders", "payments")))

    table = compare_disks(sources(cluster, 101, 102))
    first, *_ = severe(cluster, 101, 102)

    assert (first.code, first.count) == ("other-name", 2)
    assert "exchange their names" in first.cure
    assert "missing-end" not in {finding.code for finding in severe(cluster, 101, 102)}
    assert [finding.code for finding in table.findings][:2] == ["other-name", "other-name"]
    copies = {(copy.copy.name, copy.copy.broker) for copy in table.copies}
    assert not copies & {("orders-0", 101), ("payments-0", 101)}


@pytest.mark.parametrize(("depth", "codes"), [("light", []), ("deep", ["content-differs"])])
def test_a_batch_in_the_middle_is_compared_by_a_deep_check(
    depth: str, codes: list[str], cluster: Path
) -> None:
    shutil.rmtree(cluster / "node-103/data/orders-1")
    log = cluster / f"node-102/data/orders-0/{0:020}.log"
    content = bytearray(log.read_bytes())
    size = 12 + int.from_bytes(content[8:12])
    content[size + 17] ^= 1  # the checksum of the second batch
    log.write_bytes(content)
    for name in ("cleaner-offset-checkpoint", ".kafka_cleanshutdown"):
        (cluster / "node-102/data" / name).write_text("0\n0\n" if name[0] == "c" else "")

    found = losses(cluster, 102, 103, is_deep=depth == "deep")

    assert [one.code for one in found if one.code == "content-differs"] == codes
    # What a cleaner may have changed is not compared.
    checkpoint = cluster / "node-102/data/cleaner-offset-checkpoint"
    checkpoint.write_text("0\n1\norders 0 400\n")
    found = losses(cluster, 102, 103, is_deep=True)
    assert [one.code for one in found if one.code == "content-differs"] == []
