"""The log directories of a node: what is read of them, and which cannot be one node's."""

import os
from pathlib import Path

import pytest

from kraftops.errors import DecodeError, StorageError
from kraftops.server.formatted import partition_data
from kraftops.server.log_directory import LogDirectory
from kraftops.server.meta_properties import MetaProperties, read_meta
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.directories import check_distinct, check_ids, read_directories
from kraftops.uuids import from_text
from tests.helpers.nodes.node_directories import PROPERTIES, make_node

A, B = from_text("JEXY6aqzQY-32P5TStzaFg"), from_text("MvDxzVmcRsaTz33bUuRU6A")
V1 = b"version=1\nnode.id=1\ncluster.id=abc\n"
SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def directory(
    path: str,
    cluster_id: str | None = "abc",
    node_id: int | None = 1,
    directory_id: bytes | None = None,
    version: int = 1,
) -> LogDirectory:
    return LogDirectory(
        path,
        is_metadata=False,
        meta=MetaProperties(version, cluster_id, node_id, directory_id),
    )


class TestReading:
    @pytest.mark.parametrize(
        ("keys", "paths", "metadata"),
        [
            pytest.param({"log_dirs": "b,a"}, ["b", "a"], "b", id="the first as written"),
            pytest.param({"log_dirs": "b, a ,b"}, ["b", "a"], "b", id="blanks, none twice"),
            pytest.param(
                {"log_dirs": "a,b", "metadata_log_dir": "b"}, ["a", "b"], "b", id="one of them"
            ),
            pytest.param(
                {"log_dirs": "a,b", "metadata_log_dir": "m"}, ["a", "b", "m"], "m", id="another one"
            ),
            pytest.param({"log_dirs": "a,./a"}, ["a", "./a"], "a", id="two texts are two"),
            pytest.param({"log_dirs": "", "log_dir": "x"}, ["x"], "x", id="log.dir"),
        ],
    )
    def test_directories_of_the_configuration_are_read(
        self, keys: dict[str, str], paths: list[str], metadata: str
    ) -> None:
        make_node(Path(), **keys)

        found = read_directories(load_config(PROPERTIES))

        assert [one.path for one in found] == paths
        assert [one.path for one in found if one.is_metadata] == [metadata]
        assert not any(one.meta or one.problem for one in found)

    @pytest.mark.parametrize(
        ("content", "problem", "is_opaque"),
        [
            pytest.param(V1, None, False, id="v1"),
            pytest.param(b"", None, False, id="empty"),
            pytest.param(
                b"version=2\n", "Unknown meta.properties version number 2", False, id="v2"
            ),
            pytest.param(b"version=1\n", "Failed to find node.id", False, id="missing key"),
            pytest.param(bytes(range(256)), "", None, id="garbage"),
            pytest.param(b"a=\\u12", "line 1: Malformed \\uxxxx encoding.", True, id="bad escape"),
        ],
    )
    def test_file_is_read_or_has_a_problem(
        self, content: bytes, problem: str | None, *, is_opaque: bool | None
    ) -> None:
        make_node(Path(), log_dirs="d")
        Path("d").mkdir()
        Path("d/meta.properties").write_bytes(content)

        (found,) = read_directories(load_config(PROPERTIES))

        if is_opaque is not None:
            assert (found.problem, found.is_opaque) == (problem, is_opaque)
        assert (found.meta is None) == (found.problem is not None)
        assert found.meta_path == "d/meta.properties"

    @pytest.mark.parametrize(
        ("kind", "problem"),
        [
            ("directory", "Is a directory"),
            ("loop", "Too many levels of symbolic links"),
            ("link to nothing", None),
            ("fifo", "it is not a regular file"),
            ("below a file", "Not a directory"),
        ],
    )
    def test_meta_properties_that_is_no_file_has_a_problem(
        self, kind: str, problem: str | None
    ) -> None:
        """A FIFO, which nobody fills, is empty: it must not be waited for."""
        make_node(Path(), log_dirs="d")
        path = Path("d/meta.properties")
        if kind == "below a file":
            Path("d").touch()
        else:
            Path("d").mkdir()
        if kind == "directory":
            path.mkdir()
        elif kind == "loop":
            path.symlink_to("meta.properties")
        elif kind == "link to nothing":
            path.symlink_to("nothing")
        elif kind == "fifo":
            os.mkfifo(path)

        (found,) = read_directories(load_config(PROPERTIES))

        assert (found.problem, found.is_opaque) == (problem, problem is not None)


class TestIds:
    def test_ids_of_one_node_pass(self) -> None:
        check_ids(
            [
                directory("a", directory_id=A),
                directory("b", directory_id=B),
                directory("c"),
                directory("v0", None, None, version=0),
                LogDirectory("new", is_metadata=True),
                LogDirectory("bad", is_metadata=False, problem="Is a directory"),
            ],
            "abc",
            1,
        )

    @pytest.mark.parametrize(
        ("directories", "message", "hint"),
        [
            pytest.param(
                [directory("a"), directory("b", "xyz")],
                "Invalid cluster.id in: b/meta.properties. Expected abc, but read xyz",
                "format with -t xyz",
                id="another cluster",
            ),
            pytest.param(
                [directory("a", "", version=0)],
                "Invalid cluster.id in: a/meta.properties. Expected abc, but read ",
                "rewrite --cluster-id",
                id="an empty cluster id",
            ),
            pytest.param(
                [directory("a", node_id=2)],
                "Stored node id 2 doesn't match previous node id 1 in a/meta.properties. If you ",
                "either node.id=2 in the configuration",
                id="another node",
            ),
            pytest.param(
                [directory("a", directory_id=bytes(15) + b"\x63")],
                "Invalid reserved directory ID AAAAAAAAAAAAAAAAAAAAYw found in a",
                "take directory.id out of a/meta.properties",
                id="a reserved directory id",
            ),
            pytest.param(
                [directory("a", directory_id=A), directory("b", directory_id=A)],
                "Duplicate directory ID Optional[JEXY6aqzQY-32P5TStzaFg] found. "
                "It was the ID of a, but also of b",
                "one is a copy of the other",
                id="one directory id twice",
            ),
        ],
    )
    def test_others_are_refused(
        self, directories: list[LogDirectory], message: str, hint: str
    ) -> None:
        with pytest.raises(StorageError) as refused:
            check_ids(directories, "abc", 1)

        assert refused.value.message.startswith(message)
        assert hint in (refused.value.hint or "")

    def test_other_spelling_of_the_cluster_id_has_a_hint(self) -> None:
        """Kafka compares texts."""
        with pytest.raises(StorageError, match=r"^Invalid cluster\.id") as refused:
            check_ids([directory("a", "MkU3OEVBNTcwNTJENDM2Qk")], "MkU3OEVBNTcwNTJENDM2Qg", 1)

        assert "the same 16 bytes" in (refused.value.hint or "")


class TestDistinct:
    def test_existing_and_missing_directories_are_distinct(self) -> None:
        Path("a").mkdir()

        check_distinct([LogDirectory(path, is_metadata=False) for path in ("a", "b", "a/b")])

    @pytest.mark.parametrize(
        ("one", "two"),
        [
            ("a", "./a"),
            ("a", "a/"),
            ("a", "x/../a"),
            ("a", "link"),
            ("new", "./new"),
            ("link/new", "a/new"),
            ("nothing", "dangling"),
        ],
    )
    def test_two_names_of_one_directory_are_refused(self, one: str, two: str) -> None:
        Path("a").mkdir()
        Path("link").symlink_to("a")
        Path("dangling").symlink_to("nothing")
        directories = [LogDirectory(path, is_metadata=False) for path in (one, "other", two)]

        with pytest.raises(StorageError) as refused:
            check_distinct(directories)

        assert refused.value.message == f"{one} and {two} are one directory"

    def test_absolute_and_relative_name_are_one(self, tmp_path: Path) -> None:
        directories = [LogDirectory(path, is_metadata=False) for path in ("a", str(tmp_path / "a"))]

        with pytest.raises(StorageError, match="are one directory"):
            check_distinct(directories)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("topic-0/00000000000000000000.log", "topic-0"),
        ("topic-0/leader-epoch-checkpoint", "topic-0"),
        ("my-topic-12/x", "my-topic-12"),
        ("topic-0.0a1b-delete/x", "topic-0.0a1b-delete"),
        ("topic-0.0a1b-future/x", "topic-0.0a1b-future"),
        ("topic-0.0a1b-stray/x", "topic-0.0a1b-stray"),
        ("__cluster_metadata-0/00000000000000000000.log", "__cluster_metadata-0"),
        ("__cluster_metadata-0/quorum-state", "__cluster_metadata-0"),
        (
            "__cluster_metadata-0/00000000000000000007-0000000001.checkpoint",
            "__cluster_metadata-0",
        ),
        (f"{SNAPSHOT}.deleted", "__cluster_metadata-0"),
        (SNAPSHOT, None),
        (f"{SNAPSHOT}.part", None),
        ("bootstrap.checkpoint", None),
        ("bootstrap.checkpoint.tmp", None),
        ("meta.properties.tmp", None),
        (".lock", None),
        ("cleaner-offset-checkpoint", None),
        ("lost+found/x", None),
        ("topic-0", None),
        ("topic/x", None),
        ("topic-a/x", None),
        ("-0/x", None),
    ],
)
def test_partitions_are_data_but_files_of_a_format_are_not(path: str, found: str | None) -> None:
    (Path("d") / path).parent.mkdir(parents=True)
    (Path("d") / path).touch()

    assert partition_data("d") == found


def test_empty_partition_is_no_data() -> None:
    Path("d/topic-0").mkdir(parents=True)
    Path("d/__cluster_metadata-0").mkdir()

    assert partition_data("d") is None


def test_first_partition_with_data_is_returned() -> None:
    for name in ("b-1", "b-0", "a-0"):
        Path(f"d/{name}").mkdir(parents=True)
    for name in ("b-1", "b-0"):
        Path(f"d/{name}/x").touch()

    assert partition_data("d") == "b-0"


def test_missing_directory_cannot_be_listed() -> None:
    with pytest.raises(FileNotFoundError):
        partition_data("d")


def test_file_that_is_not_small_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "meta.properties"
    path.write_bytes(V1)
    os.truncate(path, 1 << 40)

    with pytest.raises(OSError, match="File too large"):
        read_meta(str(path))


def test_meta_properties_at_a_path(tmp_path: Path) -> None:
    path = tmp_path / "meta.properties"
    path.write_bytes(V1)

    assert read_meta(str(path)) == MetaProperties(1, "abc", 1, None)
    path.write_bytes(b"version=x\n")
    with pytest.raises(DecodeError):
        read_meta(str(path))
