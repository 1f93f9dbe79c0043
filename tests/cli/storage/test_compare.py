"""`kafka-storage compare` says which copy is newest, where copies part, and what a start cuts."""

import json
import re
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from kraftops.recovery.partitions.losses import LossTotal
from kraftops_cli.storage.compare import compare
from tests.helpers.logs.metadata_logs import no_ops, write_log
from tests.helpers.nodes.broker_disks import ORDERS, broker_disk
from tests.helpers.nodes.example_cluster import example_cluster, exchange
from tests.helpers.nodes.lost_quorums import BEGINNING
from tests.helpers.nodes.node_directories import storage


def two_disks(folder: Path) -> list[Path]:
    """Make the disks of brokers 101 and 102, which led on in epoch 4; 101 has old metadata."""
    first = broker_disk(
        folder / "b101", 101, {"orders-0": [(0, 100), (2, 220), (2, 225)]}, noted=220
    )
    second = broker_disk(
        folder / "b102", 102, {"orders-0": [(0, 100), (2, 220), (4, 303)]}, noted=300
    )
    write_log(first, {0: [*BEGINNING, *ORDERS]})
    return [first, second]


def compared(folder: Path, *paths: Path, code: int) -> dict[str, Any]:
    done = storage(folder, "compare", *map(str, paths), "--format", "json")
    assert done.code == code, done.text + done.err
    answer: dict[str, Any] = json.loads(done.text)
    return answer


def test_two_damaged_copies_that_need_each_other_have_no_order_of_start(tmp_path: Path) -> None:
    """Bytes that are read at a wrong position have any offset: 291 records were 139,853,825."""
    top = example_cluster(tmp_path)
    first, third = top / "node-101/data", top / "node-103/data"
    log = first / f"orders-0/{0:020}.log"
    raw = log.read_bytes()
    middle = len(raw) // 2
    log.write_bytes(raw[:middle] + raw[middle + 37 :])
    disks = [top / "node-1/data", first, top / "node-102/data", third]

    text = storage(tmp_path, "compare", *map(str, disks)).text

    assert "in order of start" not in text
    assert (
        "copy orders-0 of broker 103 over that of broker 101; "
        "copy orders-1 of broker 101 over that of broker 103."
    ) in text
    assert "offsets 291 to 581 are lost" in text
    answer = compared(tmp_path, *disks, code=2)
    assert (answer["hasStartOrder"], len(answer["replacements"])) == (False, 2)
    for name, source, target in (("orders-0", third, first), ("orders-1", first, third)):
        shutil.rmtree(target / name)
        shutil.copytree(source / name, target / name)
    answer = compared(tmp_path, *disks, code=0)
    assert (answer["hasStartOrder"], answer["losses"]) == (True, [])


def test_copies_brokers_and_losses(tmp_path: Path) -> None:
    answer = compared(tmp_path, *two_disks(tmp_path), code=2)

    copies = {copy["broker"]: copy for copy in answer["copies"]}
    assert [copies[101][key] for key in ("epoch", "endOffset", "equalUpTo")] == [2, 225, 220]
    assert [copies[101][key] for key in ("lacking", "own", "newestOn")] == [83, 5, 102]
    assert copies[102]["isNewest"]
    assert [row["broker"] for row in answer["brokers"]] == [102, 101]
    assert [row["lostIfGone"] for row in answer["brokers"]] == [80, 0]
    assert [row["possiblyLostIfGone"] for row in answer["brokers"]] == [3, 0]
    (loss,) = answer["losses"]
    assert [loss[key] for key in ("broker", "firstOffset", "endOffset")] == [102, 220, 303]
    assert (loss["acknowledged"], loss["leader"], loss["isCertain"]) == (80, 101, True)
    assert answer["lossTotal"]["text"] == (
        "80 acknowledged records and 3 possibly acknowledged records of orders-0 would be cut "
        "from broker 102"
    )


def test_text_has_the_total_first(tmp_path: Path) -> None:
    done = storage(tmp_path, "compare", *map(str, two_disks(tmp_path)))

    assert done.code == 2
    assert done.text.startswith("80 acknowledged records and 3 possibly acknowledged records of ")
    assert "Lost if broker 102 is gone for good: records of orders-0" in done.text


def test_exchanged_meta_properties_are_named_instead_of_cures_of_copies(tmp_path: Path) -> None:
    example_cluster(tmp_path)
    disks = [tmp_path / f"cluster/node-{broker}/data" for broker in (101, 102)]
    exchange(*(disk / "meta.properties" for disk in disks))

    done = storage(tmp_path, "compare", *map(str, disks))

    assert (done.code, done.text) == (3, "")
    assert "its meta.properties is that of node 102, its content that of node 101" in done.err
    assert "node.id=101" in done.err


def test_old_copy_of_a_disk_is_not_merged_with_the_other(tmp_path: Path) -> None:
    disks = two_disks(tmp_path)
    alone = compared(tmp_path, *disks, code=2)
    shutil.copytree(disks[1], tmp_path / "old/data")

    answer = compared(tmp_path, *disks, Path("old/data"), code=2)

    (finding,) = answer["findings"]
    assert (finding["code"], finding["severity"]) == ("directory-id-twice", "risk")
    text = f"node 102 is given twice: orders-0 is in {disks[1]} and in old/data, which is left out"
    assert finding["text"] == text
    assert answer["losses"] == alone["losses"]


def test_copies_are_compared_beside_what_cannot_be(tmp_path: Path) -> None:
    """Cures of a lost disk lead here, with the directories of all brokers."""
    disks = two_disks(tmp_path)
    whole = compared(tmp_path, *disks, code=2)
    empty, file, absent = (tmp_path / name for name in ("empty", "file", "absent"))
    empty.mkdir()
    file.touch()

    answer = compared(tmp_path, empty, *disks, file, absent, code=2)

    codes = {finding["text"]: finding["code"] for finding in answer["findings"]}
    assert codes == {
        f"{empty} holds no metadata log: it is left out": "not-formatted",
        f"{absent} does not exist: it is left out": "not-formatted",
        f"cannot read {file}: empty file: it is left out": "unreadable",
    }
    assert answer["losses"] == whole["losses"]
    text = storage(tmp_path, "compare", *map(str, (empty, *disks))).text
    assert "Brokers, in order of start" not in text
    assert compared(tmp_path, empty, code=3)["error"] == "no-log"


def test_partition_in_two_directories_of_a_broker_leaves_the_others_compared(
    tmp_path: Path,
) -> None:
    disks = two_disks(tmp_path)
    again = broker_disk(tmp_path / "d2", 102, {"orders-0": [(0, 100)]}, noted=100)
    for disk, end in ((disks[1], "Q"), (again, "g")):
        meta = disk / "meta.properties"
        meta.write_text(f"{meta.read_text()}directory.id={'A' * 21}{end}\n")

    answer = compared(tmp_path, *disks, again, code=2)

    assert [finding["code"] for finding in answer["findings"]] == ["partition-twice"]
    assert {copy["partition"] for copy in answer["copies"]} == {0}
    assert [loss["endOffset"] for loss in answer["losses"]] == [303]


def test_records_below_the_high_watermark_that_no_copy_has_are_lost(tmp_path: Path) -> None:
    disks = [
        broker_disk(tmp_path / f"b{broker}", broker, {"orders-0": [(0, 90)]}, noted=100)
        for broker in (101, 102)
    ]
    write_log(disks[0], {0: [*BEGINNING, *ORDERS]})

    answer = compared(tmp_path, *disks, code=2)

    assert answer["lossTotal"]["text"] == (
        "Records are lost: orders-0: offsets 90 to 99, below its high watermark, would be in none "
        "of these copies"
    )
    (disks[0] / "orders-0" / f"{103:020}.snapshot").touch()
    answer = compared(tmp_path, *disks, code=2)
    assert "offsets 90 to 102, below a producer snapshot, would" in answer["lossTotal"]["text"]


def test_copy_of_another_topic_id_is_not_a_copy(tmp_path: Path) -> None:
    """Its broker sets it aside, makes an empty one, and may lead: the others are cut to nothing."""
    top = example_cluster(tmp_path)
    disks = [top / "node-1/data", *(top / f"node-{broker}/data" for broker in (101, 102, 103))]
    mistaken = disks[3] / "orders-1"
    (mistaken / "partition.metadata").write_text(f"version: 0\ntopic_id: {'A' * 21}Q\n")

    answer = compared(tmp_path, *disks, code=2)

    assert "unknown-topic" in {finding["code"] for finding in answer["findings"]}
    cut = [loss for loss in answer["losses"] if loss["leader"] == 103]
    assert {(loss["partition"], loss["firstOffset"]) for loss in cut} == {(1, 0)}
    (command,) = answer["replacementCommands"]
    subprocess.run(["bash", "-ec", command], check=True, cwd=tmp_path)
    assert compared(tmp_path, *disks, code=0)["losses"] == []


def in_segments(disk: Path) -> list[Path]:
    """Give each batch of orders-0 a segment of its own; none is deleted or compacted."""
    for name in ("log-start-offset-checkpoint", "cleaner-offset-checkpoint"):
        (disk / name).write_text("0\n0\n")
    (disk / ".kafka_cleanshutdown").touch()  # else a start cuts the damage off
    folder, segments = disk / "orders-0", []
    raw = (folder / f"{0:020}.log").read_bytes()
    while raw:
        size = 12 + int.from_bytes(raw[8:12])
        segments.append(folder / f"{int.from_bytes(raw[:8]):020}.log")
        segments[-1].write_bytes(raw[:size])
        segments[-1].with_suffix(".index").touch()  # without one, a start reads the log
        raw = raw[size:]
    return segments


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (0, "missing-start", "broker 101 lacks offsets 0 to 99, which broker 102 has"),
        (1, "missing-offsets", "broker 101 lacks offsets 100 to 149, which broker 102 has"),
        (2, "bad-batch", "broker 101 has a wrong checksum at offsets 150 to 219, which broker 102"),
    ],
)
def test_records_that_one_copy_lacks_inside_come_back_by_the_command(
    number: int, code: str, text: str, tmp_path: Path
) -> None:
    """Ends, epochs and the heads of batches are equal; 101 would lead, and cut the others' start."""
    copies = {"orders-0": [(0, 100), (2, 150), (2, 220)]}
    disks = [broker_disk(tmp_path / f"b{n}", n, copies, noted=220) for n in (101, 102)]
    write_log(disks[0], {0: [*BEGINNING, *ORDERS]})
    segments, intact = map(in_segments, disks)
    if code == "bad-batch":
        raw = segments[number].read_bytes()
        segments[number].write_bytes(raw[:-4] + bytes(byte ^ 1 for byte in raw[-4:]))
    else:
        segments[number].unlink()

    answer = compared(tmp_path, *disks, code=2)

    (finding,) = answer["findings"]
    assert (finding["code"], finding["severity"], finding["node"]) == (code, "loss", 101)
    assert text in finding["text"]
    total = answer["lossTotal"]["text"]
    assert total.startswith("100 acknowledged records of orders-0 would be cut") == (number == 0)
    (command,) = finding["commands"]
    for _ in range(2):  # others keep what they replace there, too
        subprocess.run(["sh", "-c", command], check=True)
    assert [path.read_bytes() for path in segments] == [path.read_bytes() for path in intact]
    assert len([*tmp_path.glob("b101.aside/*/orders-0/*.log")]) == 6 - (code != "bad-batch")
    assert compared(tmp_path, *disks, code=0)["findings"] == []


def test_start_that_retention_or_deletion_has_moved_is_not_a_loss(tmp_path: Path) -> None:
    disks = [
        broker_disk(tmp_path / f"b{n}", n, {"orders-0": [(0, 100), (2, 220)]}, noted=220)
        for n in (101, 102)
    ]
    write_log(disks[0], {0: [*BEGINNING, *ORDERS]})
    (first, _), _ = map(in_segments, disks)
    first.unlink()
    (disks[0] / "orders-0/leader-epoch-checkpoint").write_text("0\n1\n2 100\n")

    assert compared(tmp_path, *disks, code=0)["findings"] == []


@pytest.mark.parametrize("is_short", [False, True])
def test_log_start_that_no_broker_wrote_hides_records_of_all_copies(
    tmp_path: Path, *, is_short: bool
) -> None:
    """With an epoch before it, it is not of retention, and a leader makes all others begin there.

    A copy that is short is replaced first.
    """
    epochs = [(0, 100), (2, 150), (2, 220)]
    disks = [
        broker_disk(tmp_path / f"b{n}", n, {"orders-0": batches}, noted=150)
        for n, batches in ((101, epochs[: 2 if is_short else 3]), (102, epochs))
    ]
    write_log(disks[0], {0: [*BEGINNING, *ORDERS]})
    starts = disks[0] / "log-start-offset-checkpoint"
    starts.write_text("0\n2\norders 0 60\nothers 0 60\n")

    answer = compared(tmp_path, *disks, code=2)

    (finding,) = answer["findings"]
    assert (finding["code"], finding["node"]) == ("missing-start", 101)
    assert "broker 101 lacks offsets 0 to 59, which broker 102 has" in finding["text"]
    assert {(loss["firstOffset"], loss["broker"]) for loss in answer["losses"]} >= {(0, 102)}
    assert finding["cure"].endswith(
        "take orders-0 out of log-start-offset-checkpoint of broker 101"
    )
    assert ("copy orders-0 of broker 102 over" in finding["cure"]) is is_short
    subprocess.run(["sh", "-c", " && ".join(finding["commands"])], check=True)
    assert starts.read_text() == "0\n1\nothers 0 60\n"
    assert compared(tmp_path, *disks, code=0)["findings"] == []


@pytest.mark.parametrize(("epoch", "loss_count"), [(9, 0), (1, 1)])
def test_epochs_that_batches_contradict_cut_others_only_before_the_next_epoch_of_a_leader(
    epoch: int, loss_count: int, tmp_path: Path
) -> None:
    """The metadata is in epoch 2: the next one removes later epochs from the leader's file."""
    disks = [
        broker_disk(tmp_path / f"b{n}", n, {"orders-0": [(0, 100)]}, noted=100) for n in (101, 102)
    ]
    write_log(disks[0], {0: [*BEGINNING, *ORDERS]})
    (disks[0] / "orders-0/leader-epoch-checkpoint").write_text(f"0\n1\n{epoch} 0\n")

    answer = compared(tmp_path, *disks, code=2 if loss_count else 0)

    assert len(answer["losses"]) == loss_count


def test_end_of_a_segment_before_the_last_that_is_gone_is_told(tmp_path: Path) -> None:
    """Its index still leads to a batch there; a consumer would pass over it without an error."""
    copies = {"orders-0": [(0, 100), (2, 150), (2, 220)]}
    disks = [broker_disk(tmp_path / f"b{n}", n, copies, noted=220) for n in (101, 102)]
    write_log(disks[0], {0: [*BEGINNING, *ORDERS]})
    (first, second, _), _ = map(in_segments, disks)
    size = first.stat().st_size
    first.with_suffix(".index").write_bytes(struct.pack(">ii", 149, size))
    second.unlink()

    answer = compared(tmp_path, *disks, code=2)

    (finding,) = answer["findings"]
    assert (finding["code"], finding["node"]) == ("missing-offsets", 101)
    assert "broker 101 lacks offsets 100 to 149, which broker 102 has" in finding["text"]


def test_records_of_some_partitions_that_are_cut_whoever_leads_are_named() -> None:
    total = LossTotal(3, 0, ("a-0", "b-0"), ("b-0",), (1, 2))

    text = "3 acknowledged records of a-0, b-0 may be cut from brokers 1 and 2; those of b-0 would"
    assert total.clause == text


def test_disks_without_metadata_are_compared_alone(tmp_path: Path) -> None:
    first = broker_disk(tmp_path / "b1", 1, {"orders-0": [(0, 90), (1, 100)]})
    second = broker_disk(tmp_path / "b2", 2, {"orders-0": [(0, 90)]})

    answer = compared(tmp_path, first, second, code=2)

    assert (answer["metadataLog"], answer["losses"]) == (None, [])
    total = answer["lossTotal"]
    assert (total["acknowledged"], total["possible"]) == (None, None)
    assert total["text"].startswith("No metadata log was given: which brokers may lead")
    assert [copy["isNewest"] for copy in answer["copies"]] == [True, False]


def test_small_archives_are_enough_after_a_clean_stop(tmp_path: Path) -> None:
    """The man page has the command that packs one."""
    disks = two_disks(tmp_path)
    (disks[1] / ".kafka_cleanshutdown").touch()
    (disks[1] / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 303\n")
    whole = compared(tmp_path, *disks, code=2)
    page = " ".join(compare.sections["How copies compare"].split())
    command = page[page.index("find /var/lib/kafka") : page.index(" -T - ") + len(" -T -")]
    for disk in disks:
        line = command.replace("/var/lib/kafka", str(disk)).replace("node-N", disk.name)
        line = line.replace(" /etc/kafka/server.properties", "")
        subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
    (disks[0] / "orders-0" / f"{0:020}.log").unlink()

    answer = compared(tmp_path, disks[0], tmp_path / "b102.tar.gz", code=2)

    (loss,) = answer["losses"]
    assert [loss[key] for key in ("broker", "firstOffset", "endOffset", "acknowledged")] == [
        *(102, 220, 303),
        80,
    ]
    assert {copy["isEndExact"] for copy in whole["copies"]} == {True}
    assert [copy["isEndExact"] for copy in answer["copies"]] == [False, True]


def test_copies_of_killed_brokers_without_logs_are_not_copied_over_each_other(
    tmp_path: Path,
) -> None:
    disks = [
        broker_disk(tmp_path / f"b{n}", n, {"orders-0": [(0, 100), (2, 220)]}, noted=220)
        for n in (101, 102)
    ]
    write_log(disks[0], {0: [*BEGINNING, *ORDERS]})
    for disk in disks:
        (disk / "orders-0" / f"{0:020}.log").unlink()
        with tarfile.open(f"{disk}.tar.gz", "w:gz") as archive:
            archive.add(disk, disk.name)

    done = storage(tmp_path, "compare", "b101.tar.gz", "b102.tar.gz")

    assert (done.code, "mkdir" in done.text) == (2, False)
    assert "compare orders-0 with its logs: without them its newest copy is unknown" in done.text


def test_disks_of_two_clusters_are_refused(tmp_path: Path) -> None:
    first, second = two_disks(tmp_path)
    meta = second / "meta.properties"
    meta.write_text(re.sub("cluster.id=.*", "cluster.id=another", meta.read_text()))

    assert compared(tmp_path, first, second, code=3)["error"] == "other-cluster"


def test_partitions_without_a_meta_properties_are_of_nobody(tmp_path: Path) -> None:
    disk = broker_disk(tmp_path / "b1", 1, {"orders-0": [(0, 100)]})
    (disk / "meta.properties").unlink()

    answer = compared(tmp_path, disk, code=3)

    assert answer["error"] == "no-identity"
    assert "neither a meta.properties nor a server.properties" in answer["message"]


def test_directory_without_partitions_is_refused(tmp_path: Path) -> None:
    disk = broker_disk(tmp_path / "b1", 1, {})
    write_log(disk, {0: [no_ops(0, 1)]})

    assert compared(tmp_path, disk, code=3)["error"] == "no-partitions"


def test_parent_of_disks_stands_for_all_of_them(tmp_path: Path) -> None:
    disks = two_disks(tmp_path)

    assert compared(tmp_path, tmp_path, code=2) == compared(tmp_path, *disks, code=2)


def test_no_command_is_for_a_path_in_an_archive(tmp_path: Path) -> None:
    """A renamed directory in it can be given its name again on its host alone."""
    cluster = example_cluster(tmp_path)
    for broker in (102, 103):
        shutil.rmtree(cluster / f"node-{broker}/data/orders-0")
    lost = cluster / "node-101/data/orders-0"
    lost.rename(lost.with_name(f"orders-0.{'1' * 32}-delete"))
    archive = tmp_path / "a.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(cluster, "cluster")

    done = storage(tmp_path, "compare", str(archive), "--format", "json")

    findings = json.loads(done.text)["findings"]
    assert any("its name orders-0 again" in finding["cure"] for finding in findings)
    assert not [line for finding in findings for line in finding["commands"] if "!/" in line]
