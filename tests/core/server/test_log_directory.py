"""A log directory as its files describe it, of real brokers that stopped or were killed."""

import shutil
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.server.loader.load_plan import HIGH_WATERMARK, RECOVERY_POINT, FolderKind
from kraftops.server.log_directory import PartitionDirectory, duplicates, read_log_directory
from tests.helpers.logs.log_directories import REAL


@pytest.mark.parametrize(("stop", "is_clean"), [("stopped", True), ("running", False)])
def test_directory_of_a_broker(stop: str, *, is_clean: bool) -> None:
    directory = read_log_directory(str(REAL / stop))

    assert directory.meta is not None
    assert directory.node_id == directory.meta.node_id
    assert (directory.is_metadata, directory.has_checkpoints) == (True, True)
    assert directory.plan.was_clean is is_clean
    assert directory.offset(RECOVERY_POINT, "plain", 0) is not None
    assert directory.offset(HIGH_WATERMARK, "nosuch", 0) is None
    assert directory.offset(HIGH_WATERMARK, None, None) is None
    assert not directory.holder


def test_partitions_by_name_and_kind(tmp_path: Path) -> None:
    names = ("t-0", "t-10", "t-2.0f-delete", "u-1.0f-stray", "__cluster_metadata-0", "lost+found")
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / "t-3").write_text("")

    partitions = list(read_log_directory(str(tmp_path)).partitions())

    assert partitions == [
        PartitionDirectory(str(tmp_path / "t-0"), "t", 0, FolderKind.CURRENT),
        PartitionDirectory(str(tmp_path / "t-10"), "t", 10, FolderKind.CURRENT),
        PartitionDirectory(str(tmp_path / "t-2.0f-delete"), "t", 2, FolderKind.DELETED),
        PartitionDirectory(str(tmp_path / "u-1.0f-stray"), "u", 1, FolderKind.STRAY),
    ]
    assert [partition.is_renamed for partition in partitions] == [False, False, True, True]
    assert partitions[0].topic_id is None


def test_tier_is_known_by_any_of_its_traces(tmp_path: Path) -> None:
    folder = tmp_path / "stopped"
    shutil.copytree(REAL / "stopped", folder)
    assert read_log_directory(str(folder)).is_topic_tiered("plain") is False

    (folder / "log-start-offset-checkpoint").write_text("0\n1\nplain 0 0\n")
    directory = read_log_directory(str(folder))

    assert directory.is_topic_tiered("plain") is True
    assert directory.is_topic_tiered("txn") is None, "some topic is, and perhaps this one"


def test_directory_that_is_gone_says_nothing_of_its_partitions(tmp_path: Path) -> None:
    directory = read_log_directory(str(tmp_path / "nosuch"))

    assert (directory.meta, directory.problem, directory.has_checkpoints) == (None, None, False)
    with pytest.raises(SourceError, match="nosuch"):
        list(directory.partitions())


def test_topic_ids_are_those_of_partitions_but_the_metadata_log(tmp_path: Path) -> None:
    text = "version: 0\ntopic_id: AAAAEAAAAAAAAAAAAAAAAA\n"
    for name in ("t-0", "t-1", "__cluster_metadata-0"):
        (tmp_path / name).mkdir()
    (tmp_path / "__cluster_metadata-0/partition.metadata").write_text(text)
    directory = read_log_directory(str(tmp_path))

    assert list(directory.topic_ids()) == []
    (tmp_path / "t-1/partition.metadata").write_text(text)
    assert list(directory.topic_ids()) == [bytes((0, 0, 0, 16)) + bytes(12)]


TOPIC_ID = "vOKEv8VrQAyGbyFDxfFCwA"


def test_partitions_that_a_server_has_twice(tmp_path: Path) -> None:
    """Not those that it renames first, for want of an id, nor deleted and moved ones beside them."""
    folders = {
        "d1": {
            "t-0": TOPIC_ID,
            "t-1": TOPIC_ID,
            "t-2": TOPIC_ID,
            "t-3": "",
            "t-4.ab-delete": "",
            "t-00": TOPIC_ID,
        },
        "d2": {"t-0": TOPIC_ID, "t-1.ab-future": TOPIC_ID, "t-2": TOPIC_ID[::-1], "t-3": ""},
        "d3": {"t-0": TOPIC_ID, "t-1.cd-future": TOPIC_ID, "t-4.ab-delete": TOPIC_ID},
    }
    for directory, ids in folders.items():
        for name, topic_id in ids.items():
            folder = tmp_path / directory / name
            folder.mkdir(parents=True)
            (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}\n")

    found = duplicates(read_log_directory(str(tmp_path / name)) for name in folders)

    assert [
        (Path(twice.partition.path).relative_to(tmp_path), Path(twice.first.path).parent.name)
        for twice in found
    ] == [
        (Path("d1/t-00"), "d1"),
        (Path("d2/t-0"), "d1"),
        (Path("d3/t-0"), "d1"),
        (Path("d3/t-1.cd-future"), "d2"),
    ]
