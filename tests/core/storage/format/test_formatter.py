"""Log directories are formatted as asked, or refused before anything is written."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import ConfigError, StorageError, UsageError
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format import formatter
from kraftops.storage.format.formatter import (
    FormatPlan,
    FormatRequest,
    Target,
    check_plan,
    format_directories,
    plan_format,
)
from kraftops.storage.logdirs import locks
from kraftops.storage.logdirs.locks import InUse, lock_holder
from kraftops.uuids import from_text, to_text
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    SNAPSHOT,
    STATIC,
    directory_ids,
    entries,
    formatted,
    locked,
    make_node,
    states,
    temporary_files,
)

NODE = Path()
A, B = "JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A"
BROKER = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:29092"}
CONTROLLER = {"process_roles": "controller", "listeners": "CONTROLLER://localhost:29093"}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of one's own, and spare the disk."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Set the umask until the test is over."""
    before = os.umask(0o22)
    yield os.umask
    os.umask(before)


def plan(cluster_id: str = CLUSTER_ID, **asked: Any) -> FormatPlan:
    return plan_format(load_config(PROPERTIES), FormatRequest(cluster_id=cluster_id, **asked))


def run(cluster_id: str = CLUSTER_ID, **asked: Any) -> list[Target]:
    planned = plan(cluster_id, **asked)
    check_plan(planned)
    return list(format_directories(planned))


def refusal(cluster_id: str = CLUSTER_ID, **asked: Any) -> str:
    """Return why a format is refused, before anything is written."""
    before = entries(NODE)
    with pytest.raises((UsageError, StorageError)) as refused:
        check_plan(plan(cluster_id, **asked))
    assert entries(NODE) == before
    return refused.value.message


def voter_id() -> bytes | None:
    log = states(NODE)["d1"].log
    return log.quorum.voters[0].directory_id if log and log.quorum.voters else None


def between(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen once, when the next format has made its directories."""
    take = locks.held

    def held(directory: str, owner: tuple[int, int] | None) -> AbstractContextManager[None]:
        monkeypatch.setattr(formatter, "held", take)
        happens()
        return take(directory, owner)

    monkeypatch.setattr(formatter, "held", held)


class TestPlan:
    @pytest.mark.parametrize(
        ("quorum", "changes", "asked", "kinds"),
        [
            pytest.param(STATIC, {}, {}, ("metadata", "data"), id="static"),
            pytest.param(
                STATIC, {"metadata_log_dir": "d2"}, {}, ("data", "metadata"), id="another first"
            ),
            pytest.param(
                STATIC, {"metadata_log_dir": "m"}, {}, ("data", "data", "metadata"), id="a third"
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"standalone": True},
                ("dynamic metadata voter", "data"),
                id="standalone",
            ),
            pytest.param(
                DYNAMIC, {}, {"no_initial_controllers": True}, ("metadata", "data"), id="joining"
            ),
            pytest.param(
                STATIC,
                {},
                {"no_initial_controllers": True},
                ("metadata", "data"),
                id="static, no initial controllers",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"1@a:1:{A},2@b:2:{B}"},
                ("dynamic metadata voter", "data"),
                id="a voter",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"2@b:2:{B}"},
                ("dynamic metadata", "data"),
                id="no voter",
            ),
            pytest.param(DYNAMIC, BROKER, {}, ("metadata", "data"), id="broker"),
            pytest.param(
                DYNAMIC,
                BROKER,
                {"initial_controllers": f"2@b:2:{B}"},
                ("dynamic metadata", "data"),
                id="broker with voters",
            ),
        ],
    )
    def test_directories_have_kafkas_kinds(
        self,
        quorum: dict[str, str],
        changes: dict[str, str],
        asked: dict[str, Any],
        kinds: tuple[str, ...],
    ) -> None:
        make_node(NODE, quorum, **changes)

        found = plan(**asked)

        assert [target.kind for target in found.targets] == [f"{kind} directory" for kind in kinds]
        for target in found.targets:
            names = [os.path.relpath(file.path, target.directory.path) for file in target.files]
            snapshot = [SNAPSHOT] if target.kind.startswith("dynamic") else []
            assert names == ["bootstrap.checkpoint", *snapshot, META]

    def test_voter_has_the_id_that_it_was_given(self) -> None:
        make_node(NODE, DYNAMIC)

        first, second = plan(initial_controllers=f"2@b:2:{B},1@a:1:{A}").targets

        assert first.directory_id == from_text(A)
        assert second.directory_id not in (from_text(A), from_text(B))

    def test_ids_are_new_and_not_anothers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not that of a voter, of a formatted directory or of a new one."""
        make_node(NODE, DYNAMIC, log_dirs="d1,d2")
        run(initial_controllers=f"1@a:1:{A}")
        made = iter([A, *directory_ids(NODE), B, OTHER_ID, OTHER_ID, CLUSTER_ID])
        monkeypatch.setattr(formatter, "random_uuid", lambda: from_text(next(made)))
        make_node(NODE, DYNAMIC, log_dirs="d1,d2,d3,d4")

        found = plan(initial_controllers=f"1@a:1:{A},2@b:2:{B}", ignore_formatted=True).targets

        assert [to_text(target.directory_id) for target in found] == [OTHER_ID, CLUSTER_ID]

    @pytest.mark.parametrize(
        ("changes", "host"),
        [
            ({}, "localhost"),
            ({"listeners": "PLAINTEXT://:1,CONTROLLER://:29093"}, "localhost"),
            ({"listeners": "PLAINTEXT://:1,CONTROLLER://[::1]:29093"}, "0:0:0:0:0:0:0:1"),
            (
                {"advertised_listeners": "PLAINTEXT://a:1,CONTROLLER://public.example:29093"},
                "public.example",
            ),
        ],
    )
    def test_lone_controller_votes_where_others_see_it(
        self, changes: dict[str, str], host: str
    ) -> None:
        make_node(NODE, DYNAMIC, **changes)

        found = plan(standalone=True)

        assert found.voters
        assert [(one.node_id, one.host, one.port) for one in found.voters] == [(1, host, 29093)]
        assert found.voters[0].directory_id == found.targets[0].directory_id

    @pytest.mark.parametrize(
        ("quorum", "changes", "asked", "message"),
        [
            pytest.param(
                STATIC, {}, {"release": "9.9"}, "Unknown metadata.version '9.9'. ", id="r"
            ),
            pytest.param(
                STATIC,
                {},
                {"features": ["x"]},
                "Can't parse feature=level string x: equals sign not found.",
                id="f",
            ),
            pytest.param(
                STATIC,
                {},
                {"standalone": True},
                "You cannot specify controller.quorum.voters and format the node with ",
                id="static and standalone",
            ),
            pytest.param(
                STATIC,
                {},
                {"initial_controllers": f"1@a:1:{A}"},
                "You cannot specify controller.quorum.voters and format the node with ",
                id="static and voters",
            ),
            pytest.param(
                DYNAMIC,
                BROKER,
                {"standalone": True},
                "You can only use --standalone on a controller.",
                id="standalone broker",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {},
                "Because controller.quorum.voters is not set on this controller, you must specify ",
                id="no choice",
            ),
            pytest.param(
                DYNAMIC, {}, {"initial_controllers": ""}, "No voters given.", id="no voters"
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"1@:1:{A}"},
                "voter 1 has no host",
                id="voter without a host",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": f"1@a:1:{A},2@b:2:{A}"},
                f"voters 1 and 2 have one directory id, {A}",
                id="shared directory id",
            ),
            pytest.param(
                DYNAMIC,
                {},
                {"initial_controllers": "1@a:1:AAAAAAAAAAAAAAAAAAAAAg"},
                "voter 1 has the reserved directory id AAAAAAAAAAAAAAAAAAAAAg",
                id="reserved directory id",
            ),
            pytest.param(
                STATIC,
                {},
                {"release": "3.5-IV1", "credentials": ["nonsense"]},
                "SCRAM is only supported in metadata.version 3.5-IV2 or later.",
                id="scram too early",
            ),
            pytest.param(
                STATIC,
                {},
                {"credentials": ["SCRAM-SHA-1=[name=a,password=b]"]},
                "The add-scram mechanism SCRAM-SHA-1 is not supported.",
                id="scram mechanism",
            ),
            pytest.param(
                STATIC, {"log_dirs": "d1,./d1"}, {}, "d1 and ./d1 are one directory", id="twice"
            ),
            pytest.param(
                STATIC,
                {"log_dirs": "d1", "metadata_log_dir": "d2/../d1"},
                {},
                "d1 and d2/../d1 are one directory",
                id="metadata directory under another name",
            ),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, quorum: dict[str, str], changes: dict[str, str], asked: dict[str, Any], message: str
    ) -> None:
        make_node(NODE, quorum, **changes)

        assert refusal(**asked).startswith(message)

    @pytest.mark.parametrize(
        "changes", [{"metadata_log_dir": " "}, {"log_dirs": " "}, {"log_dirs": "d1,,d2"}]
    )
    def test_blank_directories_are_refused(self, changes: dict[str, str]) -> None:
        make_node(NODE, **changes)

        with pytest.raises(ConfigError):
            load_config(PROPERTIES)


class TestFormatted:
    """What is formatted already."""

    def test_formatted_directory_is_refused_unless_it_is_to_be_ignored(self) -> None:
        make_node(NODE, log_dirs="d1")
        run()
        make_node(NODE, log_dirs="d1,d2")

        message = refusal()

        assert message == (
            "Log directory d1 is already formatted. Use --ignore-formatted to ignore this "
            "directory and format the others."
        )

    def test_only_new_directories_are_written(self) -> None:
        make_node(NODE, log_dirs="d1")
        run()
        before = [(path, path.stat()) for path in Path("d1").iterdir()]
        make_node(NODE, log_dirs="d1,d2")

        done = run(ignore_formatted=True)

        assert [target.directory.path for target in done] == ["d2"]
        assert formatted(NODE) == ["d1", "d2"]
        for path, status in before:
            assert (path, path.stat().st_mtime_ns) == (path, status.st_mtime_ns)
            assert path.stat().st_ino == status.st_ino

    def test_nothing_is_left_to_do(self) -> None:
        make_node(NODE)
        run()
        before = entries(NODE)

        done = run(ignore_formatted=True)

        assert done == []
        assert entries(NODE) == before

    @pytest.mark.parametrize("ignore_formatted", [False, True])
    def test_other_cluster_is_refused(self, *, ignore_formatted: bool) -> None:
        make_node(NODE, log_dirs="d2")
        run(OTHER_ID)
        make_node(NODE, log_dirs="d1,d2")

        message = refusal(ignore_formatted=ignore_formatted)

        assert message == (
            f"Invalid cluster.id in: d2/meta.properties. Expected {CLUSTER_ID}, but read {OTHER_ID}"
        )

    def test_other_node_is_refused(self) -> None:
        make_node(NODE)
        run()
        make_node(NODE, node_id="2", controller_quorum_voters="2@localhost:29093")

        assert refusal(ignore_formatted=True).startswith("Stored node id 1 doesn't match ")

    def test_copy_of_a_directory_is_refused(self) -> None:
        make_node(NODE)
        run()
        Path("d2/meta.properties").write_bytes(Path("d1/meta.properties").read_bytes())

        assert refusal(ignore_formatted=True).startswith("Duplicate directory ID Optional[")

    @pytest.mark.parametrize("content", ["", "version=0\n", "broker.id=1\n", "node.id=9\n"])
    def test_version_0_counts_as_formatted(self, content: str) -> None:
        make_node(NODE)
        Path("d1").mkdir()
        Path("d1/meta.properties").write_text(content)

        done = run(ignore_formatted=True)

        assert [target.directory.path for target in done] == ["d2"]
        assert Path("d1/meta.properties").read_text() == content
        assert os.listdir("d1") != []

    def test_version_0_of_another_broker_is_refused(self) -> None:
        make_node(NODE)
        Path("d1").mkdir()
        Path("d1/meta.properties").write_text("broker.id=7\n")

        assert refusal(ignore_formatted=True).startswith("Stored node id 7 doesn't match ")


class TestUnreadable:
    """Directories whose meta.properties cannot be read."""

    BAD: tuple[tuple[str, bytes | None, str], ...] = (
        ("version", b"version=2\n", "Unknown meta.properties version number 2"),
        ("missing key", b"version=1\nnode.id=1\n", "cluster.id was not found."),
        ("garbage", b"\\u\x00", "line 1: Malformed \\uxxxx encoding."),
        ("directory", None, "Is a directory"),
    )

    @pytest.fixture(params=BAD, ids=[name for name, _, _ in BAD])
    def problem(self, request: pytest.FixtureRequest) -> str:
        """A bad meta.properties in d2, and what is wrong with it."""
        _, content, problem = request.param
        Path("d2").mkdir()
        if content is None:
            Path("d2/meta.properties").mkdir()
        else:
            Path("d2/meta.properties").write_bytes(content)
        return str(problem)

    def test_data_directory_is_passed_over(self, problem: str) -> None:
        make_node(NODE)
        before = entries(Path("d2"))

        planned = plan()
        check_plan(planned)
        done = list(format_directories(planned))

        assert [(one.path, one.problem) for one in planned.unreadable] == [("d2", problem)]
        assert [target.directory.path for target in done] == ["d1"]
        assert entries(Path("d2")) == before

    def test_strict_refuses_it(self, problem: str) -> None:
        make_node(NODE)

        with pytest.raises(StorageError) as refused:
            check_plan(plan(), strict=True)

        assert refused.value.message == f"cannot read a log directory: d2/{META}: {problem}"

    def test_metadata_directory_is_refused(self, problem: str) -> None:
        make_node(NODE, metadata_log_dir="d2")

        assert refusal() == f"cannot read the metadata directory: d2/{META}: {problem}"

    def test_nothing_but_unreadable_directories_is_refused(self, problem: str) -> None:
        make_node(NODE, log_dirs="d2")

        assert refusal() == "No available log directories to format."
        assert problem


class TestPlaces:
    """Directories that are odd, or are none."""

    @pytest.mark.parametrize(
        "path",
        ["d1", "./d1", "d1/", "a/b/c", "a//b", "x/../d1", "d 1", "dä", "-d", "absolute"],
    )
    def test_path_may_be_relative_or_untidy(self, path: str, tmp_path: Path) -> None:
        written = str(tmp_path / "abs/d") if path == "absolute" else path
        Path("x").mkdir()
        make_node(NODE, log_dirs=written)

        (done,) = run()

        assert done.directory.path == written
        assert (Path(written) / META).is_file()
        assert temporary_files(NODE) == []

    def test_link_to_a_directory_is_followed(self) -> None:
        make_node(NODE, DYNAMIC, log_dirs="link,d2")
        Path("real/inner").mkdir(parents=True)
        Path("link").symlink_to("real/inner")

        run(standalone=True)

        assert formatted(NODE, is_dynamic=True) == ["link", "d2"]
        assert Path("link").is_symlink()
        assert (Path("real/inner") / META).is_file()

    def test_link_above_a_new_directory_is_followed(self) -> None:
        make_node(NODE, log_dirs="link/new")
        Path("real").mkdir()
        Path("link").symlink_to("real")

        run()

        assert Path("real/new", META).is_file()

    @pytest.mark.parametrize(
        ("log_dirs", "reason"),
        [
            ("d2,dangling", "cannot write to data directory dangling: a symbolic link to nothing"),
            ("d2,dangling/x", "cannot make data directory dangling/x: a symbolic link to nothing"),
        ],
    )
    def test_link_to_nothing_is_refused(self, log_dirs: str, reason: str) -> None:
        make_node(NODE, log_dirs=log_dirs)
        Path("dangling").symlink_to("nothing")

        assert refusal() == reason

    def test_link_to_itself_is_passed_over_unless_it_is_the_metadata_directory(self) -> None:
        Path("loop").symlink_to("loop")
        make_node(NODE, log_dirs="loop,d2")
        metadata = refusal()
        make_node(NODE, log_dirs="d2,loop")
        done = run()

        assert metadata.startswith("cannot read the metadata directory: loop/meta.properties: Too ")
        assert [target.directory.path for target in done] == ["d2"]

    @pytest.mark.parametrize("path", ["file", "file/below"])
    def test_file_in_the_place_of_a_directory_is_refused_or_passed_over(self, path: str) -> None:
        Path("file").write_bytes(b"x")
        make_node(NODE, log_dirs=f"{path},d2")
        metadata = refusal()
        make_node(NODE, log_dirs=f"d2,{path}")
        done = run()

        assert metadata.startswith(f"cannot read the metadata directory: {path}/meta.properties: ")
        assert [target.directory.path for target in done] == ["d2"]
        assert Path("file").read_bytes() == b"x"

    @pytest.mark.parametrize("name", ["bootstrap.checkpoint", "meta.properties.tmp", SNAPSHOT])
    def test_directory_in_the_place_of_a_file_is_refused(self, name: str) -> None:
        make_node(NODE, DYNAMIC)
        Path("d1", name).mkdir(parents=True)

        message = refusal(standalone=True)

        assert message == f"d1/{name} is a directory: a file is to be written there"

    def test_file_in_the_place_of_the_partition_is_refused(self) -> None:
        make_node(NODE, DYNAMIC)
        Path("d1").mkdir()
        Path("d1/__cluster_metadata-0").write_bytes(b"x")

        with pytest.raises(StorageError, match=r"d1/__cluster_metadata-0.*is no directory"):
            run(standalone=True)

        assert formatted(NODE, is_dynamic=True) == []
        assert temporary_files(NODE) == []
        assert not Path("d2").exists()


class TestData:
    """Partitions in a directory that is not formatted."""

    @pytest.mark.parametrize("place", ["d1", "d2"])
    def test_they_are_refused_unless_forced(self, place: str) -> None:
        make_node(NODE)
        Path(place, "topic-0").mkdir(parents=True)
        Path(place, "topic-0/00000000000000000000.log").write_bytes(b"data")

        message = refusal()
        done = run(force=True)

        assert message == f"{place} is not formatted, but holds data: topic-0"
        assert len(done) == 2
        assert Path(place, "topic-0/00000000000000000000.log").read_bytes() == b"data"

    @pytest.mark.parametrize("asked", [{"standalone": True}, {"no_initial_controllers": True}])
    def test_what_a_killed_format_left_is_replaced(self, asked: dict[str, Any]) -> None:
        make_node(NODE, DYNAMIC)
        for name in (
            f"d1/{SNAPSHOT}",
            f"d1/{SNAPSHOT}.part",
            "d1/bootstrap.checkpoint",
            "d1/bootstrap.checkpoint.tmp",
            "d1/meta.properties.tmp",
            "d2/bootstrap.checkpoint",
            "d2/meta.properties.tmp",
            "d2/.lock",
        ):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(b"rest")
            Path(name).chmod(0o600)

        run(**asked)

        assert formatted(NODE, is_dynamic="standalone" in asked) == ["d1", "d2"]
        left = set(temporary_files(NODE))
        # Without voters nothing is written to that partition: a server removes this one.
        assert left <= {Path(f"d1/{SNAPSHOT}.part")}

    @pytest.mark.parametrize(
        ("quorum", "asked"),
        [(STATIC, {}), (DYNAMIC, {"no_initial_controllers": True})],
        ids=["static", "joining"],
    )
    def test_voters_of_an_unfinished_format_are_removed(
        self, quorum: dict[str, str], asked: dict[str, Any]
    ) -> None:
        """A server would take them for its own."""
        make_node(NODE, DYNAMIC)
        run(standalone=True)
        for name in ("d1", "d2"):
            Path(name, META).unlink()
        make_node(NODE, quorum)

        run(**asked)

        assert not Path("d1", SNAPSHOT).exists()
        assert formatted(NODE) == ["d1", "d2"]

    def test_voters_of_an_unfinished_format_are_replaced(self) -> None:
        make_node(NODE, DYNAMIC)
        run(standalone=True)
        before = voter_id()
        for name in ("d1", "d2"):
            Path(name, META).unlink()

        run(standalone=True)

        assert formatted(NODE, is_dynamic=True) == ["d1", "d2"]
        assert voter_id() != before


class TestLocks:
    @pytest.mark.parametrize("place", ["d1", "d2"])
    def test_directory_in_use_is_refused(self, place: str) -> None:
        """One that is formatted, too: its server may be about to start on the other."""
        make_node(NODE, log_dirs="d1")
        run()
        make_node(NODE, log_dirs="d1,d2")
        Path(place).mkdir(exist_ok=True)
        with locked(place) as pid:
            message = refusal(ignore_formatted=True)

        assert message.startswith(f"{place} is in use: process {pid} (")
        assert [target.directory.path for target in run(ignore_formatted=True)] == ["d2"]

    def test_all_directories_are_locked_until_all_is_done(self) -> None:
        make_node(NODE)
        planned = plan()
        look = "import sys; from kraftops.storage.logdirs.locks import lock_holder as l; print(l('d1'), l('d2'))"

        for _ in format_directories(planned):
            seen = subprocess.run(
                [sys.executable, "-c", look], capture_output=True, text=True, check=True
            ).stdout
            assert seen.count(f"process {os.getpid()} (") == 2

        seen = subprocess.run(
            [sys.executable, "-c", look], capture_output=True, text=True, check=True
        ).stdout
        assert seen == "None None\n"
        assert lock_holder("d1") is None

    def test_format_that_was_overtaken_is_refused_and_undoes_nothing(self) -> None:
        make_node(NODE, DYNAMIC)
        late = plan(standalone=True)
        run(standalone=True)
        before = entries(NODE)

        with pytest.raises(InUse, match="another process formatted a directory at the same time"):
            list(format_directories(late))

        assert entries(NODE) == before
        assert formatted(NODE, is_dynamic=True) == ["d1", "d2"]

    def test_directories_that_another_format_fills_are_left_alone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It came between their making and their locking."""
        make_node(NODE, DYNAMIC)
        late, other = plan(standalone=True), plan(standalone=True)
        between(monkeypatch, lambda: list(format_directories(other)))

        with pytest.raises(InUse, match="another process formatted a directory at the same time"):
            list(format_directories(late))

        assert formatted(NODE, is_dynamic=True) == ["d1", "d2"]
        assert voter_id() == other.targets[0].directory_id
        assert Path("d1/.lock").exists()

    def test_directories_that_another_format_is_about_to_fill_stay(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_node(NODE)
        late = plan()
        with ExitStack() as other:
            between(monkeypatch, lambda: other.enter_context(locked("d2")))

            with pytest.raises(InUse, match="d2 is in use: process"):
                list(format_directories(late))

        assert Path("d1").is_dir()
        assert Path("d2/.lock").is_file()
        assert formatted(NODE) == []

    def test_format_that_is_given_up_leaves_what_is_done(self) -> None:
        make_node(NODE)

        done = format_directories(plan())
        assert isinstance(done, Iterator)
        next(done)
        del done

        assert formatted(NODE) == ["d1"]
        assert temporary_files(NODE) == []
        assert not Path("d2").exists()


class TestModes:
    @pytest.mark.parametrize(
        ("mask", "file", "directory"),
        [(0o22, 0o644, 0o755), (0o77, 0o600, 0o700), (0, 0o666, 0o777)],
    )
    def test_modes_are_what_the_umask_leaves_but_for_the_snapshot(
        self, mask: int, file: int, directory: int, umask: Callable[[int], int]
    ) -> None:
        make_node(NODE, DYNAMIC, log_dirs="new/d1")
        umask(mask)

        run(standalone=True)

        found = {name: mode for name, (mode, _) in entries(Path("new")).items()}
        assert found == {
            "d1": directory,
            "d1/.lock": file,
            "d1/__cluster_metadata-0": directory,
            f"d1/{SNAPSHOT}": 0o400,
            "d1/bootstrap.checkpoint": file,
            "d1/meta.properties": file,
        }

    @needs_root
    def test_all_belongs_to_the_owner_of_the_directory(self) -> None:
        """Of the nearest one above, where it is new."""
        make_node(NODE, DYNAMIC, log_dirs="d1,new/below/d2")
        Path("d1").mkdir()
        Path("new").mkdir()
        os.chown("d1", 12345, 12346)
        os.chown("new", 54321, 54322)

        run(standalone=True)

        owners = {
            str(path): (path.stat().st_uid, path.stat().st_gid)
            for path in Path().rglob("*")
            if str(path) != PROPERTIES
        }
        assert len(owners) == 12
        for path, owner in owners.items():
            assert owner == ((12345, 12346) if path.startswith("d1") else (54321, 54322)), path


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors have no names here")
def test_meta_properties_comes_last_and_all_is_on_disk_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a power cut could leave a directory that only seems to be formatted."""
    make_node(NODE, DYNAMIC)
    done: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        done.append(("sync", os.path.relpath(path)))
        fsync(fd)

    def noted_replace(source: str, target: str) -> None:
        done.append(("rename", target))
        assert ("sync", source) in done
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)

    run(standalone=True)

    renames = [path for call, path in done if call == "rename"]
    assert renames == [
        "d1/bootstrap.checkpoint",
        f"d1/{SNAPSHOT}",
        "d1/meta.properties",
        "d2/bootstrap.checkpoint",
        "d2/meta.properties",
    ]
    last_write = max(at for at, (_, path) in enumerate(done) if path.endswith((".tmp", ".part")))
    assert last_write < done.index(("rename", renames[0]))
    for place in ("d1", "d2"):
        meta = done.index(("rename", f"{place}/meta.properties"))
        for path in renames:
            if path.startswith(place):
                synced = ("sync", os.path.dirname(path))
                at = done.index(("rename", path))
                assert synced in done[at + 1 : meta if at < meta else None], path
