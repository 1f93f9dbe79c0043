"""Usual headers of tar archives are read as tarfile reads them, and all others by it."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from kraftops.log.bundles import members as module
from kraftops.log.bundles.members import members

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
NAMES = (
    "0.log",
    "data/plain-0/00000000000000000000.log",
    f"{'d' * 90}/{'e' * 60}.log",  # in two fields
    "täglich-0/0.log",
)


def archive(path: Path, form: int, *, seconds: float = 1_700_000_000) -> list[tarfile.TarInfo]:
    """Write an archive with a directory before each file; return what tarfile reads of the files."""
    with tarfile.open(path, "w", format=form) as tar:
        for number, name in enumerate(NAMES):
            folder = tarfile.TarInfo(name.rpartition("/")[0] or "top")
            folder.type = tarfile.DIRTYPE
            tar.addfile(folder)
            info = tarfile.TarInfo(name)
            info.size, info.mtime = 700 * number, seconds
            tar.addfile(info, io.BytesIO(bytes([number]) * info.size))
    with tarfile.open(path) as tar:
        return [info for info in tar if info.isfile()]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seconds", [0, 1_700_000_000, 1_700_000_000.25])
def test_members_are_those_of_tarfile(tmp_path: Path, form: str, seconds: float) -> None:
    path = tmp_path / "a.tar"
    if form != "pax":
        seconds = int(seconds)
    expected = archive(path, FORMATS[form], seconds=seconds)

    read = [
        (member.name, member.modified, b"".join(member.blocks())) for member in members(str(path))
    ]

    assert read == [
        (info.name, info.mtime, bytes([number]) * 700 * number)
        for number, info in enumerate(expected)
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_usual_members_are_not_read_by_tarfile(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes ten times as long; here it is asked for GNU's long names, and for the end."""
    path = tmp_path / "a.tar"
    archive(path, FORMATS[form])
    positions = []
    ask = module._UnusualMembers.member

    def asked(unusual: module._UnusualMembers, position: int) -> tarfile.TarInfo | None:
        positions.append(position)
        return ask(unusual, position)

    monkeypatch.setattr(module._UnusualMembers, "member", asked)

    assert len(list(members(str(path)))) == len(NAMES)
    assert len(positions) == (2 if form == "gnu" else 1)


def test_common_records_of_all_members_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", pax_headers={"mtime": "77"}) as tar:
        for name in ("a.log", "ä.log"):  # only the second has records of its own
            tar.addfile(tarfile.TarInfo(name))
    with tarfile.open(path) as tar:
        expected = [(info.name, info.mtime) for info in tar]

    assert [(member.name, member.modified) for member in members(str(path))] == expected


@pytest.mark.parametrize("form", ["gnu", "posix", "oldgnu"])
def test_sparse_files_of_gnu_tar(tmp_path: Path, form: str) -> None:
    with (tmp_path / "0.index").open("wb") as file:
        file.seek(1 << 20)
        file.write(b"x" * 5000)
        file.truncate(3 << 20)
    (tmp_path / "0.log").write_bytes(b"log")
    words = ["tar", "-C", str(tmp_path), "-S", f"--format={form}", "-cf", f"{tmp_path}/a.tar"]
    subprocess.run([*words, "0.index", "0.log"], check=True)

    read = {member.name: b"".join(member.blocks()) for member in members(f"{tmp_path}/a.tar")}

    assert read == {name: (tmp_path / name).read_bytes() for name in ("0.index", "0.log")}
    assert (tmp_path / "a.tar").stat().st_size < 1 << 20
