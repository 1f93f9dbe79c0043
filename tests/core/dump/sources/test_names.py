"""Names on a command line: files, directories, patterns."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.dump.sources.names import Source, expand
from kraftops.errors import SourceError, UsageError
from tests.helpers.logs.log_directories import log, make, paths, snapshot
from tests.helpers.tools.corpus import listing

DELETED = f"gone-0.{'0a' * 16}-delete"


@pytest.fixture
def log_directory(tmp_path: Path) -> Path:
    """A log directory with all kinds of files that a server writes."""
    root = make(tmp_path / "d1", ["meta.properties", "recovery-point-offset-checkpoint", ".lock"])
    make(root, ["bootstrap.checkpoint"])
    metadata = [log(0), "00000000000000000000.index", "quorum-state", snapshot(0, 0)]
    make(root / "__cluster_metadata-0", metadata)
    make(root / "t-10", [log(0)])
    make(root / "t-2", [log(5), log(0), "00000000000000000000.index", "leader-epoch-checkpoint"])
    make(root / "my.topic-1-0", [log(7)])
    make(root / "__consumer_offsets-49", [log(0)])
    make(root / DELETED, [log(0)])
    make(root / f"t-2.{'0a' * 16}-future", [log(0)])
    make(root / f"old-2.{'0a' * 16}-stray", [log(0)])
    make(root / "new-0", ["partition.metadata"])
    make(root / "lost+found", [])
    return root


# Names as they are


@pytest.mark.parametrize(
    "name", ["0.log", "gone.log", "", "-", "dir/gone", "0.log/", "notes.txt", "[0].log", "d*.log"]
)
def test_file_is_what_it_is_named(name: str, tmp_path: Path) -> None:
    """Also a missing file, and a file with a name like a pattern."""
    make(tmp_path / "t-0", ["0.log", "notes.txt", "[0].log", "d*.log"])

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "t-0")
        assert expand([name]) == [Source(name, None, None, None, 0)]


def test_names_keep_their_order_and_are_logs_of_their_own(tmp_path: Path) -> None:
    make(tmp_path / "t-0", [log(3), log(8)])

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        found = expand(["b.log", "t-0", "-", "b.log", "a.log"])

    assert found == [
        Source("b.log", None, None, None, 0),
        Source(f"t-0/{log(3)}", "user", "t", 0, 1),
        Source(f"t-0/{log(8)}", "user", "t", 0, 1),
        Source("-", None, None, None, 2),
        Source("b.log", None, None, None, 3),
        Source("a.log", None, None, None, 4),
    ]


# Decoders


@pytest.mark.parametrize(
    ("directory", "decoder", "topic", "partition"),
    [
        ("__consumer_offsets-49", "offsets", "__consumer_offsets", 49),
        ("__transaction_state-0", "transaction", "__transaction_state", 0),
        ("__remote_log_metadata-3", "remote", "__remote_log_metadata", 3),
        ("__share_group_state-7", "share", "__share_group_state", 7),
        ("__cluster_metadata-0", "metadata", "__cluster_metadata", 0),
        ("orders-12", "user", "orders", 12),
        ("my.topic-1-0", "user", "my.topic-1", 0),
        (DELETED, "user", "gone", 0),
        ("__consumer_offsets", None, None, None),
        ("copy", None, None, None),
        ("t-x", None, None, None),
        ("-1", None, None, None),
    ],
)
def test_decoder_is_that_of_the_topic(
    directory: str, decoder: str | None, topic: str | None, partition: int | None, tmp_path: Path
) -> None:
    path = make(tmp_path / directory, [log(0)])
    file = str(path / log(0))

    assert expand([str(path)]) == [Source(file, decoder, topic, partition, 0)]
    assert expand([str(path)], raw=True) == [Source(file, None, topic, partition, 0)]


@pytest.mark.parametrize("name", [".", "../t-0", "../t-0/."])
def test_topic_is_known_whatever_the_directory_is_called(name: str, tmp_path: Path) -> None:
    make(tmp_path / "t-0", [log(0)])

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "t-0")
        assert expand([name]) == [Source(f"{name}/{log(0)}", "user", "t", 0, 0)]


# Log directories


def test_log_directory_is_its_partitions(log_directory: Path) -> None:
    """By topic and number, one log each, without partitions to be deleted or moved."""
    found = [
        (source.path.removeprefix(f"{log_directory}/"), source.decoder, source.group)
        for source in expand([str(log_directory)])
    ]

    assert found == [
        (f"__cluster_metadata-0/{snapshot(0, 0)}", "metadata", 0),
        (f"__cluster_metadata-0/{log(0)}", "metadata", 0),
        (f"__consumer_offsets-49/{log(0)}", "offsets", 1),
        (f"my.topic-1-0/{log(7)}", "user", 2),
        (f"t-2/{log(0)}", "user", 3),
        (f"t-2/{log(5)}", "user", 3),
        (f"t-10/{log(0)}", "user", 4),
    ]


def test_log_directory_may_have_partitions_of_other_names(tmp_path: Path) -> None:
    make(tmp_path / "copies/b", [log(0)])
    make(tmp_path / "copies/a", [log(0)])
    make(tmp_path / "copies/empty", ["notes"])

    assert paths("copies", cwd=tmp_path) == [f"copies/a/{log(0)}", f"copies/b/{log(0)}"]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([], id="empty"),
        pytest.param(["notes.txt", "00000000000000000000.index"], id="other files"),
        pytest.param([log(0) + ".deleted"], id="a deleted log"),
        pytest.param(["server.log", "controller.log"], id="logs of programs"),
        pytest.param(["bootstrap.checkpoint", "meta.properties"], id="a fresh log directory"),
    ],
)
def test_directory_without_a_log_is_refused(names: list[str], tmp_path: Path) -> None:
    folder = make(tmp_path / "t-0", names)

    with pytest.raises(UsageError, match=r"t-0 holds no log"):
        expand([str(folder)])


# Directories that cannot be read


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, OSError], None]:
    """A function that makes listing a directory fail, as tests may run as root."""
    real = os.listdir

    def refuse(folder: Path, error: OSError) -> None:
        def listdir(path: str) -> list[str]:
            if Path(path) == folder:
                raise error
            return real(path)

        monkeypatch.setattr(os, "listdir", listdir)

    return refuse


DENIED = PermissionError(13, "Permission denied")


def test_directory_that_cannot_be_read_is_an_error(
    log_directory: Path, unreadable: Callable[[Path, OSError], None]
) -> None:
    """A named directory, or a partition in a named log directory."""
    unreadable(log_directory / "t-2", DENIED)

    for name in (log_directory / "t-2", log_directory, log_directory / "t*"):
        with pytest.raises(SourceError, match=r"cannot read .*t-2: Permission denied"):
            expand([str(name)])


@pytest.mark.parametrize("pattern", ["", "*"])
def test_unreadable_directory_that_is_no_partition_is_skipped(
    log_directory: Path, unreadable: Callable[[Path, OSError], None], pattern: str
) -> None:
    unreadable(log_directory / "lost+found", DENIED)

    assert f"{log_directory}/t-10/{log(0)}" in [
        source.path for source in expand([str(log_directory / pattern)])
    ]


def test_partition_that_is_deleted_meanwhile_is_left_out(
    log_directory: Path, unreadable: Callable[[Path, OSError], None]
) -> None:
    unreadable(log_directory / "gone-0", FileNotFoundError(2, "No such file or directory"))
    (log_directory / "gone-0").mkdir()
    real = os.path.isdir
    looked: list[str] = []

    def isdir(path: str) -> bool:
        looked.append(path)
        return real(path) and looked.count(path) < 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os.path, "isdir", isdir)
        found = expand([str(log_directory)])

    assert len(found) == 7


# Patterns


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("t-2/*.log", [f"t-2/{log(0)}", f"t-2/{log(5)}"]),
        ("t-2/*[!05].log", []),
        ("t-*/*0.log", [f"t-10/{log(0)}", f"t-2/{log(0)}"]),
        (f"t-[12]/{log(0)}", [f"t-2/{log(0)}"]),
        (f"t-??/{log(0)}", [f"t-10/{log(0)}"]),
        ("t-*", [f"t-10/{log(0)}", f"t-2/{log(0)}", f"t-2/{log(5)}"]),
        (f"**/{log(7)}", [f"my.topic-1-0/{log(7)}"]),
        ("my*/**", [f"my.topic-1-0/{log(7)}"]),
        ("x*", []),
        ("new-*", []),
        (".l*", [".lock"]),
    ],
)
def test_pattern_stands_for_the_files_that_it_matches(
    pattern: str, found: list[str], log_directory: Path
) -> None:
    """Files themselves, directories with their logs."""
    future = f"t-2.{'0a' * 16}-future"
    for path in sorted((log_directory / future).iterdir()):
        path.unlink()
    if found:
        assert paths(pattern, cwd=log_directory) == found
        return
    with pytest.raises(SourceError) as caught:
        paths(pattern, cwd=log_directory)

    assert caught.value.code == "not-found"
    assert caught.value.message == f"nothing matches {pattern}"


def test_files_of_a_pattern_have_no_decoder_its_directories_have(log_directory: Path) -> None:
    files = expand([f"{log_directory}/t-2/*.log"])
    directories = expand([f"{log_directory}/__c*"])

    assert [(source.decoder, source.topic, source.group) for source in files] == [
        (None, None, 0),
        (None, None, 1),
    ]
    assert [(source.decoder, source.partition, source.group) for source in directories] == [
        ("metadata", 0, 0),
        ("metadata", 0, 0),
        ("offsets", 49, 1),
    ]


def test_pattern_for_all_takes_nothing_twice(log_directory: Path) -> None:
    """A log directory, a partition, a file: files inside a matching directory come once."""
    make(log_directory.parent / "d1-copy/t-9", [log(0)])
    make(log_directory.parent, ["notes.txt"])

    found = expand([f"{log_directory.parent}/**"])

    assert found[:7] == expand([str(log_directory)])
    assert [source.path.removeprefix(f"{log_directory.parent}/") for source in found[7:]] == [
        f"d1-copy/t-9/{log(0)}",
        "notes.txt",
    ]


def test_nothing_is_changed(log_directory: Path) -> None:
    before = listing(log_directory)

    expand([str(log_directory), f"{log_directory}/**"])

    assert listing(log_directory) == before
