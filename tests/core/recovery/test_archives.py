"""Metadata logs in tar archives are unpacked for a while."""

import tarfile
from pathlib import Path

import pytest

from kraftops.recovery.archives import unpacked
from kraftops.recovery.refusal import NotFound, RecoveryRefused
from tests.helpers.logs.metadata_logs import no_ops, write_log
from tests.helpers.nodes.lost_quorums import write_meta


def archive(folder: Path, *names: str) -> str:
    path = folder / "log.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            tar.add(folder / name, f"backup/{name}")
    return str(path)


def test_log_and_meta_properties_are_unpacked_and_removed(tmp_path: Path) -> None:
    write_log(tmp_path, {0: [no_ops(0, 1)]})
    write_meta(tmp_path, 1)
    (tmp_path / "topic-0").mkdir()
    path = archive(tmp_path, "__cluster_metadata-0", "meta.properties", "topic-0")

    with unpacked([path]) as (folder,):
        found = sorted(str(each.relative_to(folder)) for each in Path(folder).rglob("*"))

    assert found == [
        "__cluster_metadata-0",
        "__cluster_metadata-0/00000000000000000000.log",
        "meta.properties",
    ]
    assert not Path(folder).exists()


def test_directory_is_taken_as_it_is(tmp_path: Path) -> None:
    with unpacked([str(tmp_path)]) as folders:
        assert folders == [str(tmp_path)]


def test_archive_without_a_log_is_refused(tmp_path: Path) -> None:
    write_meta(tmp_path, 1)

    with (
        pytest.raises(RecoveryRefused) as refused,
        unpacked([archive(tmp_path, "meta.properties")]),
    ):
        pass

    assert refused.value.code == "no-log"


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"no archive")

    with pytest.raises(RecoveryRefused) as refused, unpacked([str(tmp_path / "x")]):
        pass

    assert refused.value.code == "no-archive"


def test_missing_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound), unpacked([str(tmp_path / "missing")]):
        pass
