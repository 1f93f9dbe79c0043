"""Archives are unpacked as far as they are of use, and not beyond their measure."""

import os
import tarfile
from pathlib import Path

import pytest

from kraftops.log.bundles import wanted as module
from kraftops.log.bundles.unpacking import unpack
from kraftops.log.bundles.wanted import NoRoom, Skipped
from kraftops.log.reader import DamagedArchive
from tests.helpers.logs.bundles import KINDS, Files, files_in

each_kind = pytest.mark.parametrize("name", KINDS)


def is_log(name: str) -> bool:
    return name.endswith(".log")


def made(folder: Path, name: str, files: Files) -> tuple[str, Path]:
    """Return the path of an archive, and of an empty directory."""
    KINDS[name](folder / name, files)
    (folder / "out").mkdir()
    return str(folder / name), folder / "out"


@each_kind
def test_wanted_files_are_written(tmp_path: Path, name: str) -> None:
    files = {"./n1/t-0/0.log": b"log", "n1/notes": b"x", "n1/t-0/1.log": bytes(3 << 20) + b"end"}
    path, out = made(tmp_path, name, files)

    assert unpack(path, str(out), is_log) == []
    assert files_in(out) == {"n1/t-0/0.log": b"log", "n1/t-0/1.log": files["n1/t-0/1.log"]}


def test_zeros_take_no_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes of a running broker are preallocated: 10 MiB each, of zeros."""
    monkeypatch.setattr(module, "ANY_RATIO_DATA_BYTES", 1 << 20)
    monkeypatch.setattr(module, "MOST_DATA_RATIO", 1)
    path, out = made(tmp_path, "log.tar.gz", {"0.log": bytes(10 << 20)})

    unpack(path, str(out), is_log)

    status = (out / "0.log").stat()
    assert (status.st_size, status.st_blocks) == (10 << 20, 0)


@each_kind
def test_too_much_data_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ANY_RATIO_DATA_BYTES", 2 << 20)
    monkeypatch.setattr(module, "MOST_DATA_RATIO", 0)
    path, out = made(tmp_path, name, {"0.log": b"x" * (3 << 20)})

    with pytest.raises(DamagedArchive, match="it inflates to more than 2097152 bytes"):
        unpack(path, str(out), is_log)
    assert (out / "0.log").stat().st_size <= 2 << 20


def test_archive_without_room_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "USABLE", 0)
    path, out = made(tmp_path, "log.tar", {"0.log": b"x"})

    with pytest.raises(NoRoom) as error:
        unpack(path, str(out), is_log)
    assert error.value.hint == "TMPDIR names a directory with more room"


@each_kind
@pytest.mark.parametrize("inner", ["../0.log", "a/../../0.log", "/0.log", "../notes"])
def test_path_that_leads_out_is_left_out(tmp_path: Path, name: str, inner: str) -> None:
    path, out = made(tmp_path, name, {inner: b"x", "t-0/1.log": b"log"})

    assert unpack(path, str(out), is_log) == [Skipped(inner, "its path leads out of the archive")]
    assert files_in(out) == {"t-0/1.log": b"log"}
    assert sorted(os.listdir(tmp_path)) == sorted([name, "out"])


def test_links_and_devices_are_not_made(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for name, kind in {
            "t-0/0.log": tarfile.SYMTYPE,
            "t-0/1.log": tarfile.FIFOTYPE,
            "latest": tarfile.SYMTYPE,
        }.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    (tmp_path / "out").mkdir()

    skipped = unpack(str(tmp_path / "x.tar"), str(tmp_path / "out"), is_log)

    assert skipped == [Skipped("t-0/0.log", "it is a link"), Skipped("t-0/1.log", "it is a device")]
    assert os.listdir(tmp_path / "out") == []


def test_file_in_the_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    path, out = made(tmp_path, "log.tar", {"a.log": b"x", "a.log/0.log": b"x"})

    with pytest.raises(NoRoom, match="cannot write"):
        unpack(path, str(out), is_log)


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1e300", "99999999999999999999"])
def test_file_of_an_impossible_time_is_unpacked(tmp_path: Path, seconds: str) -> None:
    with tarfile.open(tmp_path / "x.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("t-0/0.log")
        info.pax_headers = {"mtime": seconds}
        archive.addfile(info)
    (tmp_path / "out").mkdir()

    assert unpack(str(tmp_path / "x.tar"), str(tmp_path / "out"), is_log) == []
    assert (tmp_path / "out/t-0/0.log").stat().st_mtime == 0


def test_each_directory_is_made_once_and_none_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"n1/t-{partition}/{n}.log": b"log" for partition in range(20) for n in range(10)}
    path, out = made(tmp_path, "log.tar.gz", files)
    mkdir, paths = os.mkdir, []

    def counted(path: str, mode: int = 0o777) -> None:
        paths.append(path)
        mkdir(path, mode)

    def refused(*_: object) -> None:
        raise AssertionError("a directory was listed")

    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", counted)
        patch.setattr(os, "scandir", refused)
        unpack(path, str(out), is_log)

    assert len(paths) == len(set(paths)) == 21
    assert {folder.stat().st_mtime for folder in (out, *out.rglob("t-*"), out / "n1")} == {0}
    assert files_in(out) == files
