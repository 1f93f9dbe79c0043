"""Members of archives are read in one pass, within limits."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from kraftops.log.bundles import members as module
from kraftops.log.bundles.members import MemberKind, members
from kraftops.log.codecs import zstd_module
from kraftops.log.reader import BLOCK, DamagedArchive
from tests.helpers.logs.bundles import KINDS, Files

FILES = {
    "a/0.log": b"log",
    "empty": b"",
    "b": bytes(range(256)) * (BLOCK // 200),
    "c/d": b"x" * 512,
}


def contents(path: Path) -> Files:
    return {member.name: b"".join(member.blocks()) for member in members(str(path))}


def refused(path: Path) -> DamagedArchive:
    with pytest.raises(DamagedArchive) as error:
        contents(path)
    return error.value


@pytest.mark.parametrize("name", KINDS)
def test_files_are_read(tmp_path: Path, name: str) -> None:
    KINDS[name](tmp_path / name, FILES)

    assert contents(tmp_path / name) == FILES


@pytest.mark.parametrize("name", KINDS)
def test_files_may_be_left_out(tmp_path: Path, name: str) -> None:
    KINDS[name](tmp_path / name, FILES)

    assert [member.name for member in members(str(tmp_path / name))] == list(FILES)


def test_links_and_devices_have_no_content(tmp_path: Path) -> None:
    kinds = {
        "s": tarfile.SYMTYPE,
        "h": tarfile.LNKTYPE,
        "d": tarfile.CHRTYPE,
        "f": tarfile.FIFOTYPE,
    }
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for name, kind in kinds.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)

    found = [(member.name, member.kind, member.content) for member in members(f"{tmp_path}/x.tar")]

    link, device = MemberKind.LINK, MemberKind.DEVICE
    assert found == [("s", link, None), ("h", link, None), ("d", device, None), ("f", device, None)]


def test_link_in_a_zip_is_a_link(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        info = zipfile.ZipInfo("s")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")

    assert [member.kind for member in members(f"{tmp_path}/x.zip")] == [MemberKind.LINK]


@pytest.mark.parametrize("name", KINDS)
def test_more_members_than_the_limit_are_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    KINDS[name](tmp_path / name, FILES)
    monkeypatch.setattr(module, "MOST_MEMBERS", len(FILES) - 1)

    assert refused(tmp_path / name).message == "it has more than 3 members"


@pytest.mark.parametrize("name", ["log.tar.xz", "log.tar.zst", "log.tar.bz2"])
def test_bomb_is_refused_before_it_is_inflated(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size is known from the header: nothing of the content is asked for."""
    KINDS[name](tmp_path / name, {"0.log": bytes(32 << 20)})
    monkeypatch.setattr(module, "ANY_RATIO_BYTES", 16 << 20)
    size = (tmp_path / name).stat().st_size

    with pytest.raises(DamagedArchive) as error:
        next(members(str(tmp_path / name)))

    message, hint = error.value.message, error.value.hint
    assert message == f"its {size} bytes inflate to {(32 << 20) + 512} bytes or more"
    assert hint == "unpack it, if that is right, and name the directory"


def test_bomb_of_overlapping_members_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ANY_RATIO_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.log", bytes(1 << 16))
        archive.filelist *= 3000

    assert "inflate to" in refused(tmp_path / "x.zip").message


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_header_that_would_fill_the_memory_is_refused(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 1 << 30
    head = info.tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "x.tar.zst").write_bytes(zstd_module().compress(head + bytes(4 << 20)))

    assert refused(tmp_path / "x.tar.zst").message == f"a header of {1 << 30} bytes"


def test_sparse_file_is_read_with_its_holes(tmp_path: Path) -> None:
    """GNU tar writes them with -S: the data, and a map of where it lies."""
    data = b"y" * 512
    info = tarfile.TarInfo("0.index")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 512
    head = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    head[386:410] = b"%011o\0%011o\0" % (1024, 512)
    head[483:495] = b"%011o\0" % 2048
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    (tmp_path / "x.tar").write_bytes(bytes(head) + data + bytes(1024))

    assert contents(tmp_path / "x.tar") == {"0.index": bytes(1024) + data + bytes(512)}


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"no archive")

    assert refused(tmp_path / "x.tar").message == "truncated header"


def test_time_of_a_member_is_kept(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.mtime = 1_700_000_000
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.addfile(info, io.BytesIO())

    assert [member.modified for member in members(f"{tmp_path}/x.tar")] == [1_700_000_000]


def test_damage_of_bzip2_in_a_zip_is_one_of_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a", b"x" * 100)
    path.write_bytes(path.read_bytes().replace(b"BZh9", b"BZhx"))

    assert refused(path).message == "bzip2: Invalid data stream"
