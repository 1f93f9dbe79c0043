"""`verify` has a finding for each problem that keeps a server from starting."""

import os
import re
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.directories import RELATIVE, read_directories
from kraftops.storage.logdirs.inspector import findings
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify import formatting
from kraftops.storage.verify.start import verify_node
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import (
    no_ops,
    write_log,
)
from tests.helpers.nodes.assigned_partitions import partition
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    format_node,
    make_node,
)
from tests.helpers.nodes.verified_nodes import (
    BROKER,
    CONTROLLER,
    TWO_SERVERS,
    identity,
    notes,
    stopping,
    used,
    verified,
)


def test_sound_static_node(static: Path) -> None:
    assert verified(static) == []


def test_sound_standalone_node(standalone: Path) -> None:
    assert verified(standalone) == []


@pytest.mark.parametrize(
    ("roles", "servers", "codes"),
    [
        pytest.param(BROKER, DYNAMIC, ["behind"], id="broker"),
        pytest.param(CONTROLLER, TWO_SERVERS, [], id="controller that joins"),
    ],
)
def test_nodes_may_wait_for_others(
    tmp_path: Path, roles: dict[str, str], servers: dict[str, str], codes: list[str]
) -> None:
    """What a broker with empty partitions should have is told, if only as unknown."""
    node = make_node(tmp_path / "node", servers, **roles)
    format_node(node, "--no-initial-controllers")

    assert [finding.code for finding in verified(node)] == codes
    assert len(notes(node)) == len(codes)


def test_nothing_is_written_or_locked(standalone: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in standalone.rglob("*")}

    verified(standalone)

    assert {path: path.stat().st_mtime_ns for path in standalone.rglob("*")} == before


def test_directory_that_is_missing_or_not_formatted(static: Path) -> None:
    shutil.rmtree(static / "d2")

    (finding,) = verified(static)

    assert str(finding) == "d2: it does not exist"
    assert finding.cure == "mount it if it is a disk; else format it"
    command = f"kafka-storage format -c {PROPERTIES} -t {CLUSTER_ID} -g -N"
    assert finding.commands == (command,)
    (static / "d2").mkdir()
    assert stopping(static) == ["d2: it is not formatted"]


def test_wrong_path_is_corrected_and_not_formatted(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = static / PROPERTIES
    config.write_text(re.sub("(?m)^log.dirs=.*", "log.dir.s=/data", config.read_text()))

    def cures(*overrides: str) -> list[str]:
        node = read_node(load_config(str(config), overrides))
        return [one.remedy for one in verify_node(node) if one.code == "not-formatted"]

    assert "set log.dirs in" in str(cures())
    (static / "d1").rename(static / "data-1")
    assert cures(f"log.dirs={static}/data1") == [f"is it {static}/data-1, which belongs to node 1?"]
    assert cures(f"log.dirs={static}/data1,{static}/data-1")[0].startswith("mount it if")
    monkeypatch.chdir(static.parent)
    assert cures("log.dirs=data-1") == [RELATIVE]


def test_format_mends_a_directory_that_holds_partitions(static: Path) -> None:
    (static / "d2" / META).unlink()
    (static / "d2/t-0").mkdir()

    (finding,) = verified(static)

    command = f"kafka-storage format -c {PROPERTIES} -t {CLUSTER_ID} -g -N"
    assert (finding.cure, finding.commands) == ("format it", (command,))


def test_lost_metadata_directory_is_to_be_restored(static: Path) -> None:
    shutil.rmtree(static / "d1")

    (finding,) = verified(static)

    assert str(finding) == "d1: it does not exist"
    assert "restore it: the metadata is in there" in finding.cure


def test_lost_meta_properties_beside_a_metadata_log_is_to_be_written(standalone: Path) -> None:
    write_log(standalone / "d1", {0: [no_ops(0, 1)]})
    (standalone / "d1" / META).unlink()

    finding = next(each for each in verified(standalone) if each.place.path == "d1")

    assert (finding.code, finding.text) == (
        "not-formatted",
        "it has a metadata log, and no meta.properties",
    )
    assert finding.cure.startswith("restore it from a copy, or write version=1, node.id=1")
    assert "directory.id=" in finding.cure


def test_new_node_is_to_be_formatted(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")

    (remedy,) = {finding.remedy for finding in verified(node)}
    assert remedy.startswith(
        "mount it if it is a disk; else format it (kafka-storage format): take"
    )


def test_new_controller_may_join_a_quorum_that_has_metadata(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", DYNAMIC)

    (remedy,) = {finding.remedy for finding in verified(node) if finding.code == "not-formatted"}
    assert "format it, with -N if other controllers have the metadata" in remedy


def test_broker_with_a_controller_is_not_formatted_without_the_log_of_another(
    tmp_path: Path,
) -> None:
    roles = {
        "process_roles": "broker,controller",
        "listeners": "PLAINTEXT://:29092,CONTROLLER://:29093",
    }
    node = make_node(tmp_path / "node", DYNAMIC, **roles)

    remedies = {finding.remedy for finding in verified(node) if finding.code == "not-formatted"}
    assert any("name the log of another controller, too" in remedy for remedy in remedies)


def test_file_in_the_place_of_a_directory(static: Path) -> None:
    shutil.rmtree(static / "d2")
    (static / "d2").touch()

    assert stopping(static) == ["d2: it is not a directory"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "its meta.properties has no node id and no cluster id"),
        ("broker.id=1\n", "its meta.properties has no cluster id"),
        (f"cluster.id={CLUSTER_ID}\n", "its meta.properties has no node id"),
        (
            "version=1\nnode.id=1\n",
            "its meta.properties cannot be read: cluster.id was not found.",
        ),
        ("x=\\u1\n", "its meta.properties cannot be read: line 1: Malformed \\uxxxx encoding."),
    ],
)
def test_incomplete_meta_properties(static: Path, text: str, problem: str) -> None:
    (static / "d2" / META).write_text(text)

    assert stopping(static) == [f"d2: {problem}"]


def test_lost_directory_id_is_found_in_the_voters(standalone: Path) -> None:
    expected = to_text(identity(standalone))
    (standalone / "d1" / META).write_text("version=2\n")

    cures = [finding.cure for finding in verified(standalone)]

    ids = f"node.id=1, cluster.id={CLUSTER_ID}, directory.id={expected}"
    assert cures == [f"restore it from a copy, or write version=1, {ids}"]


def test_other_cluster_and_other_node_name_both_values(static: Path) -> None:
    text = (static / "d2" / META).read_text()
    (static / "d2" / META).write_text(
        text.replace(CLUSTER_ID, OTHER_ID).replace("node.id=1", "node.id=2")
    )

    assert stopping(static) == [
        f"d2: its cluster id is {OTHER_ID}, not {CLUSTER_ID}",
        "d2: it is of node 2, the configuration of node 1",
    ]


def test_cluster_id_may_be_asked_for(static: Path) -> None:
    assert stopping(static, CLUSTER_ID) == []
    assert stopping(static, OTHER_ID) == [
        f"d1: its cluster id is {CLUSTER_ID}, not {OTHER_ID}",
        f"d2: its cluster id is {CLUSTER_ID}, not {OTHER_ID}",
    ]


@pytest.mark.parametrize("other", ["link", "d1/", "./d1", "d2/../d1"])
def test_directory_under_two_names_has_no_partition_twice(other: str, static: Path) -> None:
    (static / "link").symlink_to("d1")
    (static / "d1/__cluster_metadata-0").mkdir(exist_ok=True)
    make_node(static, log_dirs=f"d1,{other}")

    assert stopping(static) == [f"{other}: it is d1 under another name"]


def test_metadata_log_in_the_directory_before_metadata_log_dir_was_changed(static: Path) -> None:
    log = static / "d1/__cluster_metadata-0"
    log.mkdir(exist_ok=True)
    (log / f"{0:020}.log").touch()
    (static / "new").mkdir()
    make_node(static, log_dirs="d1,d2", metadata_log_dir="new")

    (finding,) = verified(static)

    assert finding.cure.startswith("set metadata.log.dir=d1 in server.properties again")
    assert not finding.commands


def test_metadata_log_in_a_data_directory(static: Path) -> None:
    (static / "d2/__cluster_metadata-0").mkdir()

    assert stopping(static) == [
        "d2/__cluster_metadata-0: a metadata log outside of the metadata directory d1"
    ]


@pytest.mark.parametrize(("roles", "count"), [(BROKER, 1), (CONTROLLER, 0)])
def test_only_a_broker_refuses_unknown_directories(
    tmp_path: Path, roles: dict[str, str], count: int
) -> None:
    node = make_node(tmp_path / "node", TWO_SERVERS, **{**roles, "log_dirs": "d1"})
    format_node(node, "-N")
    (node / "d1/lost+found").mkdir()

    assert len(stopping(node)) == count


def test_files_and_directories_that_have_no_place_in_a_log_directory(static: Path) -> None:
    (static / "d2/lost+found").mkdir()
    (static / "d2/remote-log-index-cache").mkdir()
    for name in ("t-0", "notes", ".kafka_cleanshutdown", "cleaner-offset-checkpoint"):
        (static / "d2" / name).touch()

    assert stopping(static) == [
        "d2/lost+found: it is not the directory of a partition: a broker stops",
        "d2/t-0: a file where a partition's directory belongs",
    ]


def test_directory_that_cannot_be_written(static: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = os.access

    def denied(path: str, mode: int, **kwargs: bool) -> bool:
        return path != "d2" and access(path, mode, **kwargs)

    monkeypatch.setattr(os, "access", denied)

    assert stopping(static) == [f"d2: user {os.geteuid()} cannot write to it"]


def test_new_cluster_without_bootstrap_file_is_noted(static: Path) -> None:
    (static / "d1/bootstrap.checkpoint").unlink()

    assert notes(static) == [
        "d1: it has no bootstrap.checkpoint, so that a new cluster begins without features"
    ]
    used(static)
    assert notes(static) == []


def test_damaged_bootstrap_file(static: Path) -> None:
    (static / "d1/bootstrap.checkpoint").write_bytes(b"")

    (finding,) = verified(static)

    assert (str(finding), finding.severity) == ("d1/bootstrap.checkpoint: it is empty", "stops")
    assert finding.cure == (
        "remove meta.properties and __cluster_metadata-0, and run kafka-storage format again"
    )
    used(static)
    assert verified(static)[0].cure == "remove it: a cluster that has begun no longer needs it"


def test_info_finds_only_problems_in_small_files(standalone: Path) -> None:
    used(standalone, no_ops(9, 1))
    (standalone / "d1/lost+found").mkdir()
    shutil.copy(standalone / "d1" / META, standalone / "d2" / META)

    with chdir(standalone):
        config = load_config(PROPERTIES)
        found = [str(finding) for finding in findings(config, read_directories(config))]

    assert found == [f"d2: its directory id {to_text(identity(standalone))} is also the id of d1"]


def test_impossible_cluster_id_is_not_proposed_to_a_shell(static: Path) -> None:
    for name in ("d1", "d2"):
        meta = static / name / "meta.properties"
        text = re.sub("cluster.id=.*", "cluster.id=x; touch z $(id)", meta.read_text())
        meta.write_text(text)
    (static / "d2/meta.properties").unlink()

    found = verified(static)

    assert found
    assert not any("touch" in finding.remedy for finding in found)
    assert any("(kafka-storage format -g -N): take" in finding.remedy for finding in found)


SERVER = 12345, 23456
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


def given(folder: Path, user: int, group: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, user, group)


def in_folder(node: Path, *commands: str) -> None:
    for command in commands:
        subprocess.run(["sh", "-c", command], check=True, cwd=node)


@pytest.fixture
def of_server(static: Path) -> Path:
    """A node whose files are the server's, with a partition on another disk, linked back."""
    partition(static / "disk", "t-0", topic_id=None)
    (static / "d2/t-0").symlink_to("../disk/t-0")
    given(static, *SERVER)
    return static


@as_root
@pytest.mark.parametrize("name", ["d2/t-0/", f"d2/t-0/{0:020}.log", "d1/.lock", "d1", "disk/t-0"])
def test_file_that_root_restored_is_given_to_the_server(of_server: Path, name: str) -> None:
    (of_server / name).touch()
    assert not stopping(of_server)
    os.chown(of_server / name, 0, 0)

    (finding,) = verified(of_server)
    in_folder(of_server, *finding.commands)

    assert (finding.code, finding.is_possible) == ("not-writable", False)
    assert "user 12345, who owns most files of this node, cannot use 1 file in it" in finding.text
    assert not stopping(of_server)


@as_root
def test_whole_disk_that_root_restored_is_possible_only(of_server: Path) -> None:
    for name in ("d1", "d2", "disk"):
        given(of_server / name, 0, 0)
        os.chown(of_server / name, *SERVER)

    findings = verified(of_server)

    assert {(finding.code, finding.is_possible) for finding in findings} == {("not-writable", True)}
    in_folder(of_server, *(command for finding in findings for command in finding.commands))
    assert not stopping(of_server)


@as_root
@pytest.mark.parametrize(
    ("name", "mode"),
    [("d2/t-0", 0), (f"d2/t-0/{0:020}.log", 0o400), ("d2/meta.properties", 0o200)],
)
def test_permission_that_the_server_lacks_is_given(of_server: Path, name: str, mode: int) -> None:
    (of_server / name).chmod(mode)

    (finding,) = verified(of_server)

    assert finding.commands == ("find -L d2/ ! -type l -exec chmod u+rwX {} +",)
    in_folder(of_server, *finding.commands)
    assert not stopping(of_server)


@as_root
def test_what_the_server_only_reads_or_renames_over_may_be_roots(of_server: Path) -> None:
    for name in ("d1/meta.properties", "d1/bootstrap.checkpoint"):
        os.chown(of_server / name, 0, 0)
    (of_server / "d2/t-0").chmod(0o770)
    os.chown(of_server / "d2/t-0", 0, SERVER[1])

    assert not stopping(of_server)


@as_root
def test_meta_properties_that_is_written_is_the_servers(of_server: Path) -> None:
    (of_server / "d2" / META).write_text("version=1\nnode.id=1\n")

    (finding,) = verified(of_server)
    in_folder(of_server, *finding.commands)

    status = (of_server / "d2" / META).stat()
    assert (status.st_uid, status.st_gid) == SERVER


def test_metadata_of_the_only_controller_is_not_formatted_away(standalone: Path) -> None:
    shutil.rmtree(standalone / "d1")
    (standalone / "d1").mkdir()

    finding = next(finding for finding in verified(standalone) if finding.is_severe)

    assert (finding.code, finding.cure) == (
        "not-formatted",
        "restore it: the metadata is in there",
    )
    assert finding.commands == ()


@pytest.mark.parametrize("is_point", [True, False])
def test_disk_that_the_host_has_is_mounted_not_formatted(
    static: Path, is_point: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = static / "fstab"
    point = static / "d2" if is_point else static
    table.write_text(
        f"#/dev/sdy {static}/d2 ext4\n/dev/sdx {str(point).replace('node', chr(92) + '156ode')} ext4 defaults 0 2\n"
        f"tmpfs /tmp/else tmpfs\n\nnone swap swap\n"
    )
    monkeypatch.setattr(formatting, "_TABLE", str(table))
    assert not verified(static)
    shutil.rmtree(static / "d2")
    (static / "d2").mkdir()

    (finding,) = verified(static)

    assert finding.cure == f"mount its disk: {table} has one for {point}, where nothing is mounted"
    assert finding.commands == (f"mount {point}",)
