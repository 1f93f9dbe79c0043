"""`kafka-storage recover` chooses a log, writes new voters, and refuses harm."""

import json
import os
import pty
import shlex
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftops.server.metadata_log.log import read_metadata_log
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import (
    no_ops,
    records_batch,
    snapshot_bytes,
    write_log,
)
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    assigned,
    partition,
    topic,
    write_metadata,
)
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    IDS,
    MORE,
    VOTERS,
    broker,
    controller,
    log_files,
    other_node,
    recover,
    recovery_data,
    refusal,
    survivor,
    write_meta,
)
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    META,
    OTHER_ID,
    PROPERTIES,
    locked,
    storage,
)
from tests.helpers.tools.console import STORAGE

SEGMENT = "00000000000000000000.log"


def whole_log(node: Path, directory: str = "meta") -> bytes:
    files = log_files(node, directory)
    return b"".join(files[name] for name in sorted(files) if name.endswith(".log"))


def voters(node: Path) -> list[str]:
    log = read_metadata_log(str(node / "meta"))
    assert log
    assert log.damage == ()
    return [str(voter) for voter in log.quorum.voters or ()]


def codes(found: dict[str, Any]) -> list[str]:
    """Return the codes of findings, but that the logs of most voters were not given."""
    listed = [finding["code"] for finding in found["findings"]]
    listed.remove("voters-not-given")
    return listed


class TestSelf:
    """A survivor of three goes on alone."""

    def test_batch_is_a_new_segment_and_other_files_stay(self, tmp_path: Path) -> None:
        node = survivor(tmp_path, *MORE)
        before = log_files(node)

        found = recovery_data(node, "--voters", "self")

        added = log_files(node)
        assert {name: added.pop(name) for name in before} == before
        assert [*added] == ["00000000000000000010.log"]
        assert (found["offset"], found["epoch"], found["changed"]) == (10, 1_000_002, True)
        assert voters(node) == [f"1@localhost:29093:{to_text(IDS[1])}"]

    def test_epoch_is_above_those_that_lost_controllers_may_have_had(self, tmp_path: Path) -> None:
        """Else a broker with their records takes two batches of one epoch for equal."""
        node = survivor(tmp_path, *MORE)
        state = {"leaderId": 2, "leaderEpoch": 7, "votedId": -1, "data_version": 1}
        state["votedDirectoryId"] = to_text(IDS[2])
        text = json.dumps(state)
        (node / "meta/__cluster_metadata-0/quorum-state").write_text(text)

        assert recovery_data(node, "--voters", "self")["epoch"] == 1_000_007

    def test_second_recovery_changes_nothing(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        recovery_data(node, "--voters", "self")
        before = log_files(node)

        found = recovery_data(node, "--voters", "self")

        assert (found["changed"], found["offset"], log_files(node)) == (False, None, before)

    def test_dry_run_writes_nothing(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        before = sorted(tmp_path.rglob("*"))

        found = recovery_data(node, "--voters", "self", "--dry-run")

        assert (found["changed"], found["offset"]) == (False, 5)
        assert sorted(tmp_path.rglob("*")) == before

    def test_static_quorum_gets_a_kraft_version(self, tmp_path: Path) -> None:
        node = controller(tmp_path)
        write_log(node / "meta", {0: BEGINNING[2:3] and [no_ops(0, 3), BEGINNING[3]]})

        recovery_data(node, "--voters", "self")

        log = read_metadata_log(str(node / "meta"))
        assert log
        assert log.quorum.kraft_version == 1
        assert len(log.quorum.voters or ()) == 1

    def test_unfinished_end_is_cut_off(self, tmp_path: Path) -> None:
        node = survivor(tmp_path, *MORE)
        segment = node / "meta/__cluster_metadata-0" / SEGMENT
        segment.write_bytes(segment.read_bytes()[:-3])

        found = recovery_data(node, "--voters", "self")

        assert found["offset"] == 7
        assert codes(found) == ["torn-tail"]
        assert [*log_files(node)] == [SEGMENT]
        assert voters(node) == [f"1@localhost:29093:{to_text(IDS[1])}"]

    def test_empty_last_segment_is_replaced(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        last = node / "meta/__cluster_metadata-0/00000000000000000005.log"
        last.touch()

        recovery_data(node, "--voters", "self")

        assert last.stat().st_size > 0
        assert voters(node) == [f"1@localhost:29093:{to_text(IDS[1])}"]

    def test_epoch_of_an_empty_log_comes_from_its_snapshot(self, tmp_path: Path) -> None:
        node = controller(tmp_path)
        snapshot = snapshot_bytes(*BEGINNING, end=5)
        write_log(node / "meta", {100: []}, {(100, 6): snapshot})

        found = recovery_data(node, "--voters", "self")

        assert (found["offset"], found["epoch"]) == (100, 1_000_006)
        assert voters(node) == [f"1@localhost:29093:{to_text(IDS[1])}"]

    def test_segments_before_a_newer_snapshot_are_removed(self, tmp_path: Path) -> None:
        """A server drops them; behind the batch they would be a log with a hole."""
        node = survivor(tmp_path)
        write_log(node / "meta", None, {(100, 6): snapshot_bytes(*BEGINNING, end=5)})

        found = recovery_data(node, "--voters", "self")

        assert found["offset"] == 100
        names = ["00000000000000000100-0000000006.checkpoint", "00000000000000000100.log"]
        assert sorted(log_files(node)) == names


class TestRanking:
    """The log goes on that is best by epoch, then offset."""

    def test_longer_log_is_copied_and_ends_with_the_batch(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        other_node(tmp_path / "b4", 4, *MORE)

        found = recovery_data(node, "--voters", "self", f"--from={tmp_path / 'b4'}")

        assert [one["isOwn"] for one in found["logs"]] == [False, True]
        assert found["offset"] == 10
        expected = b"".join([*BEGINNING, *MORE])
        assert whole_log(node)[: len(expected)] == expected
        assert len(voters(node)) == 1

    def test_higher_epoch_beats_a_longer_log_and_lost_names_are_listed(
        self, tmp_path: Path
    ) -> None:
        node = survivor(tmp_path / "n1", no_ops(5, 2, epoch=3))
        other_node(tmp_path / "b4", 4, *MORE)

        found = recovery_data(node, "--voters", "self", f"--from={tmp_path / 'b4'}")

        best, second = found["logs"]
        assert best["isOwn"]
        assert (second["equalUpTo"], second["ahead"]) == (5, 5)
        assert second["lacking"] == {
            "topics": ["late"],
            "configurations": ["TOPIC:kept retention.ms"],
        }
        assert found["epoch"] == 1_000_003

    def test_own_log_is_replaced_from_the_first_difference(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1", *MORE)
        folder = node / "meta/__cluster_metadata-0"
        (folder / "leader-epoch-checkpoint").write_text("0\n1\n1 0\n")
        (folder / "00000000000000000000.index").write_bytes(bytes(8))
        other_node(tmp_path / "c2", 2, no_ops(5, 2, epoch=3))

        recovery_data(node, "--voters", "self", f"--from={tmp_path / 'c2'}")

        expected = b"".join([*BEGINNING, no_ops(5, 2, epoch=3)])
        assert whole_log(node)[: len(expected)] == expected
        assert [*log_files(node)] == [SEGMENT]

    def test_log_that_begins_with_a_snapshot_is_copied_with_it(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        source = tmp_path / "b4"
        source.mkdir()
        write_meta(source, 4)
        snapshot = snapshot_bytes(*BEGINNING, end=5)
        write_log(source, {50: [no_ops(50, 20, epoch=4)]}, {(60, 4): snapshot})
        before = log_files(tmp_path, "b4")

        recovery_data(node, "--voters", "self", f"--from={source}")

        assert log_files(tmp_path, "b4") == before
        assert sorted(log_files(node)) == ["00000000000000000050.log", *sorted(before)[1:]]
        assert len(voters(node)) == 1

    @pytest.mark.parametrize(
        ("start", "snapshots"),
        [
            pytest.param(50, 1, id="needed"),
            pytest.param(0, 1, id="extra"),
            pytest.param(0, 0, id="own"),
        ],
    )
    def test_damaged_snapshot_of_the_own_log_is_replaced(
        self, tmp_path: Path, start: int, snapshots: int
    ) -> None:
        """The segments may be equal; the server would load the snapshot all the same."""
        node = controller(tmp_path / "n1")
        source = tmp_path / "b4"
        source.mkdir()
        write_meta(source, 4)
        snapshot = snapshot_bytes(*BEGINNING, end=5)
        batches = [no_ops(50, 20, epoch=4)] if start else [*BEGINNING, no_ops(5, 65, epoch=4)]
        write_log(source, {start: batches}, {(60, 4): snapshot} if snapshots else {})
        write_log(node / "meta", {start: batches}, {(60, 4): snapshot[:-9]})
        before = log_files(node)

        found = recovery_data(node, "--voters", "self", f"--from={source}")

        assert [one["damage"] is None for one in found["logs"]] == [True, False]
        assert len(voters(node)) == 1
        assert recovery_data(node, "--undo")["changed"] is True
        assert log_files(node) == before

    def test_hole_in_the_own_log_is_filled(self, tmp_path: Path) -> None:
        """The segments behind it are those of the other log."""
        node = controller(tmp_path / "n1")
        batches: dict[int, list[bytes]] = {0: BEGINNING, 5: MORE}
        write_log(node / "meta", {5: MORE})
        other_node(tmp_path / "b4", 4)
        write_log(tmp_path / "b4", batches)

        recovery_data(node, "--voters", "self", f"--from={tmp_path / 'b4'}")

        assert whole_log(node).startswith(b"".join([*BEGINNING, *MORE]))
        assert len(voters(node)) == 1

    def test_log_of_a_broker_replaces_an_empty_log(self, tmp_path: Path) -> None:
        """A formatted directory without a log, and the copy of a broker, in an archive."""
        node = controller(tmp_path / "n1")
        write_meta(node / "meta", 1, directory_id="3Db5QLSqSZieL3rJBUUegA")
        other_node(tmp_path / "b4", 4, *MORE)
        archive = tmp_path / "copy.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(tmp_path / "b4", "data")

        found = recovery_data(node, "--voters", "self", f"--from={archive}")

        assert found["lostVoters"] == [2, 3]
        assert voters(node) == ["1@localhost:29093:3Db5QLSqSZieL3rJBUUegA"]


class TestChoice:
    """A person may choose another log than the best."""

    def test_shorter_log_goes_on(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1", *MORE)
        other_node(tmp_path / "c2", 2)

        found = recovery_data(
            node, "--voters", "self", "--from", f"{tmp_path}/c2", "--choose", f"{tmp_path}/c2"
        )

        assert [one["isChosen"] for one in found["logs"]] == [True, False]
        assert found["logs"][1]["lacking"]["topics"] == ["late"]
        assert (found["offset"], found["epoch"]) == (5, 1_000_002)
        assert whole_log(node).startswith(b"".join(BEGINNING))
        assert voters(node) == [f"1@localhost:29093:{to_text(IDS[1])}"]

    def test_rival_history_of_voters_with_empty_disks_is_left(self, tmp_path: Path) -> None:
        """Its epoch is higher, and its first batch another one."""
        node = survivor(tmp_path / "n1", *MORE)
        rival = other_node(tmp_path / "c2", 2)
        write_log(rival, {0: [no_ops(0, 3, epoch=9)]})
        args = ("--voters", "self", f"--from={rival}")

        assert refusal(node, *args)["error"] == "other-log"
        found = recovery_data(node, *args, "--choose", "meta")

        assert (found["offset"], found["epoch"]) == (10, 1_000_009)
        assert whole_log(node).startswith(b"".join([*BEGINNING, *MORE]))

    def test_controller_of_a_rival_history_gets_the_old_log(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        write_log(node / "meta", {0: [no_ops(0, 3, epoch=9)]})
        other_node(tmp_path / "c2", 2, *MORE)
        source = str(tmp_path / "c2")

        recovery_data(node, "--voters", "self", "--from", source, "--choose", source)

        assert whole_log(node).startswith(b"".join([*BEGINNING, *MORE]))
        assert len(voters(node)) == 1
        assert recovery_data(node, "--undo")["changed"] is True
        assert whole_log(node) == no_ops(0, 3, epoch=9)

    def test_log_with_a_damaged_end_goes_on_from_what_is_sound(self, tmp_path: Path) -> None:
        node = survivor(tmp_path, *MORE)
        flip(node, len(b"".join(BEGINNING)) + 70)

        assert "--choose" in refusal(node, "--voters", "self")["hint"]
        found = recovery_data(node, "--voters", "self", "--choose", "meta")

        assert (found["offset"], found["epoch"]) == (5, 1_000_002)
        assert codes(found) == ["damage"]
        assert whole_log(node).startswith(b"".join(BEGINNING))
        assert voters(node) == [f"1@localhost:29093:{to_text(IDS[1])}"]

    def test_unknown_log_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)

        found = refusal(node, "--voters", "self", "--choose", "c9", code=4)

        assert (found["error"], found["hint"]) == ("not-found", "they are: meta")


def all_voters(**hosts: str) -> str:
    return ",".join(
        f"{node_id}@{hosts.get(f'h{node_id}', 'localhost')}:29093:{to_text(identity)}"
        for node_id, identity in VOTERS
    )


class TestSeveralVoters:
    """The quorum stays, elsewhere or under other ids, and all logs are equal then."""

    def nodes(self, folder: Path) -> list[Path]:
        batches = {1: MORE, 2: [], 3: MORE[:1]}
        nodes = []
        for node_id, rest in batches.items():
            node = controller(folder / f"n{node_id}", node_id)
            write_log(node / "meta", {0: [*BEGINNING, *rest]})
            nodes.append(node)
        return nodes

    def test_hosts_change_and_all_logs_are_equal(self, tmp_path: Path) -> None:
        first, *others = self.nodes(tmp_path)
        move = ("--listener-hosts", "localhost=kafka.example")
        sources = [f"--from={node / 'meta'}" for node in others]

        recovery_data(first, *move, *sources)
        for node in others:
            assert recovery_data(node, *move, f"--from={first / 'meta'}")["offset"] is None

        assert len({whole_log(node) for node in [first, *others]}) == 1
        for node in [first, *others]:
            assert voters(node) == all_voters(
                h1="kafka.example", h2="kafka.example", h3="kafka.example"
            ).split(",")
            again = recovery_data(
                node, *move, f"--from={first / 'meta'}", f"--from={others[0] / 'meta'}"
            )
            assert again["changed"] is False

    def test_advice_names_the_plan_for_other_nodes(self, tmp_path: Path) -> None:
        first, *others = self.nodes(tmp_path)
        sources = [f"--from={node / 'meta'}" for node in others]

        found = recovery_data(first, "--listener-hosts", "localhost:29093=a b:1", *sources)

        (text,) = [step["text"] for step in found["nextSteps"] if "recover-plan" in step["text"]]
        assert text.startswith("give voters 2 and 3 the same log")

    def test_named_voters_are_written(self, tmp_path: Path) -> None:
        first, second, third = self.nodes(tmp_path)
        new = "3Db5QLSqSZieL3rJBUUegA"
        write_meta(third / "meta", 3, directory_id=new)
        named = all_voters().replace(to_text(IDS[3]), new)
        sources = [f"--from={node / 'meta'}" for node in (first, second, third)]

        recovery_data(first, "--voters", named, *sources)

        assert voters(first) == named.split(",")

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            pytest.param(lambda text: text.split(",", 1)[1], "not-a-voter", id="without-this-node"),
            pytest.param(
                lambda text: text.replace(to_text(IDS[1]), "3Db5QLSqSZieL3rJBUUegA"),
                "other-directory-id",
                id="id-of-this-node",
            ),
            pytest.param(
                lambda text: text.replace(to_text(IDS[2]), "3Db5QLSqSZieL3rJBUUegA"),
                "other-directory-id",
                id="id-of-another",
            ),
            pytest.param(
                lambda text: f"{text},4@localhost:1:3Db5QLSqSZieL3rJBUUegA",
                "unknown-voter",
                id="new-voter",
            ),
        ],
    )
    def test_harmful_voters_are_refused(
        self, tmp_path: Path, change: Callable[[str], str], code: str
    ) -> None:
        first, *others = self.nodes(tmp_path)
        sources = [f"--from={node / 'meta'}" for node in others]

        assert refusal(first, "--voters", change(all_voters()), *sources)["error"] == code

    def test_empty_disk_never_votes(self, tmp_path: Path) -> None:
        first, second, third = self.nodes(tmp_path)
        for path in (third / "meta/__cluster_metadata-0").iterdir():
            path.unlink()
        sources = [f"--from={node / 'meta'}" for node in (first, second, third)]

        assert refusal(first, "--voters", all_voters(), *sources)["error"] == "empty-voter"
        assert refusal(third, "--voters", all_voters(), *sources)["error"] == "empty-voter"
        assert refusal(third, "--voters", "self", *sources)["error"] == "empty-voter"

    def test_minority_of_the_logs_is_refused(self, tmp_path: Path) -> None:
        first, *_ = self.nodes(tmp_path)

        assert refusal(first, "--voters", all_voters())["error"] == "minority"
        found = refusal(first, "--listener-hosts", "localhost=other")
        assert found["error"] == "minority"
        assert "--voters self" in found["hint"]

    def test_host_without_a_voter_is_refused(self, tmp_path: Path) -> None:
        first, *_ = self.nodes(tmp_path)

        assert refusal(first, "--listener-hosts", "elsewhere=other")["error"] == "unknown-host"

    def test_two_voters_at_one_address_are_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        other_node(node / "c2", 2)
        hosts = {1: "a", 2: "b", 3: "c"}
        named = ",".join(f"{each}@{host}:1:{to_text(IDS[each])}" for each, host in hosts.items())
        recovery_data(node, "--voters", named, "--from", "c2")

        error = refusal(node, "--listener-hosts", "b=c", "--from", "c2")

        assert error["error"] == "same-address"
        assert "voters 2 and 3 are both to be at c:1" in error["message"]


def flip(node: Path, position: int) -> None:
    path = node / "meta/__cluster_metadata-0" / SEGMENT
    data = bytearray(path.read_bytes())
    data[position] ^= 0xFF
    path.write_bytes(data)


class TestRefusals:
    """Each with its code, and nothing is written."""

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            pytest.param(lambda node: (node / "meta" / META).unlink(), "not-formatted", id="meta"),
            pytest.param(
                lambda node: (node / "meta" / META).write_text("version=3\n"),
                "not-formatted",
                id="odd-meta",
            ),
            pytest.param(lambda node: write_meta(node / "meta", 2), "other-identity", id="node-id"),
            pytest.param(
                lambda node: (node / "meta" / META).write_text(
                    f"version=1\nnode.id=1\ncluster.id={CLUSTER_ID}\n"
                ),
                "no-identity",
                id="no-directory-id",
            ),
            pytest.param(lambda node: flip(node, 100), "damaged", id="damaged"),
            pytest.param(
                lambda node: write_log(node / "meta", {0: [], 50: [no_ops(50, 1)]}),
                "damaged",
                id="hole",
            ),
            pytest.param(
                lambda node: write_log(node / "meta", None, {(5, 1): b"\0" * 100}),
                "damaged",
                id="snapshot",
            ),
            pytest.param(lambda node: write_log(node / "meta", {0: []}), "no-records", id="empty"),
            pytest.param(
                lambda node: write_log(node / "meta", {5: [no_ops(5, 1, epoch=0x7FFFFFFE)]}),
                "last-epoch",
                id="last-epoch",
            ),
        ],
    )
    def test_unusable_own_directory_is_refused(
        self, tmp_path: Path, change: Callable[[Path], object], code: str
    ) -> None:
        node = survivor(tmp_path)
        change(node)
        before = log_files(node)

        assert refusal(node, "--voters", "self")["error"] == code
        assert log_files(node) == before

    def test_running_node_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)

        with locked(node / "meta"):
            assert refusal(node, "--voters", "self")["error"] == "running"

    def test_running_other_node_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        source = other_node(tmp_path / "b4", 4)

        with locked(source):
            found = refusal(node, "--voters", "self", f"--from={source}/__cluster_metadata-0")
        assert found["error"] == "running"

    def test_broker_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        text = (node / "server.properties").read_text()
        text = text.replace("roles=controller", "roles=broker")
        text = text.replace("listeners=CONTROLLER", "listeners=PLAINTEXT")
        (node / "server.properties").write_text(text)

        assert refusal(node, "--voters", "self")["error"] == "no-controller"

    def test_log_with_another_cluster_id_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        source = other_node(tmp_path / "b4", 4)
        write_meta(source, 4, OTHER_ID)

        assert refusal(node, "--voters", "self", f"--from={source}")["error"] == "other-cluster"

    def test_log_with_another_first_batch_is_refused(self, tmp_path: Path) -> None:
        """It has no meta.properties, but another first batch."""
        node = survivor(tmp_path / "n1")
        folder = write_log(tmp_path / "b4", {0: [no_ops(0, 100, epoch=5)]})

        assert refusal(node, "--voters", "self", f"--from={folder}")["error"] == "other-log"

    def test_missing_source_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")

        assert refusal(node, "--voters", "self", "--from=no", code=4)["error"] == "not-found"

    def test_source_without_a_log_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        (tmp_path / "empty").mkdir()
        (tmp_path / "text").write_text("no archive")

        for name, error, code in (("empty", "no-log", 3), ("text", "no-archive", 1)):
            source = f"--from={tmp_path / name}"
            assert refusal(node, "--voters", "self", source, code=code)["error"] == error

    def test_ids_are_words_of_a_plan_for_the_cluster(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")

        done = recover(node, "--voters", "1,3")

        assert done.code == 1
        assert "expected self, or ID@HOST:PORT:DIRECTORY_ID" in done.err
        assert "recover-plan" in done.err

    def test_recovery_off_a_terminal_needs_yes(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        before = log_files(node)

        done = storage(node, "recover", "-c", "server.properties", "--voters", "self")

        assert done.code == 3
        assert (
            done.errors[0]
            == "kafka-storage: nothing was written: the question was not answered with 2,3 [not-confirmed]"
        )
        assert "Logs, the best first: it is continued\n" in done.text
        assert log_files(node) == before

    def test_conflicting_arguments_are_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)

        for args in (
            ["--voters", "1@"],
            ["--listener-hosts", "a"],
            [],
            ["--voters", "self", "--undo"],
            ["--voters", ""],
            ["--listener-hosts", ""],
            ["--undo", "--choose", "meta"],
            ["--undo", "--from", "meta"],
            ["--undo", "--log-dirs", "meta"],
        ):
            done = recover(node, *args)
            assert done.code == 1, args


class TestUndo:
    """The old log is restored, until a server has run."""

    def test_undo_restores_every_file(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1", *MORE)
        (node / "meta/__cluster_metadata-0/leader-epoch-checkpoint").write_text("0\n1\n1 0\n")
        other_node(tmp_path / "c2", 2, no_ops(5, 2, epoch=3))
        before = log_files(node)
        recovery_data(node, "--voters", "self", f"--from={tmp_path / 'c2'}")
        assert log_files(node) != before

        assert recovery_data(node, "--undo")["changed"] is True
        assert log_files(node) == before
        assert recovery_data(node, "--undo")["changed"] is False

    def test_recoveries_are_undone_one_by_one(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1", *MORE)
        other_node(tmp_path / "c2", 2)
        before = log_files(node)
        recovery_data(node, "--voters", "self")
        between = log_files(node)
        source = str(tmp_path / "c2")
        recovery_data(node, "--voters", "self", "--from", source, "--choose", source)

        for files, changed in ((between, True), (before, True), (before, False)):
            assert recovery_data(node, "--undo")["changed"] is changed
            assert log_files(node) == files

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
    @pytest.mark.parametrize("form", ["text", "json"])
    def test_copy_is_named_where_the_answer_cannot_be_written(
        self, tmp_path: Path, form: str
    ) -> None:
        """In text, what would be lost cannot be written either: then nothing is changed."""
        node = survivor(tmp_path / "n1")
        before = log_files(node)
        command = [STORAGE, "recover", "-c", PROPERTIES, "--voters", "self", "--yes"]
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [*command, "--format", form],
                cwd=node,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
                timeout=60,
            )

        assert done.returncode == 1
        assert b"No space left on device" in done.stderr
        assert (log_files(node) == before) == (form == "text")
        assert (b"/before-recover-" in done.stderr) == (form == "json")

    def test_undo_from_a_named_backup(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        before = log_files(node)
        place = str(tmp_path / "safe")

        found = recovery_data(node, "--voters", "self", "--backup", place)

        assert found["backup"].startswith(f"{place}/before-recover-")
        assert {path.name for path in Path(found["backup"]).iterdir()} == {
            SEGMENT,
            META,
            "recover.json",
        }
        assert refusal(node, "--undo")["error"] == "no-backup"
        assert recovery_data(node, "--undo", "--backup", place)["changed"] is True
        assert log_files(node) == before

    def test_command_that_undoes_it_is_printed_for_a_shell(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "n1")
        before = log_files(node)
        for place in ([], ["--backup", str(tmp_path / "a safe place")]):
            done = recover(node, "--voters", "self", *place)
            command = next(line for line in done.text.splitlines() if " --undo" in line)

            assert recover(node, *shlex.split(command)[4:]).code == 0
            assert log_files(node) == before

    def test_dry_undo_writes_nothing(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        recovery_data(node, "--voters", "self")
        recovered = log_files(node)

        assert recovery_data(node, "--undo", "--dry-run")["changed"] is False
        assert "Nothing was written" in recover(node, "--undo", "--dry-run").text
        assert log_files(node) == recovered

    def test_backup_in_a_log_directory_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)

        found = refusal(node, "--voters", "self", "--backup", "meta", "--dry-run")

        assert found["error"] == "in-log-directory"

    def test_log_under_two_names_is_read_once(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        other_node(node / "c2", 2)
        names = ["--from", "c2", "--from", "./c2/__cluster_metadata-0"]

        found = recovery_data(node, "--voters", "self", *names, "--force", "--dry-run")

        assert [log["name"] for log in found["logs"]] == ["meta", "c2"]

    def test_undo_without_a_backup_is_refused(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)

        assert recovery_data(node, "--voters", "self", "--no-backup")["backup"] is None
        assert refusal(node, "--undo")["error"] == "no-backup"

    def test_backup_of_another_node_is_refused(self, tmp_path: Path) -> None:
        nodes = [survivor(tmp_path / "n1"), survivor(tmp_path / "n2")]
        write_meta(nodes[1] / "meta", 1, directory_id="3Db5QLSqSZieL3rJBUUegA")
        place = str(tmp_path / "safe")
        recovery_data(nodes[0], "--voters", "self", "--backup", place)

        assert refusal(nodes[1], "--undo", "--backup", place)["error"] == "other-backup"

    @pytest.mark.parametrize("name", [SEGMENT, "00000000000000000005.log", "quorum-state"])
    def test_undo_after_the_start_of_a_server_is_refused(self, tmp_path: Path, name: str) -> None:
        node = survivor(tmp_path)
        recovery_data(node, "--voters", "self")
        with (node / "meta/__cluster_metadata-0" / name).open("ab") as file:
            file.write(b"more")

        assert refusal(node, "--undo")["error"] == "started"


class TestText:
    """The text for people."""

    def test_text_has_losses_changes_and_next_steps(self, tmp_path: Path) -> None:
        node = survivor(tmp_path / "a node", no_ops(5, 2, epoch=3))
        other_node(tmp_path / "b4", 4, *MORE)

        done = recover(node, "--voters", "self", f"--from={tmp_path / 'b4'}")

        assert done.code == 0, done.err
        log = str(tmp_path / "b4")
        assert f"loss: {log}: its offsets 5 to 9 would be lost [records-given-up]\n" in done.text
        assert f"evidence: {log}: topics: late\n" in done.text
        assert f"evidence: {log}: configurations: TOPIC:kept retention.ms\n" in done.text
        commands = [
            line.strip() for line in done.text.splitlines() if "kafka-storage format" in line
        ]
        assert shlex.split(commands[0])[2:] == [
            f"--cluster-id={CLUSTER_ID}",
            "--no-initial-controllers",
            "--release-version",
            "4.3-IV0",
            "-c",
            "$CONFIG",
        ]

    def test_commands_are_quoted(self, tmp_path: Path) -> None:
        node = survivor(tmp_path)
        odd = "x; touch z $(id)"
        write_meta(node / "meta", 1, odd)

        done = recover(node, "--voters", "self")

        (line, *_) = [line for line in done.text.splitlines() if "kafka-storage format" in line]
        assert f"--cluster-id={odd}" in shlex.split(line)


@pytest.mark.parametrize(("typed", "code"), [("2, 3\n", 0), ("2\n", 3), ("yes\n", 3), ("\x04", 3)])
def test_lost_voters_must_be_typed_on_a_terminal(tmp_path: Path, typed: str, code: int) -> None:
    node = survivor(tmp_path)
    pid, fd = pty.fork()
    if not pid:
        os.chdir(node)
        os.execl(STORAGE, STORAGE, "recover", "-c", "server.properties", "--voters", "self")
    shown = b""
    while b"Type the ids" not in shown or b"): " not in shown.split(b"Type the ids")[1]:
        shown += os.read(fd, 4096)
    os.write(fd, typed.encode())
    try:
        while rest := os.read(fd, 4096):
            shown += rest
    except OSError:
        pass
    os.close(fd)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code, shown
    assert ("00000000000000000005.log" in log_files(node)) == (code == 0)


def test_open_transaction_is_noted(tmp_path: Path) -> None:
    node = survivor(tmp_path, records_batch(5, ("BeginTransactionRecord", {"name": "x"})))

    found = recovery_data(node, "--voters", "self")

    assert codes(found) == ["open-transaction"]
    assert found["offset"] == 6


def test_stray_partitions_are_listed(tmp_path: Path) -> None:
    node = survivor(tmp_path / "n1")
    data = tmp_path / "data"
    (data / "late-0").mkdir(parents=True)
    write_meta(data, 4)
    (data / "late-0/partition.metadata").write_text(f"version: 0\ntopic_id: {to_text(IDS[4])}\n")
    (data / "late-0/00000000000000000000.log").write_bytes(bytes(1000))

    write_log(data, {0: BEGINNING})
    for option in ("--log-dirs", "--from"):
        found = recovery_data(node, "--voters", "self", option, str(data), "--dry-run")
        done = recover(node, "--voters", "self", option, str(data), "--dry-run")

        (stray, _) = found["findings"]
        assert (stray["code"], stray["severity"]) == ("unknown-topic", "loss")
        assert (stray["file"], stray["bytes"]) == (str(data / "late-0"), 1000)
        assert f"loss: {data / 'late-0'}: there is no topic late " in done.text


def test_strays_of_this_node_are_listed(tmp_path: Path) -> None:
    """A partition in another directory than assigned is none; a broker tells where it is."""
    node = controller(tmp_path / "n1")
    write_metadata(node / "meta", topic("t"), assigned(0, {1: D1}), assigned(1, {2: D2}))
    for name in ("t-0", "t-1"):
        partition(node / "meta", name)

    found = recovery_data(node, "--voters", "self", "--dry-run")

    assert [finding["file"] for finding in found["findings"] if finding["topic"]] == ["meta/t-1"]


def test_old_release_is_refused(tmp_path: Path) -> None:
    node = controller(tmp_path)
    features = [{"name": "metadata.version", "minSupportedVersion": 1, "maxSupportedVersion": 19}]
    registration = {
        "controllerId": 1,
        "incarnationId": bytes(16),
        "zkMigrationReady": False,
        "endPoints": [],
        "features": features,
    }
    batches = [*BEGINNING[2:3], records_batch(3, ("RegisterControllerRecord", registration))]
    write_log(node / "meta", {2: batches}, {(2, 1): snapshot_bytes(end=2)})

    assert refusal(node, "--voters", "self")["error"] == "old-release"


def test_brokers_without_a_log_are_named(tmp_path: Path) -> None:
    registrations = [records_batch(5 + at, broker(4 + at)) for at in range(2)]
    node = survivor(tmp_path / "n1", *registrations)
    source = other_node(tmp_path / "b4", 4, *registrations)

    found = recovery_data(node, "--voters", "self", f"--from={source}", "--unseen-broker=5")

    (risk, _) = found["findings"]
    assert (risk["code"], risk["text"]) == (
        "brokers-not-given",
        "the disk of broker 5 has not been read",
    )
    assert any("stop brokers 4 and 5:" in step["text"] for step in found["nextSteps"])


def test_broker_that_is_ahead_moves_its_log_away(tmp_path: Path) -> None:
    node = survivor(tmp_path / "n1", records_batch(5, broker(4)), no_ops(6, 2, epoch=5))
    source = other_node(tmp_path / "a b", 4, records_batch(5, broker(4)), *MORE[1:])

    found = recovery_data(node, "--voters", "self", f"--from={source}")

    (command,) = [step["command"] for step in found["nextSteps"] if "move its" in step["text"]]
    words = shlex.split(command)
    assert words[:2] == ["mv", str(source / "__cluster_metadata-0")]
    assert not words[2].startswith(str(source))


class TestRecoveredBefore:
    """A log that was recovered is no base for other voters, unless it is named."""

    def nodes(self, folder: Path) -> tuple[Path, Path]:
        """Make controller 1, and controller 3, which was recovered."""
        recovered = controller(folder / "n3", 3)
        write_log(recovered / "meta", {0: BEGINNING})
        recovery_data(recovered, "--voters", "self")
        return survivor(folder / "n1"), recovered / "meta"

    def test_other_voters_are_refused(self, tmp_path: Path) -> None:
        node, other = self.nodes(tmp_path)

        refused = refusal(node, "--voters", "self", f"--from={other}")

        assert (refused["error"], "--choose" in refused["hint"]) == ("already-recovered", True)
        assert refusal(other.parent, "--voters", all_voters())["error"] == "already-recovered"

    def test_named_log_goes_on_with_other_voters(self, tmp_path: Path) -> None:
        node, other = self.nodes(tmp_path)

        recovery_data(node, "--voters", "self", f"--from={other}", f"--choose={other}")

        assert voters(node) == [f"1@localhost:29093:{to_text(IDS[1])}"]

    def test_second_recovery_of_an_old_disk_names_the_first(self, tmp_path: Path) -> None:
        node, other = self.nodes(tmp_path)

        found = recovery_data(node, "--voters", "self", f"--from={other}", "--choose=meta")

        worst = found["findings"][0]
        assert (worst["code"], worst["severity"]) == ("rival-quorums", "loss")
        assert "from offset 5 on" in worst["text"]

    def test_rival_that_is_not_the_best_log_is_refused(self, tmp_path: Path) -> None:
        """The old voters have elected a leader since: their epoch is higher."""
        node, other = self.nodes(tmp_path)
        write_log(node / "meta", {0: [*BEGINNING, no_ops(5, 9, epoch=2_000_000)]})
        before = log_files(node)

        refused = refusal(node, "--voters", "self", f"--from={other}")

        assert refused["error"] == "already-recovered"
        assert "there would be two clusters with the same id" in refused["message"]
        assert log_files(node) == before
        found = recovery_data(node, "--voters", "self", f"--from={other}", "--choose=meta")
        assert found["lostVoters"] == [2, 3]

    def test_same_voters_get_the_same_log(self, tmp_path: Path) -> None:
        """Also one whose disk is empty: the log that was recovered has what most had."""
        first, second = survivor(tmp_path / "n1"), controller(tmp_path / "n2", 2)
        third = other_node(tmp_path / "c3", 3)
        names = ",".join(all_voters().split(",")[:2])
        write_meta(second / "meta", 2, directory_id="3Db5QLSqSZieL3rJBUUegA")
        names = names.replace(to_text(IDS[2]), "3Db5QLSqSZieL3rJBUUegA")
        sources = [f"--from={third}", f"--from={second / 'meta'}"]
        assert refusal(first, "--voters", names, *sources)["error"] == "empty-voter"

        write_log(second / "meta", {0: BEGINNING})
        recovery_data(first, "--voters", names, *sources)
        for path in (second / "meta/__cluster_metadata-0").iterdir():
            path.unlink()
        recovery_data(second, "--voters", names, f"--from={first / 'meta'}")

        assert whole_log(second) == whole_log(first)
