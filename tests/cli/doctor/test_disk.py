"""`kraftops disk`: tables, JSON, and what it looks at."""

import json
import os
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kraftops.placement.placement import TopicPartition
from kraftops.storage.config.host import LocalKafka
from kraftops_cli.doctor.options import ExaminedOptions
from tests.helpers.logs.bundles import KINDS, files_in, under
from tests.helpers.logs.incidents import incident_directory
from tests.helpers.logs.log_directories import REAL
from tests.helpers.nodes.node_directories import PROPERTIES, format_node, make_node
from tests.helpers.tools.console import KRAFTOPS, Done, run_here
from tests.helpers.wire.moving_cluster import MovingCluster


def disk(*args: str, cwd: Path | str = ".") -> Done:
    return run_here("disk", *args, cwd=cwd, program=KRAFTOPS)


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """Return log directories with 20 MB in a segment that waits for its deletion."""
    folder = Path(shutil.copytree(REAL / "stopped", tmp_path / "d"))
    (folder / "plain-0" / f"{7:020}.log.deleted").write_bytes(bytes(20_000_000))
    return folder


def test_topic_that_fills_the_disk_comes_first(full: Path) -> None:
    done = disk(str(full))

    _, _, _, head, first, *_ = done.text.splitlines()
    assert done.code == 0
    assert head.split()[:2] == ["TOPIC", "REPLICAS"]
    assert first.split()[:2] == ["plain", "2"]
    assert "19.1 MiB" in first


def test_what_takes_most_of_the_disk_comes_first(full: Path) -> None:
    """A running broker preallocates 10 MiB of sparse index for each active segment."""
    os.truncate(full / "txn-0" / f"{0:020}.index", 40 << 20)

    done = disk(str(full), "--limit", "1")

    assert " plain " in f" {done.text.splitlines()[4]} "
    topics = json.loads(disk(str(full), "--format", "json").text)["topics"]
    sizes = {topic["topic"]: topic["bytes"] for topic in topics}
    assert topics[0]["topic"] == "plain"
    assert sizes["txn"] > sizes["plain"]


def test_json_has_every_list(full: Path) -> None:
    answer = json.loads(disk(str(full), "--format", "json").text)

    assert answer["topics"][0]["pendingDeletionBytes"] == 20_000_000
    assert answer["partitions"][0]["partition"] == 0
    assert answer["directories"][0]["elsewhereBytes"] > 0
    assert sum(topic["bytes"] for topic in answer["topics"]) <= answer["brokers"][0]["bytes"]


def without_volume(answer: dict[str, Any], folder: str) -> list[dict[str, Any]]:
    """Return rows without what only the disk knows, with paths from the log directory on."""
    rows = []
    for row in answer["directories"] + answer["topics"] + answer["partitions"]:
        for name in ("freeBytes", "sizeBytes", "elsewhereBytes", "allocatedBytes", "volumeUnknown"):
            row.pop(name, None)
        if "directory" in row:
            row["directory"] = row["directory"].removeprefix(folder)
        rows.append(row)
    return sorted(rows, key=str)  # their order is that of the disk


@pytest.mark.parametrize("kind", KINDS)
def test_archive_has_the_sizes_of_its_directories(full: Path, kind: str) -> None:
    files = under("var/lib/kafka/", files_in(full))
    KINDS[kind](full.parent / kind, files)
    for path in full.rglob("*"):
        os.utime(path, (0, 0))  # as of the members of these archives

    done = disk(kind, "--format", "json", cwd=full.parent)

    packed = json.loads(done.text)
    in_directory = json.loads(disk("d", "--format", "json", cwd=full.parent).text)
    directory = packed["directories"][0]
    assert (done.code, directory["freeBytes"], directory["daysLeft"]) == (0, None, None)
    assert directory["volumeUnknown"] == (
        "an archive does not show the space on the disk that it was packed from"
    )
    assert in_directory["directories"][0]["volumeUnknown"] is None
    place = f"{kind}!/var/lib/kafka"
    assert without_volume(packed, place) == without_volume(in_directory, "d")


def test_why_reads_an_archive(full: Path) -> None:
    with tarfile.open(full.parent / "d.tar.gz", "w:gz") as archive:
        archive.add(full, "d")

    done = disk("d.tar.gz", "--why", "plain-0", cwd=full.parent)

    in_directory = disk("d", "--why", "plain-0", cwd=full.parent)
    assert done.text == in_directory.text.replace("in d:", "in d.tar.gz!/d:")
    assert done.code == 0


@pytest.mark.parametrize("is_packed", [False, True])
def test_why_takes_the_configuration_that_lies_beside_the_logs(full: Path, is_packed: bool) -> None:
    """Its path of the logs is that on the broker's host."""
    folder = Path(shutil.copytree(full, full.parent / "node/data")).parent
    make_node(folder, log_dirs="/var/node/data", metadata_log_dir="", log_retention_ms="1000")
    name = str(folder)
    if is_packed:
        name += ".tgz"
        with tarfile.open(name, "w:gz") as archive:
            archive.add(folder, "node")

    done = disk(name, "--why", "plain-0")
    alone = disk(str(folder / "data"), "--why", "plain-0")

    assert re.search(r"retention\.ms +1000 +configuration", done.text)
    assert re.search(r"retention\.ms +604800000 +default", alone.text)
    unknown = "its own defaults are unknown, and Kafka's are assumed\n  cure: name the file with -c"
    assert (unknown in done.text, unknown in alone.text) == (False, True)


def test_why_has_equal_settings_once(full: Path) -> None:
    of_topic = disk(str(full), "--why", "plain").text

    assert (of_topic.count("Segments\n"), of_topic.count("Settings in force\n")) == (2, 1)


def test_limit_counts_what_it_leaves_out(full: Path) -> None:
    done = disk(str(full), "--group-by", "partition", "--limit", "2")

    assert done.text.splitlines()[-1].startswith("5 more with ")


def test_configuration_names_the_directories(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    format_node(node)

    answer = json.loads(disk("-c", PROPERTIES, "--format", "json", cwd=node).text)

    assert [each["directory"] for each in answer["directories"]] == ["d1", "d2"]


def test_relative_directory_that_is_not_here_says_where_it_begins(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    format_node(node)
    (tmp_path / "elsewhere").mkdir()

    done = disk("-c", str(node / PROPERTIES), cwd=tmp_path / "elsewhere")

    assert done.code == 4
    assert done.errors[1].startswith("hint: relative log.dirs begin at the working directory")


def test_table_without_rates_names_the_command_that_counts(full: Path) -> None:
    for path in full.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))

    done = disk(str(full))

    (note,) = done.errors
    assert note.startswith("kraftops: note: no rate is known: it takes an hour")
    assert f"; kraftops dump-log summary {full} --since -2h --sort bytes counts" in note
    assert disk(str(full), "--format", "json").errors == []
    for created in full.glob("*/partition.metadata"):
        os.utime(created, (1_500_000_000, 1_500_000_000))
    assert disk(str(full)).errors == []


def test_kafka_of_this_host_is_named(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    format_node(node)
    local = LocalKafka(str(node / PROPERTIES), ("log.dirs=d1",), 77)

    with patch("kraftops_cli.doctor.options.kafka_of_this_host", lambda: [local]):
        done = disk("--group-by", "broker", cwd=node)

    assert done.errors == [
        f"kraftops: note: looking at {node / PROPERTIES}, with which process 77 runs"
    ]
    assert "d2" not in done.text


def test_without_any_kafka_here_it_asks_for_one() -> None:
    host = "kraftops.storage.config.host"
    with patch(f"{host}._PROC", "/nosuch"), patch(f"{host}._USUAL_PLACES", ()):
        done = disk()

    assert done.code == 1
    assert done.errors[1].startswith("hint: name log directories")


def test_running_brokers_tell_what_they_can() -> None:
    moving = MovingCluster(range(1, 3), {TopicPartition("a", 0): (1, 2)}, is_old=False)
    moving.sizes[TopicPartition("a", 0)] = 4096
    with moving.reached() as access, patch.object(ExaminedOptions, "access", lambda *_: access):
        answer = json.loads(disk("-b", "b:9092", "--format", "json").text)

        table = disk("-b", "b:9092")

    assert "DELETED" not in table.text
    assert "DAYS LEFT" not in table.text
    assert "not indexes, what waits for deletion, what files take ON DISK, or GROWTH" in table.err
    (topic,) = answer["topics"]
    assert (topic["topic"], topic["logBytes"], topic["indexBytes"]) == ("a", 8192, None)
    assert [row["broker"] for row in answer["brokers"]] == [1, 2]


def test_why_tells_reasons_segments_and_settings(full: Path) -> None:
    done = disk(str(full), "--why", "plain-0")
    answer = json.loads(disk(str(full), "--why", "plain-0", "--format", "json").text)

    assert "Settings in force" in done.text
    assert "19.1 MiB are already renamed" in done.text
    of_topic = json.loads(disk(str(full), "--why", "plain", "--format", "json").text)
    assert [replica["partition"] for replica in of_topic["replicas"]] == [0, 1]
    (replica,) = answer["replicas"]
    assert {reason["reason"] for reason in replica["reasons"]} >= {"waiting"}
    assert replica["pendingDeletionBytes"] == 20_000_000


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("--why", "orders:0"), "expected TOPIC or TOPIC-N, as orders-0"),
        (("--why", "nope", str(REAL / "stopped")), "nope is not in"),
        (("--why", "orders-0", "-b", "b:9092"), "--why reads files"),
        (("--why", "orders-0", str(REAL / "stopped")), "orders-0 is not in"),
    ],
)
def test_why_refuses_what_it_cannot_read(args: tuple[str, ...], text: str) -> None:
    done = disk(*args)

    assert done.code in (1, 4)
    assert text in done.errors[0]


def test_directory_of_a_controller_has_no_topics(tmp_path: Path) -> None:
    folder = str(incident_directory(tmp_path))

    listed, why = disk(folder), disk(folder, "--why", "orders-0")

    assert f"note: {folder}: the metadata log alone, as of a controller" in listed.err
    assert f"orders-0 is not in {folder}, which has the metadata log alone" in why.err
    assert "hint: name log directories of brokers" in why.err


def test_directory_counts_once_by_whatever_name(full: Path) -> None:
    parent = full.parent
    (parent / "a.properties").write_text(
        "process.roles=broker\nnode.id=1\ncontroller.quorum.bootstrap.servers=localhost:1\n"
        "controller.listener.names=C\nlistener.security.protocol.map=C:PLAINTEXT,P:PLAINTEXT\n"
        "listeners=P://localhost:2\ninter.broker.listener.name=P\nlog.dirs=d\n"
    )
    names = ("-c", "a.properties", "-c", "./a.properties", "d", "./d", "--format", "json")

    (directory,) = json.loads(disk(*names, cwd=parent).text)["directories"]
    (replica,) = json.loads(disk(*names, "--why", "plain-0", cwd=parent).text)["replicas"]

    assert directory["directory"] == replica["directory"] == "d"


def test_partition_of_one_of_several_brokers_is_explained(full: Path) -> None:
    folder = shutil.copytree(full, full.parent / "other")
    shutil.rmtree(folder / "plain-0")

    answer = json.loads(disk(str(folder), str(full), "--why", "plain-0", "--format", "json").text)

    assert [replica["directory"] for replica in answer["replicas"]] == [str(full)]
