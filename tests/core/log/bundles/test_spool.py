"""Paths lead into archives, whose files are ranges of one file."""

import os
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.fileio.mounts import exists, is_directory, is_file, names_in, status_of
from kraftops.fileio.reading import read_small
from kraftops.log.bundles import spool as module
from kraftops.log.bundles.spool import NoRoom, Skipped, mounted_archive
from kraftops.log.log_file import LogFile
from kraftops.log.reader import DamagedArchive
from tests.helpers.logs.bundles import KINDS

MIB = 1 << 20
LOG = bytes(range(256)) * 20_000  # more than a block
FILES = {
    "n1/t-0/0.log": LOG,
    "n1/t-0/0.index": bytes(3 * MIB),
    "n1/meta.properties": b"version=1\n",
    "notes": b"x",
    "n1/t-1/0.log": b"log",
}

each_kind = pytest.mark.parametrize("name", KINDS)


def is_wanted(name: str) -> bool:
    return name != "notes"


@each_kind
def test_files_are_read_as_on_a_disk(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    KINDS[name](Path(name), FILES)

    with mounted_archive(name, is_wanted) as (mount, skipped):
        assert (mount.root, skipped) == (f"{name}!", [])
        assert names_in(f"{name}!") == ["n1"]
        assert names_in(f"{tmp_path}/{name}!/n1") == ["meta.properties", "t-0", "t-1"]
        assert is_directory(f"{name}!/n1/t-0/")
        assert is_file(f"{name}!/n1/t-0/0.log")
        assert not exists(f"{name}!/notes")
        assert read_small(f"{name}!/n1/meta.properties") == b"version=1\n"
        assert status_of(f"{name}!/n1/t-0/0.log").size == len(LOG)
        with LogFile(f"{name}!/n1/t-0/0.log") as log:
            assert log.read_at(MIB - 3, 2 * MIB) == LOG[MIB - 3 : 3 * MIB - 3]
            assert log.read_at(len(LOG) - 2, 9) == LOG[-2:]
        with LogFile(f"{name}!/n1/t-0/0.index") as index:
            assert index.read_at(0, 4 * MIB) == bytes(3 * MIB)
    assert not is_directory(f"{name}!/n1")


def test_what_is_not_there_is_an_error_as_on_a_disk(tmp_path: Path) -> None:
    path = f"{tmp_path}/a.tar"
    KINDS["log.tar"](Path(path), FILES)

    with mounted_archive(path, is_wanted):
        with pytest.raises(SourceError, match="No such file or directory"):
            LogFile(f"{path}!/n1/t-2/0.log")
        with pytest.raises(SourceError, match="Is a directory"):
            LogFile(f"{path}!/n1")
        with pytest.raises(NotADirectoryError):
            names_in(f"{path}!/n1/meta.properties")


def test_archive_that_is_not_compressed_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "USABLE", 0)  # no room for a byte
    KINDS["log.tar"](tmp_path / "a.tar", FILES)

    with (
        mounted_archive(f"{tmp_path}/a.tar", is_wanted),
        LogFile(f"{tmp_path}/a.tar!/n1/t-0/0.log") as log,
    ):
        assert log.read_at(0, 9) == LOG[:9]

    KINDS["log.tar.gz"](tmp_path / "a.tar.gz", FILES)
    with pytest.raises(NoRoom), mounted_archive(f"{tmp_path}/a.tar.gz", is_wanted):
        pass


@each_kind
def test_zeros_take_no_room(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes of a running broker are preallocated: 10 MiB each, of zeros."""
    monkeypatch.setattr(module, "ANY_RATIO_DATA_BYTES", 3 * MIB)
    monkeypatch.setattr(module, "MOST_DATA_RATIO", 0)
    KINDS[name](tmp_path / name, {"a.index": bytes(10 * MIB), "a.log": b"x" * 2 * MIB})

    with (
        mounted_archive(f"{tmp_path}/{name}", is_wanted),
        LogFile(f"{tmp_path}/{name}!/a.index") as index,
    ):
        assert index.size == 10 * MIB
        if name not in ("log.tar", "log.zip"):
            assert index.next_data(0) > 9 * MIB

    KINDS[name](tmp_path / name, {"a.log": b"x" * 4 * MIB})
    if name != "log.tar":
        with (
            pytest.raises(DamagedArchive, match="it inflates to more than 3145728 bytes"),
            mounted_archive(f"{tmp_path}/{name}", is_wanted),
        ):
            pass


@each_kind
@pytest.mark.parametrize("inner", ["../0.log", "a/../../0.log", "/../0.log"])
def test_path_that_leads_out_is_left_out(tmp_path: Path, name: str, inner: str) -> None:
    KINDS[name](tmp_path / name, {inner: b"x", "./t-0//1.log": b"log"})

    with mounted_archive(f"{tmp_path}/{name}", is_wanted) as (mount, skipped):
        assert skipped == [Skipped(inner, "its path leads out of the archive")]
        assert mount.folders.keys() == {"", "t-0"}
        assert names_in(f"{tmp_path}/{name}!/t-0") == ["1.log"]


@each_kind
def test_nodes_with_absolute_names_are_read_and_never_two_of_them_as_one(
    tmp_path: Path, name: str
) -> None:
    first, second = {"/var/lib/k1/meta.properties": b"1"}, {"/var/lib/k2/meta.properties": b"2"}
    KINDS[name](tmp_path / name, first | second)
    with mounted_archive(f"{tmp_path}/{name}", is_wanted) as (_, skipped):
        assert not skipped
        assert names_in(f"{tmp_path}/{name}!/var/lib") == ["k1", "k2"]

    KINDS[name](tmp_path / name, first | {"./var/lib/k1/meta.properties": b"2"})
    with (
        pytest.raises(SourceError, match="of two nodes under one name"),
        mounted_archive(f"{tmp_path}/{name}", is_wanted),
    ):
        pass


def test_file_in_the_place_of_a_directory_is_left_out(tmp_path: Path) -> None:
    files = {"a": b"x", "a/0.log": b"x", "b/0.log": b"x", "b": b"x"}
    KINDS["log.tar"](tmp_path / "a.tar", files)

    with mounted_archive(f"{tmp_path}/a.tar", is_wanted) as (_, skipped):
        reason = "its path is that of a directory, or leads through a file"
        assert skipped == [Skipped("a/0.log", reason), Skipped("b", reason)]


def test_zip64_is_read(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("t-0/0.log", "w", force_zip64=True) as file,
    ):
        file.write(LOG)

    with (
        mounted_archive(f"{tmp_path}/a.zip", is_wanted),
        LogFile(f"{tmp_path}/a.zip!/t-0/0.log") as log,
    ):
        assert log.read_at(0, log.size) == LOG


def test_the_copy_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is gone with the process, however that ends."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    KINDS["log.tar.gz"](tmp_path / "a.tar.gz", FILES)

    with mounted_archive(f"{tmp_path}/a.tar.gz", is_wanted):
        assert os.listdir(scratch) == []


@pytest.mark.parametrize(("name", "is_named"), [("t-2", True), ("current", False)])
def test_link_in_the_place_of_a_partition_is_named(
    tmp_path: Path, name: str, *, is_named: bool
) -> None:
    archive = tmp_path / "n1.tar"
    (tmp_path / "n1").mkdir()
    (tmp_path / f"n1/{name}").symlink_to("/mnt/other/t-2")
    with tarfile.open(archive, "w") as tar:
        tar.add(tmp_path / "n1", "n1")

    with mounted_archive(str(archive), lambda path: path.endswith(".log")) as (_, skipped):
        assert skipped == ([Skipped(f"n1/{name}", "it is a link")] if is_named else [])
