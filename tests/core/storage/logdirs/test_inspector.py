"""All that is known of the directories of a node, and what is wrong with them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.server.log_directory import LogDirectory
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.directories import read_directories
from kraftops.storage.logdirs.inspector import (
    LEGACY_PROBLEM,
    Finding,
    findings,
    kafka_problems,
)
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    SNAPSHOT,
    entries,
    format_node,
    locked,
    make_node,
)

NODE = Path()
ID = "JEXY6aqzQY-32P5TStzaFg"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def look() -> tuple[LogDirectory, ...]:
    return read_directories(load_config(PROPERTIES))


def found() -> list[Finding]:
    config = load_config(PROPERTIES)
    return list(findings(config, read_directories(config)))


def problems() -> list[str]:
    return list(kafka_problems(look()))


def write_meta(name: str, cluster_id: str = CLUSTER_ID, node_id: int = 1, **more: str) -> None:
    Path(name).mkdir(exist_ok=True)
    keys = {"version": "1", "cluster.id": cluster_id, "node.id": str(node_id)}
    keys |= {key.replace("_", "."): value for key, value in more.items()}
    text = "".join(f"{key}={value}\n" for key, value in keys.items())
    Path(name, META).write_text(text)


class TestState:
    def test_formatted_directory_is_known_whole(self) -> None:
        make_node(NODE, DYNAMIC)
        format_node(NODE, "-s")
        Path("d1").chmod(0o750)
        Path("d1/topic-0").mkdir()
        Path("d1/topic-1.0a-delete").mkdir()
        Path("d1/topic-2").touch()

        one, two = look()

        status, space = os.stat("d1"), os.statvfs("d1")
        assert one.status
        assert (one.status.user, one.status.group, one.status.mode) == (
            status.st_uid,
            status.st_gid,
            0o750,
        )
        assert one.status.size == space.f_blocks * space.f_frsize
        assert 0 < one.status.free <= one.status.size
        assert (one.exists, one.partition_count, one.holder, one.read_problem) == (
            True,
            2,
            None,
            None,
        )
        assert one.meta
        assert (one.meta.cluster_id, one.meta.node_id, one.meta.version) == (CLUSTER_ID, 1, 1)
        assert one.bootstrap
        assert one.bootstrap.features["metadata.version"] == 30
        assert one.log
        assert one.log.quorum.voters
        assert one.log.quorum.voters[0].directory_id == one.meta.directory_id
        assert two.log is None
        assert two.bootstrap

    @pytest.mark.parametrize(
        ("name", "exists", "has_place"),
        [("nothing", False, False), ("file", True, False), ("empty", True, True)],
    )
    def test_missing_directory_or_file_has_no_status(
        self, name: str, *, exists: bool, has_place: bool
    ) -> None:
        make_node(NODE, log_dirs=name)
        Path("file").touch()
        Path("empty").mkdir()

        (state,) = look()

        assert (state.exists, state.status is not None) == (exists, has_place)
        assert (state.meta, state.bootstrap, state.log) == (None, None, None)
        assert state.partition_count == 0

    def test_holder_of_the_lock_is_known_and_the_lock_is_left_alone(self) -> None:
        make_node(NODE)
        format_node(NODE)
        with locked("d1") as pid:
            before = entries(NODE)
            holder, other = (directory.holder for directory in look())
            after = entries(NODE)

        assert holder
        assert holder.pid == pid
        assert other is None
        assert after == before

    def test_path_is_shown_as_kafka_normalizes_it(self) -> None:
        make_node(NODE, log_dirs="d1/,./d2,x//d3")

        assert [state.java_path for state in look()] == ["d1", "./d2", "x/d3"]


class TestKafkaProblems:
    @pytest.fixture(autouse=True)
    def node(self) -> None:
        make_node(NODE, log_dirs="c,b,a")

    def test_formatted_directories_have_no_problem(self) -> None:
        format_node(NODE)

        assert problems() == []

    def test_they_are_in_the_order_of_the_paths(self) -> None:
        Path("b").touch()
        Path("c").mkdir()

        assert problems() == ["a does not exist", "b is not a directory", "c is not formatted."]

    def test_ids_are_compared_with_the_first_directory(self) -> None:
        write_meta("a")
        write_meta("b", OTHER_ID, 2)
        write_meta("c", CLUSTER_ID, 2)

        assert problems() == [
            "Mismatched cluster IDs between storage directories.",
            "Mismatched node IDs between storage directories.",
        ]

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("version=2", "Unknown meta.properties version number 2"),
            ("version=one", "Invalid meta.properties version string 'one'"),
            ("version=1\ncluster.id=x", "Failed to find node.id"),
            ("version=1\nnode.id=1", "cluster.id was not found."),
        ],
    )
    def test_bad_meta_properties_is_a_problem(self, content: str, reason: str) -> None:
        write_meta("a")
        write_meta("b")
        write_meta("c")
        Path("b", META).write_text(content)

        assert problems() == [f"Error loading b/meta.properties: {reason}"]

    def test_version_0_in_the_first_directory_is_a_problem(self) -> None:
        for name in ("b", "c"):
            write_meta(name)
        Path("a").mkdir()
        Path("a", META).write_text(f"version=0\nbroker.id=1\ncluster.id={CLUSTER_ID}\n")
        first = problems()
        write_meta("a")
        Path("b", META).write_text(f"version=0\nbroker.id=1\ncluster.id={CLUSTER_ID}\n")

        assert first == [LEGACY_PROBLEM]
        assert problems() == []


class TestFindings:
    """Findings that Kafka's tool does not report."""

    @pytest.fixture(autouse=True)
    def node(self) -> Iterator[None]:
        make_node(NODE)
        format_node(NODE)
        assert found() == []
        yield
        # Each can be shown to people: on one line, with a cure.
        for finding in found():
            assert finding.cure
            assert "\n" not in f"{finding}{finding.remedy}"

    def test_other_node(self) -> None:
        make_node(NODE, node_id="7", controller_quorum_voters="7@localhost:29093")

        assert [finding.place.path for finding in found()] == ["d1", "d2"]
        assert found()[0].text == "it is of node 1, the configuration of node 7"
        assert "node.id=1" in found()[0].cure

    def test_reserved_directory_id(self) -> None:
        write_meta("d2", directory_id="AAAAAAAAAAAAAAAAAAAAAg")

        (finding,) = found()

        assert str(finding) == "d2: its directory id AAAAAAAAAAAAAAAAAAAAAg is a reserved one"

    def test_shared_directory_id(self) -> None:
        write_meta("d1", directory_id=ID)
        write_meta("d2", directory_id=f"{ID}==")

        (finding,) = found()

        assert str(finding) == f"d2: its directory id {ID} is also the id of d1"

    def test_missing_directory_id_is_no_finding(self) -> None:
        """A server makes it."""
        write_meta("d1")
        write_meta("d2")

        assert found() == []

    @pytest.mark.parametrize("place", ["d1", "d2"])
    def test_missing_bootstrap_file_matters_in_the_metadata_directory(self, place: str) -> None:
        Path(place, "bootstrap.checkpoint").unlink()

        assert [finding.place.path for finding in found()] == (["d1"] if place == "d1" else [])

    def test_missing_bootstrap_file_is_none_once_the_cluster_has_begun(self) -> None:
        Path("d1/bootstrap.checkpoint").unlink()
        Path("d1/__cluster_metadata-0").mkdir()
        Path("d1/__cluster_metadata-0/00000000000000000000.log").write_bytes(b"x")

        assert found() == []

    def test_damaged_bootstrap_file(self) -> None:
        path = Path("d1/bootstrap.checkpoint")
        path.write_bytes(path.read_bytes()[:-3])

        (finding,) = found()

        assert "d1/bootstrap.checkpoint" in str(finding)
        assert "not a whole batch" in str(finding)

    def test_lock_that_cannot_be_looked_at(self) -> None:
        Path("d2/.lock").unlink()
        Path("d2/.lock").symlink_to(".lock")

        (finding,) = found()

        assert finding.place.path == "d2"
        assert "Too many levels of symbolic links" in finding.text


def test_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the directories are bad in every way."""
    make_node(NODE, DYNAMIC, log_dirs="d1,d2,d3,nothing")
    Path("d2").mkdir()
    Path("d3").mkdir()
    Path("d3", META).write_text("version=9")
    format_node(NODE, "-s")
    Path("d1", SNAPSHOT).write_bytes(b"x")
    before = {path: path.stat() for path in Path().rglob("*")}

    list(kafka_problems(look()))
    found()

    after = {path: path.stat() for path in Path().rglob("*")}
    assert {path: status.st_mtime_ns for path, status in after.items()} == {
        path: status.st_mtime_ns for path, status in before.items()
    }
