"""`kafka-storage recover-plan` writes scripts that work on their own host and disk only."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import no_ops, records_batch, write_log
from tests.helpers.nodes.broker_disks import ORDERS, broker_disk
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    IDS,
    MORE,
    broker,
    controller,
    log_files,
    recovery_data,
    write_meta,
)
from tests.helpers.nodes.node_directories import META, PROPERTIES, locked, storage
from tests.helpers.tools.console import STORAGE, Done

NEW_ID = "3Db5QLSqSZieL3rJBUUegA"


def node(folder: Path, node_id: int, *batches: bytes, **changes: str) -> Path:
    """Make a node with a log, whose paths are absolute."""
    made = controller(
        folder / f"n{node_id}", node_id, log_dirs=f"{folder}/n{node_id}/meta", **changes
    )
    write_log(made / "meta", {0: [*BEGINNING, *batches]})
    return made


def packed(made: Path, *, host: str = "", parts: tuple[str, ...] = (PROPERTIES, "meta")) -> str:
    """Pack a node with the paths of its host; return the option that names the archive."""
    archive = made.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as tar:
        for name in parts:
            tar.add(made / name, str(made / name))
        if host:
            (made / "hostname").write_text(f"{host}\n")
            tar.add(made / "hostname", "/etc/hostname")
    return f"--from={archive}"


def planned(folder: Path, *args: str) -> Done:
    args = ("recover-plan", *args, "--output", str(folder / "plan"))
    return storage(folder, *args, "--format", "json")


def plan(folder: Path, *args: str) -> dict[str, Any]:
    done = planned(folder, *args)
    assert done.code in (0, 2), done.text + done.err
    answer: dict[str, Any] = json.loads(done.text)
    return answer


def run(folder: Path, node_id: int, *args: str, **environment: str) -> tuple[int, str]:
    """Run a script; return its exit code, and what it prints."""
    done = subprocess.run(
        ["sh", str(folder / f"plan/node-{node_id}.sh"), *args],
        env={**os.environ, "KAFKA_STORAGE": STORAGE, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def directory_id(made: Path) -> str:
    lines = (made / "meta" / META).read_text().splitlines()
    return next(line.removeprefix("directory.id=") for line in lines if "directory.id" in line)


@pytest.fixture
def cluster(tmp_path: Path) -> list[Path]:
    """Three controllers that are packed: the second one has the longest log."""
    return [node(tmp_path, 1), node(tmp_path, 2, *MORE), node(tmp_path, 3, *MORE[:1])]


def test_all_voters_get_the_same_log_and_the_others_join(
    tmp_path: Path, cluster: list[Path]
) -> None:
    first, second, third = cluster

    answer = plan(tmp_path, *map(packed, cluster), "--voters", "1,3")
    codes = [run(tmp_path, node_id)[0] for node_id in (1, 3, 2)]
    again = [run(tmp_path, node_id)[0] for node_id in (1, 3, 2)]

    assert [host["role"] for host in answer["hosts"]] == ["voter", "joins", "voter"]
    assert (answer["logs"][0]["name"], answer["offset"]) == (f"{second}.tar.gz", 10)
    assert codes == again == [0, 0, 0]
    logs = [
        b"".join(data for name, data in sorted(log_files(made).items()) if name.endswith(".log"))
        for made in (first, third)
    ]
    assert logs[0] == logs[1]
    assert logs[0].startswith(b"".join([*BEGINNING, *MORE]))
    assert not (second / "meta/__cluster_metadata-0").exists()
    assert directory_id(second) != to_text(IDS[2])
    with tarfile.open(tmp_path / "plan/node-2-before.tar.gz") as tar:
        names = tar.getnames()
    assert "meta.properties" in names
    assert "__cluster_metadata-0/00000000000000000000.log" in names


@pytest.mark.parametrize("top", ["", "bundle/host-{}"])
def test_one_archive_of_all_nodes_makes_the_same_plan(
    tmp_path: Path, cluster: list[Path], top: str
) -> None:
    answer = plan(tmp_path, *map(packed, cluster), "--voters", "1,3")
    scripts = {path.name: path.read_text() for path in (tmp_path / "plan").glob("*.sh")}
    shutil.rmtree(tmp_path / "plan")
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as tar:
        for made in cluster:
            for name in (PROPERTIES, "meta"):
                tar.add(made / name, f"{top.format(made.name)}{made}/{name}")

    of_one = plan(tmp_path, f"--from={tmp_path}/all.tar.gz", "--voters", "1,3")

    assert scripts == {path.name: path.read_text() for path in (tmp_path / "plan").glob("*.sh")}
    assert of_one["offset"] == answer["offset"]
    assert [host["role"] for host in of_one["hosts"]] == ["voter", "joins", "voter"]
    assert of_one["logs"][0][
        "name"
    ] == f"{tmp_path}/all.tar.gz!/{top.format('n2')}{cluster[1]}/meta".replace("!//", "!/")


def test_copies_stay_as_they_are(tmp_path: Path, cluster: list[Path]) -> None:
    names = [f"--from={made / PROPERTIES}" for made in cluster]
    before = [log_files(made) for made in cluster]

    answer = plan(tmp_path, *names, "--voters", "1,3")

    assert [log_files(made) for made in cluster] == before
    assert [host["config"] for host in answer["hosts"]] == [
        str(made / PROPERTIES) for made in cluster
    ]


class TestGuards:
    """A script that must not run changes nothing."""

    @pytest.fixture
    def folder(self, tmp_path: Path, cluster: list[Path]) -> Path:
        archives = [packed(made, host="ctl-9") for made in cluster]
        plan(tmp_path, *archives, "--voters", "1,3")
        program = tmp_path / "bin/uname"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\necho ${FAKE_HOST:-ctl-9}\n")
        program.chmod(0o755)
        return tmp_path

    def refused(self, folder: Path, node_id: int, *args: str, **environment: str) -> str:
        made = folder / f"n{node_id}"
        before = {path: path.stat().st_mtime_ns for path in made.rglob("*") if path.name != ".lock"}
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        code, printed = run(folder, node_id, *args, PATH=path, **environment)
        assert code == 3, printed
        after = {path: path.stat().st_mtime_ns for path in made.rglob("*") if path.name != ".lock"}
        assert after == before
        return printed

    @pytest.mark.parametrize("node_id", [1, 2])
    def test_another_host(self, folder: Path, node_id: int) -> None:
        printed = self.refused(folder, node_id, FAKE_HOST="ctl-8")
        assert "this host is ctl-8, not ctl-9" in printed

    @pytest.mark.parametrize("node_id", [1, 2])
    def test_running_server(self, folder: Path, node_id: int) -> None:
        with locked(folder / f"n{node_id}/meta"):
            assert "uses its directories" in self.refused(folder, node_id)

    @pytest.mark.parametrize("node_id", [1, 2])
    def test_configuration_of_another_node(self, folder: Path, node_id: int) -> None:
        other = str(folder / "n3" / PROPERTIES)
        assert f"is not that of node {node_id}" in self.refused(folder, node_id, other)

    @pytest.mark.parametrize("node_id", [1, 2])
    def test_disk_of_another_node(self, folder: Path, node_id: int) -> None:
        write_meta(folder / f"n{node_id}/meta", 3)
        assert "is of another node or cluster" in self.refused(folder, node_id)

    def test_another_disk_of_the_same_node(self, folder: Path) -> None:
        write_meta(folder / "n1/meta", 1, directory_id=NEW_ID)
        assert "is not the disk that was copied" in self.refused(folder, 1)

    @pytest.mark.parametrize("epoch", [1, 9])
    def test_log_that_has_gone_on(self, folder: Path, epoch: int) -> None:
        write_log(folder / "n1/meta", {5: [no_ops(5, 9, epoch=epoch)]})
        assert "has changed since it was copied" in self.refused(folder, 1)

    def test_log_of_the_only_voter_that_has_gone_on(
        self, tmp_path: Path, cluster: list[Path]
    ) -> None:
        plan(tmp_path, packed(cluster[0]), "--voters", "1")
        write_log(tmp_path / "n1/meta", {5: [no_ops(5, 9, epoch=9)]})

        code, printed = run(tmp_path, 1)

        assert (code, "has changed since it was copied" in printed) == (3, True)

    def test_static_voters(self, folder: Path) -> None:
        with (folder / "n2" / PROPERTIES).open("a") as file:
            file.write("\ncontroller.quorum.voters=2@localhost:29093\n")
        assert "controller.quorum.voters" in self.refused(folder, 2)

    def test_missing_tool(self, folder: Path) -> None:
        assert "is not that of kraftops" in self.refused(folder, 1, KAFKA_STORAGE="/bin/false")

    def test_log_without_a_meta_properties(self, folder: Path) -> None:
        (folder / "n2/meta" / META).unlink()
        assert "a log without meta.properties" in self.refused(folder, 2)


@pytest.mark.parametrize("has_older_backup", [False, True])
def test_script_of_a_voter_runs_again_after_an_undo(
    tmp_path: Path, cluster: list[Path], *, has_older_backup: bool
) -> None:
    if has_older_backup:
        others = [f"--from={folder}/meta" for folder in cluster[1:]]
        recovery_data(cluster[0], "--listener-hosts", "localhost=elsewhere", *others)
    archive = packed(cluster[0])
    plan(tmp_path, archive, "--voters", "1", "--choose", archive.removeprefix("--from="))
    assert run(tmp_path, 1)[0] == 0
    recovered = log_files(cluster[0])
    assert "is done" in run(tmp_path, 1)[1]
    done = storage(cluster[0], "recover", "-c", str(cluster[0] / PROPERTIES), "--undo")
    assert (done.code, log_files(cluster[0]) == recovered) == (0, False)

    code, printed = run(tmp_path, 1)

    assert (code, "Written" in printed) == (0, True)
    assert log_files(cluster[0]) == recovered


def test_voter_without_a_copy_is_told_to_get_the_log(tmp_path: Path, cluster: list[Path]) -> None:
    voters = ",".join(f"{n}@localhost:29093:{to_text(IDS[n])}" for n in (1, 2))

    answer = plan(tmp_path, packed(cluster[0]), "--voters", voters)

    assert answer["withoutCopy"] == [2, 3]
    page = (tmp_path / "plan/README.txt").read_text()
    assert "- node 2: no copy was given" in page
    assert "Give voter 2 the same log, byte by byte, before any of them starts" in page


def test_plan_for_self_is_refused_with_the_form_of_ids(tmp_path: Path, cluster: list[Path]) -> None:
    done = planned(tmp_path, packed(cluster[0]), "--voters", "self")

    assert (done.code, json.loads(done.text)["hint"]) == (1, "name its id: --voters 1")


def test_all_controllers_are_lost_and_a_broker_has_the_log(tmp_path: Path) -> None:
    keys = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}
    made = node(tmp_path, 4, records_batch(5, broker(4)), **keys)
    new = controller(tmp_path / "n1", 1, log_dirs=f"{tmp_path}/n1/meta")
    write_meta(new / "meta", 1, directory_id=NEW_ID)

    answer = plan(tmp_path, packed(made), packed(new), "--voters", "1")

    assert [host["role"] for host in answer["hosts"]] == ["voter", "broker"]
    assert answer["withoutCopy"] == [2, 3]
    code, printed = run(tmp_path, 1)
    assert code == 0
    assert printed.startswith("This log was recovered for these voters before")
    assert "not been read" not in printed  # the disk of broker 4 was, for the plan
    assert "nothing to change" in run(tmp_path, 4)[1]
    assert b"".join(BEGINNING) in log_files(new)["00000000000000000000.log"]
    page = (tmp_path / "plan/README.txt").read_text()
    assert "Keep controllers 2 and 3 from starting with their old disks" in page
    assert "--undo" not in page.split("\n4. ")[1]  # nobody who follows the page goes back


def test_broker_with_other_records_fetches_a_new_log(tmp_path: Path) -> None:
    keys = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}
    first = node(tmp_path, 1, records_batch(5, broker(4)), no_ops(6, 2, epoch=5))
    made = node(tmp_path, 4, records_batch(5, broker(4)), *MORE[1:], **keys)

    answer = plan(tmp_path, packed(first), packed(made), "--voters", "1")

    assert "records-given-up" in {finding["code"] for finding in answer["findings"]}
    assert run(tmp_path, 4)[0] == 0
    assert not (made / "meta/__cluster_metadata-0").exists()
    write_log(made / "meta", {0: BEGINNING})  # the new log, which a second run must leave
    assert run(tmp_path, 4)[0] == 0
    assert (made / "meta/__cluster_metadata-0").exists()


def test_killed_between_two_removals_it_can_be_repeated(
    tmp_path: Path, cluster: list[Path]
) -> None:
    plan(tmp_path, *map(packed, cluster), "--voters", "1", "--force")
    program = tmp_path / "rm"
    program.write_text(
        "#!/bin/sh\ncase $2 in *meta.properties) kill -9 $PPID ;; esac\nexec /bin/rm $@\n"
    )
    program.chmod(0o755)

    code, _ = run(tmp_path, 2, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert code == -9
    assert not (cluster[1] / "meta/__cluster_metadata-0").exists()

    assert run(tmp_path, 2)[0] == 0
    assert directory_id(cluster[1]) != to_text(IDS[2])
    with tarfile.open(tmp_path / "plan/node-2-before.tar.gz") as tar:
        assert "__cluster_metadata-0/00000000000000000000.log" in tar.getnames()


def test_names_of_hosts_and_paths_are_no_commands(tmp_path: Path) -> None:
    odd = tmp_path / "a b'$(touch pwned)"
    odd.mkdir()
    made = node(odd, 1)

    plan(tmp_path, packed(made, host="$(touch pwned)"), "--voters", "1")
    code, printed = run(tmp_path, 1)

    assert (code, "not $(touch pwned)" in printed) == (3, True)
    assert not list(Path.cwd().rglob("pwned"))
    script = (tmp_path / "plan/node-1.sh").read_text()
    assert f"host={shlex.quote('$(touch pwned)')}\n" in script


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("--voters", "5"), "unknown-voter"),
        (("--voters", f"1@localhost:1:{NEW_ID}"), "other-directory-id"),
        (("--voters", "1", "--from=n1"), "several-logs"),
        (("--voters", "1", "--choose=x"), "not-found"),
    ],
)
def test_plans_that_make_no_sense_are_refused(
    tmp_path: Path, cluster: list[Path], args: tuple[str, ...], error: str
) -> None:
    (tmp_path / "n1.tar.gz").unlink(missing_ok=True)
    copies = [packed(made) for made in cluster]
    args = tuple(copies[0] if word == "--from=n1" else word for word in args)

    done = planned(tmp_path, *copies, *args)

    assert json.loads(done.text)["error"] == error
    assert not (tmp_path / "plan").exists()
    assert not list(tmp_path.glob(".recover-plan-*"))


def test_directory_that_exists_is_refused(tmp_path: Path, cluster: list[Path]) -> None:
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan/x").touch()

    done = planned(tmp_path, *map(packed, cluster), "--voters", "1")

    assert (done.code, json.loads(done.text)["error"]) == (3, "exists")


def test_brokers_start_in_the_order_of_their_copies(tmp_path: Path) -> None:
    keys = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}
    first = controller(tmp_path / "n1", 1, log_dirs=f"{tmp_path}/n1/meta")
    write_log(first / "meta", {0: [*BEGINNING, *ORDERS]})
    copies = [packed(first)]
    for broker_id, epochs in ((101, [(0, 100)]), (102, [(0, 100), (4, 303)])):
        made = controller(
            tmp_path / f"n{broker_id}", broker_id, log_dirs=f"{tmp_path}/n{broker_id}/meta", **keys
        )
        broker_disk(made / "meta", broker_id, {"orders-0": epochs})
        copies.append(packed(made))

    answer = plan(tmp_path, *copies, "--voters", "1")

    page = (tmp_path / "plan/README.txt").read_text()
    assert [broker["broker"] for broker in answer["brokers"]] == [102, 101]
    starts = [
        line.split("/")[-2] for line in page.splitlines() if "    kafka-server-start.sh /" in line
    ]
    assert starts == ["n1", "n102", "n101"]
    assert "start no other before" in " ".join(page.split())
    assert "\nElections by --elect-newest:\n" in page

    (tmp_path / "plan").rename(tmp_path / "first-plan")
    plan(tmp_path, *copies, "--voters", "1", "--elect-newest")

    page = (tmp_path / "plan/README.txt").read_text()
    assert re.search(
        r"^Elections:\n.*LEADER .*EPOCH.*\norders-0 +102 .* 5 +303$", page, re.MULTILINE
    )
    assert "start it once broker 102 runs" in run(tmp_path, 101)[1]
    assert "start it once" not in run(tmp_path, 102)[1]
