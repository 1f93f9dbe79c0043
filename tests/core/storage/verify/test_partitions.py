"""Problems that prevent a server from loading partitions."""

from pathlib import Path

import pytest

from kraftops.server.log_directory import LogDirectory
from kraftops.storage.logdirs.inspector import DirectoryState
from kraftops.storage.verify.partitions import (
    data_findings,
    is_partition,
)

TOPIC = "version: 0\ntopic_id: vOKEv8VrQAyGbyFDxfFCwA\n"


def found(*directories: Path) -> list[str]:
    """Return what keeps a broker from loading log directories, by the names in the first one."""
    owners: dict[tuple[str, bytes], str] = {}
    lines = []
    for path in directories:
        state = DirectoryState(LogDirectory(str(path), is_metadata=False), exists=True)
        lines += [f"{finding}" for finding in data_findings(state, owners)]
    return [line.replace(f"{directories[0].parent}/", "") for line in lines]


def make_partition(directory: Path, name: str, **files: str) -> Path:
    """Make the directory of a partition; `_` in names of files stands for a dash."""
    path = directory / name
    path.mkdir(parents=True)
    for file, text in files.items():
        (path / file.replace("_", "-")).write_text(text)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "t-0", "a-b-12", "t--1", "t-+1", "-5-0", "t 0-1", "t-2147483647", "t-007", "__x-0", "t.u-1",
        "t-0.abc-delete", "t-0.abc-future", "t-0.abc-stray", "t-0.a-b-delete", "t.u-3.abc-stray",
    ],
)  # fmt: skip
def test_names_of_partitions(name: str) -> None:
    assert is_partition(name)


@pytest.mark.parametrize(
    "name",
    [
        "t", "t-", "-0", "t-x", "lost+found", ".snapshot", "t-2147483648", "t-99999999999999999999999",
        "t-0-delete", "t-0.-delete", "t.abc-delete", "t u-0.abc-delete", "t-0.abc-deleted", "t-1_0",
        "remote-log-index-cache", "recovery-point-offset-checkpoint",
    ],
)  # fmt: skip
def test_names_that_stop_a_broker(name: str) -> None:
    assert not is_partition(name)


def test_directory_of_a_used_broker_has_no_finding(tmp_path: Path) -> None:
    directory = tmp_path / "d1"
    path = make_partition(
        directory, "t-0", partition_metadata=TOPIC, leader_epoch_checkpoint="0\n1\n0 0\n"
    )
    (path / "partition-metadata").rename(path / "partition.metadata")
    for name in (f"{0:020}.log", f"{0:020}.index", f"{7:020}.snapshot", f"{3:020}.log.deleted"):
        (path / name).touch()
    for name in ("cleaner", "recovery-point", "log-start", "replication"):
        (directory / f"{name}-offset-checkpoint").write_text("0\n2\nt 0 5\nt 1 7\n")
    for name in ("meta.properties", "bootstrap.checkpoint", ".lock", ".kafka_cleanshutdown"):
        (directory / name).touch()
    for name in ("remote-log-index-cache", "__cluster_metadata-0"):
        (directory / name).mkdir()

    assert found(directory) == []


def test_directories_and_files_that_must_not_be_there(tmp_path: Path) -> None:
    (tmp_path / "d1/lost+found").mkdir(parents=True)
    (tmp_path / "d1/t-0").touch()
    (tmp_path / "d1/notes").touch()

    assert found(tmp_path / "d1") == [
        "d1/lost+found: it is not the directory of a partition: a broker stops",
        "d1/t-0: a file where a partition's directory belongs",
    ]


@pytest.mark.parametrize("name", ["x.log.deleted", "notes.txt", "x", f"{0:020}.log.cleaned"])
def test_other_file_of_a_partition_has_no_finding(tmp_path: Path, name: str) -> None:
    (make_partition(tmp_path / "d1", "t-0") / name).touch()

    assert found(tmp_path / "d1") == []


def test_partition_in_two_directories(tmp_path: Path) -> None:
    for name in ("d1", "d2"):
        (make_partition(tmp_path / name, "t-0") / "partition.metadata").write_text(TOPIC)

    assert found(tmp_path / "d1", tmp_path / "d2") == ["d2/t-0: the partition is in d1 too"]


def test_strays_in_two_directories_have_no_finding(tmp_path: Path) -> None:
    """A broker renames them: without an id, or with that of a topic that is no more."""
    for name, text in (("d1", TOPIC), ("d2", TOPIC.replace("vOK", "AbC"))):
        make_partition(tmp_path / name, "t-0")
        (make_partition(tmp_path / name, "t-1") / "partition.metadata").write_text(text)

    assert found(tmp_path / "d1", tmp_path / "d2") == []
