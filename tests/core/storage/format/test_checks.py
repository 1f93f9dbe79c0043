"""A plan that cannot be executed in every directory is refused before anything is written."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from kraftops.errors import StorageError
from kraftops.storage.format.checks import check_plan
from kraftops.storage.format.execute import format_directories
from tests.helpers.nodes.formats import NODE, plan, refusal, run, voter_id
from tests.helpers.nodes.node_directories import (
    DYNAMIC,
    META,
    SNAPSHOT,
    STATIC,
    entries,
    formatted,
    make_node,
    temporary_files,
)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
pytestmark = pytest.mark.usefixtures("working_directory")


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

    def test_strict_refuses_an_unreadable_directory(self, problem: str) -> None:
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


class TestPaths:
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

        with pytest.raises(StorageError, match=r"d1/__cluster_metadata-0.*is not a directory"):
            run(standalone=True)

        assert formatted(NODE, is_dynamic=True) == []
        assert temporary_files(NODE) == []
        assert not Path("d2").exists()


class TestPermission:
    """As of another user: the right to write and to search, by the effective ids."""

    @pytest.mark.parametrize(
        ("path", "mode", "verb"), [("d1", 0o1550, "write to"), ("d1/new", 0o550, "make")]
    )
    def test_directory_that_cannot_be_written_is_refused_with_its_mode(
        self, path: str, mode: int, verb: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_node(NODE, log_dirs=path)
        Path("d1").mkdir()
        Path("d1").chmod(mode)
        asked = Mock(return_value=False)
        monkeypatch.setattr(os, "access", asked)

        message = refusal()

        place, status = os.path.abspath("d1"), Path("d1").stat()
        assert message == (
            f"cannot {verb} metadata directory {path}: no permission in {place} (mode {mode:04o}, "
            f"owner {status.st_uid}, group {status.st_gid}) for user {os.geteuid()}, "
            "or its file system is read-only"
        )
        asked.assert_called_with(place, os.W_OK | os.X_OK, effective_ids=True)


class TestData:
    """Partitions in a directory that is not formatted."""

    @pytest.mark.parametrize("place", ["d1", "d2"])
    def test_partitions_are_refused_unless_forced(self, place: str) -> None:
        make_node(NODE)
        Path(place, "topic-0").mkdir(parents=True)
        Path(place, "topic-0/00000000000000000000.log").write_bytes(b"data")

        message = refusal()
        done = run(force=True)

        assert message == f"{place} is not formatted, but holds data: topic-0"
        assert len(done) == 2
        assert Path(place, "topic-0/00000000000000000000.log").read_bytes() == b"data"

    @pytest.mark.parametrize("asked", [{"standalone": True}, {"no_initial_controllers": True}])
    def test_files_of_a_killed_format_are_replaced(self, asked: dict[str, Any]) -> None:
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
