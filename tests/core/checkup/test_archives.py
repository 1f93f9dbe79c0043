"""An archive of nodes has the findings of the directories in it."""

import json
import os
import re
import shlex
import shutil
import tarfile
from pathlib import Path

import pytest

from kraftops.checkup import disk_checks
from kraftops.library.questions import doctor
from tests.helpers.doctor.seeds import REAL_DISKS
from tests.helpers.logs.bundles import KINDS, files_in
from tests.helpers.logs.log_directories import REAL
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.tools.console import KRAFTOPS, STORAGE, run_here

CLUSTER = "docs/cluster.tar.gz"


def facts(*paths: Path | str, deep: bool = False) -> list[tuple[object, ...]]:
    """Return the findings about paths: what they say, and of which partition."""
    seen = []
    for finding in doctor([*map(str, paths)], deep=deep).findings:
        place = finding.place
        partition = (place.node, place.topic, place.partition, place.offset)
        seen.append((finding.code, finding.severity, finding.text, finding.count, *partition))
    return seen


def packed(folder: Path, archive: Path, left_out: str = "nothing") -> Path:
    """Pack a log directory, without the files of a suffix."""
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, "d", filter=lambda info: None if info.name.endswith(left_out) else info)
    return archive


def test_archive_of_a_cluster_has_the_findings_of_its_directories(tmp_path: Path) -> None:
    example_cluster(tmp_path)

    in_directories = facts(*sorted((tmp_path / "cluster").glob("node-*/data")))

    assert [code for code, *_ in in_directories] == ["start-cuts-log", "incident"]
    assert facts(CLUSTER) == in_directories
    for kind in ("log.tar", "log.zip"):
        KINDS[kind](tmp_path / kind, files_in(tmp_path / "cluster"))
        assert facts(tmp_path / kind) == in_directories


def test_records_that_retention_deletes_after_a_start_are_told() -> None:
    finding, _ = doctor(CLUSTER).findings

    assert "records-cut" in {fact.source for fact in finding.evidence}
    assert "before a start raise retention.ms of orders, or copy its directories" in finding.cure
    assert "1 segment with 36.6 KiB is due" in finding.evidence[-1].fact


@pytest.mark.parametrize(
    "name",
    [
        "the end of a log is cut",
        "a damaged batch after an unclean stop",
        "a high watermark file is damaged",
        "epochs are damaged",
    ],
)
def test_archive_of_a_faulty_directory_has_its_findings(name: str, tmp_path: Path) -> None:
    REAL_DISKS[name].build(tmp_path)

    in_directory = facts(tmp_path / "d")

    assert REAL_DISKS[name].code in {code for code, *_ in in_directory}
    assert facts(packed(tmp_path / "d", tmp_path / "d.tar.gz")) == in_directory


@pytest.mark.parametrize("left_out", [".log", "index"])
def test_segments_that_were_not_packed_are_not_missed(left_out: str, tmp_path: Path) -> None:
    archive = packed(REAL / "stopped", tmp_path / "d.tar.gz", left_out)

    assert not [finding for finding in doctor(str(archive)).findings if finding.is_severe]


@pytest.mark.parametrize("is_clean", [False, True])
def test_copies_whose_segments_were_not_packed_are_compared_after_clean_stops(
    tmp_path: Path, *, is_clean: bool
) -> None:
    """Otherwise each partition would seem to lose records, whichever broker starts first."""
    example_cluster(tmp_path)
    archives = [tmp_path / f"{broker}.tar" for broker in (101, 103)]
    for path in archives:
        if is_clean:
            directory = tmp_path / f"cluster/node-{path.stem}/data"
            (directory / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')
        with tarfile.open(path, "w") as tar:
            for file in (tmp_path / f"cluster/node-{path.stem}").rglob("*"):
                is_of_topic = file.parent.name != "__cluster_metadata-0"
                if file.is_file() and not (is_of_topic and file.suffix in (".log", ".index")):
                    tar.add(file, file.relative_to(tmp_path))

    diagnosis = doctor([*map(str, archives)])

    (check,) = (run for run in diagnosis.runs if run.check.name == "copies")
    assert (str(check.status), *check.findings) == ("done" if is_clean else "skipped",)
    assert ("tell where logs end" in (check.reason or "")) is not is_clean
    assert ("1 check could not be made" in diagnosis.verdict) is not is_clean


def test_broker_whose_copies_cannot_be_compared_is_named_beside_two_others(tmp_path: Path) -> None:
    cluster = example_cluster(tmp_path)
    nodes = [cluster / f"node-{broker}/data" for broker in (101, 102, 103)]
    unpacked = packed(nodes[2], tmp_path / "103.tar.gz", f"{0:020}.log")

    diagnosis = doctor([str(nodes[0]), str(nodes[1]), str(unpacked)])

    (check,) = (run for run in diagnosis.runs if run.check.name == "copies")
    assert str(check.status) == "done"
    assert (check.reason or "").startswith("not of broker 103: archives of brokers that run")
    assert diagnosis.verdict.endswith("; not of all nodes: copies")


def test_archive_without_a_log_directory_leaves_the_others_examined(tmp_path: Path) -> None:
    (tmp_path / "hostname").write_text("b3")
    with tarfile.open(tmp_path / "empty.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "hostname", "etc/hostname")
    empty = str(tmp_path / "empty.tar.gz")

    done = run_here("doctor", CLUSTER, empty, "--format", "json", program=KRAFTOPS)

    codes = [finding["code"] for finding in json.loads(done.text)["findings"]]
    assert (done.code, codes) == (2, [code for code, *_ in facts(CLUSTER)])
    assert [line for line in done.err.splitlines() if "empty" in line] == [
        f"kraftops: {empty} holds no metadata log and no partition: it is left out [no-log]"
    ]
    assert run_here("doctor", empty, program=KRAFTOPS).code == 3


def test_whole_partitions_and_all_checks_but_of_room_are_done_with_an_archive(
    tmp_path: Path,
) -> None:
    example_cluster(tmp_path)

    diagnosis = doctor(CLUSTER, deep=True)

    reasons = {run.check.name: (str(run.status), run.reason or "") for run in diagnosis.runs}
    assert reasons["room"] == ("skipped", "archives do not show the space on their disks")
    for name in ("partitions", "retention", "transactions"):
        assert reasons[name] == ("done", "")
    directories = sorted((tmp_path / "cluster").glob("node-*/data"))
    assert facts(CLUSTER, deep=True) == facts(*directories, deep=True)


def test_no_command_changes_an_archive(tmp_path: Path) -> None:
    REAL_DISKS["quorum-state is damaged"].build(tmp_path)

    findings = doctor(str(packed(tmp_path / "d", tmp_path / "d.tar.gz"))).findings

    assert findings[0].code == "bad-quorum-state"
    assert not findings[0].commands
    commands = [command for finding in doctor(CLUSTER).findings for command in finding.commands]
    assert commands == [f"kafka-storage compare {CLUSTER}", f"kraftops incidents {CLUSTER}"]


@pytest.mark.parametrize(
    ("kind", "is_beside_data"),
    [("directory", False), ("log.tar.gz", False), ("log.tar.gz", True), ("log.zip", False)],
)
def test_configurations_beside_log_directories_are_used(
    kind: str, tmp_path: Path, *, is_beside_data: bool
) -> None:
    """They tell which controllers vote: two of three that lost their ends would lead.

    A host may be named like a partition.
    """
    cluster = example_cluster(tmp_path)
    for config in cluster.glob("*.properties") if is_beside_data else ():
        config.rename(cluster / config.stem / "server.properties")
    for node in ("node-1", "node-2"):
        os.truncate(cluster / node / "data/__cluster_metadata-0" / f"{0:020}.log", 3000)
    source = cluster
    if kind != "directory":
        source = tmp_path / kind
        KINDS[kind](source, files_in(cluster))

    codes = [code for code, *_ in facts(source)]

    assert codes[:2] == ["rival-history", "rival-history"]
    assert "start-cuts-log" in codes


def unclean(data: Path) -> None:
    """Have a broker be killed before it has flushed anything."""
    (data / ".kafka_cleanshutdown").unlink(missing_ok=True)
    (data / "recovery-point-offset-checkpoint").write_text("0\n0\n")


def unread(*paths: Path) -> list[int | None]:
    """Return the nodes of which a start reads more than is read here."""
    findings = doctor([*map(str, paths)]).findings
    return [finding.place.node for finding in findings if finding.code == "not-foretold"]


@pytest.mark.parametrize("is_packed", [False, True])
def test_segments_of_a_killed_broker_that_are_not_read_leave_a_diagnosis_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_packed: bool
) -> None:
    """Two log directories in one archive have one command."""
    data = example_cluster(tmp_path) / "node-103/data"
    unclean(data)
    second = shutil.copytree(data, data.with_name("data2"), ignore=lambda *_: {"orders-0"})
    meta = second / "meta.properties"
    meta.write_text(re.sub("directory.id=.{4}", "directory.id=AAAA", meta.read_text()))
    shutil.rmtree(second / "__cluster_metadata-0")
    source = packed(data.parent, tmp_path / "n.tgz") if is_packed else data.parent
    monkeypatch.setattr(disk_checks, "LIGHT_BYTES", 0)

    diagnosis = doctor(str(source))

    (note,) = (finding for finding in diagnosis.findings if finding.code == "not-foretold")
    assert note.commands.count(f"kafka-dump-log --check {source}") == is_packed
    assert len(note.commands) == 2 - is_packed
    assert (diagnosis.verdict.startswith("incomplete: "), diagnosis.exit_code) == (True, 2)
    accepted = run_here("doctor", str(source), "--skip=not-foretold", program=KRAFTOPS)
    assert not accepted.text.startswith("incomplete: ")


def test_killed_brokers_share_what_is_read_of_their_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that needs most of it leaves their shares to the others, who leave it theirs."""
    nodes = [example_cluster(tmp_path) / f"node-{number}/data" for number in (101, 102, 103)]
    for data in nodes:
        unclean(data)
    size = sum(path.stat().st_size for path in nodes[1].rglob("*.log"))
    monkeypatch.setattr(disk_checks, "LIGHT_BYTES", 6 * size)
    assert unread(*nodes) == []

    os.truncate(max(nodes[0].rglob("*-0/*.log"), key=os.path.getsize), 4 * size)

    assert unread(*nodes) == [101]


def test_controllers_that_have_lost_their_disks_are_told_by_their_configurations(
    tmp_path: Path,
) -> None:
    cluster = example_cluster(tmp_path)
    for config in cluster.glob("*.properties"):
        config.rename(cluster / config.stem / "server.properties")
    for node in ("node-2", "node-3"):
        shutil.rmtree(cluster / node / "data")
    nodes = sorted(cluster.glob("node-*"))

    diagnosis = doctor([*map(str, nodes)])

    (lost,) = (finding for finding in diagnosis.findings if finding.code == "quorum-lost")
    assert "voters 2 and 3 of 1, 2, 3" in lost.text
    assert "not log directories" not in str(diagnosis.runs)


def test_an_archive_that_is_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """What it lacks is not said to be lost: it may only not have been packed."""
    cut = tmp_path / "cut.tar.gz"
    whole = Path(CLUSTER).read_bytes()
    cut.write_bytes(whole[: len(whole) * 97 // 100])

    done = {
        command: run_here(command, str(cut), "--format", "json", program=KRAFTOPS)
        for command in ("doctor", "disk")
    }
    for answer in done.values():
        assert (answer.code, "cannot read the rest of" in answer.err) == (2, True)
    assert len(json.loads(done["disk"].text)["directories"]) >= 4
    diagnosis = json.loads(done["doctor"].text)
    assert diagnosis["verdict"].startswith("incomplete: 1 possible loss, 1 risk; first: ")
    assert diagnosis["verdict"].endswith("[bad-archive]; 1 check could not be made")
    codes = ["bad-archive", "start-cuts-log", "incident"]
    assert [finding["code"] for finding in diagnosis["findings"]] == codes
    assert {
        check["check"]
        for check in diagnosis["checks"]
        if check["reason"] == "the archive is damaged"
    } == {"copies", "room", "retention", "transactions"}


@pytest.mark.parametrize("position", [0.5, -8], ids=["content", "checksum"])
def test_bit_that_flipped_in_an_archive_is_no_damage_of_disks(
    position: float, tmp_path: Path
) -> None:
    example_cluster(tmp_path)
    path = packed(tmp_path / "cluster/node-101", tmp_path / "d.tar.gz")
    content = bytearray(path.read_bytes())
    content[int(position * len(content)) if position > 0 else int(position)] ^= 0x10
    path.write_bytes(content)

    done = run_here("doctor", "d.tar.gz", "--format", "json", program=KRAFTOPS, cwd=tmp_path)

    findings = json.loads(done.text)["findings"]
    assert (done.code, findings[0]["code"]) == (2, "bad-archive")
    assert all(one["isPossible"] for one in findings if one["severity"] in ("loss", "stops"))


def test_junk_after_an_archive_is_not_damage(tmp_path: Path) -> None:
    """gzip ignores it with a warning."""
    path = tmp_path / "d.tar.gz"
    path.write_bytes(Path(CLUSTER).read_bytes() + b"junk" * 700)

    assert [code for code, *_ in facts(path)] == [code for code, *_ in facts(CLUSTER)]


def test_rival_logs_in_archives_are_recovered_by_a_plan_of_the_archives(tmp_path: Path) -> None:
    """What is in an archive has no configuration here, so that `recover` has nothing to write."""
    cluster = example_cluster(tmp_path)
    for node_id in (1, 2):
        os.truncate(cluster / f"node-{node_id}/data/__cluster_metadata-0" / f"{0:020}.log", 3000)
    archives = [str(tmp_path / f"{node_id}.tar.gz") for node_id in (1, 2, 3)]
    for node_id, archive in enumerate(archives, 1):
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(cluster / f"node-{node_id}", f"n/node-{node_id}")
            tar.add(cluster / f"node-{node_id}.properties", f"n/node-{node_id}.properties")

    findings = doctor(archives).findings
    (command,) = {finding.commands for finding in findings if finding.code == "rival-history"}

    words = shlex.split(command[0])[:-1]
    assert words[:2] == ["kafka-storage", "recover-plan"]
    unseen = "--unseen-broker", "101,102,103"
    done = run_here(*words[1:], str(tmp_path / "plan"), *unseen, "--offline", program=STORAGE)
    assert done.code == 0, done.err
    assert (tmp_path / "plan/node-3.sh").exists()
