"""Directories of which no other user can change anything."""

import os
import stat
from pathlib import Path

import pytest

from kraftops.fileio.private import is_private_file, private_directory


def mode_of(path: str | Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def test_directory_is_made_for_its_owner_alone_and_kept(tmp_path: Path) -> None:
    wanted = str(tmp_path / "cache" / "kraftops")

    with private_directory(wanted) as found:
        assert (found, mode_of(found)) == (wanted, 0o700)

    assert mode_of(wanted) == 0o700


def test_directory_that_others_may_write_to_is_closed_to_them(tmp_path: Path) -> None:
    wanted = tmp_path / "kraftops"
    wanted.mkdir()
    wanted.chmod(0o777)

    with private_directory(str(wanted)) as found:
        assert (found, mode_of(found)) == (str(wanted), 0o700)


def test_without_a_path_a_fresh_one_is_removed_at_the_end() -> None:
    with private_directory("") as found, private_directory("") as other:
        assert found != other
        assert mode_of(found) == 0o700
        Path(found, "file").touch()

    assert not os.path.exists(found)


def test_link_is_not_followed(tmp_path: Path) -> None:
    """Whoever made it could change what is behind it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "kraftops").symlink_to(tmp_path / "elsewhere")

    with private_directory(str(tmp_path / "kraftops")) as found:
        assert not found.startswith(str(tmp_path / "kraftops"))

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_path_through_a_file_gives_a_fresh_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with private_directory(str(tmp_path / "file" / "kraftops")) as found:
        assert os.path.isdir(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
def test_directory_of_another_user_is_not_used(tmp_path: Path) -> None:
    """As with `sudo -E`, which leaves HOME as it is."""
    wanted = tmp_path / "kraftops"
    wanted.mkdir()
    os.chown(wanted, 12345, 12345)

    with private_directory(str(wanted)) as found:
        assert found != str(wanted)

    assert os.stat(wanted).st_uid == 12345


def test_file_is_private_only_with_its_text_and_no_other_writer(tmp_path: Path) -> None:
    file = tmp_path / "java"
    file.write_text("exec java\n")
    file.chmod(0o700)
    (tmp_path / "link").symlink_to(file)

    assert is_private_file(str(file), "exec java\n")
    assert not is_private_file(str(file), "exec java")
    assert not is_private_file(str(tmp_path / "link"), "exec java\n")
    assert not is_private_file(str(tmp_path), "")
    assert not is_private_file(str(tmp_path / "missing"), "")
    os.mkfifo(tmp_path / "pipe")
    assert not is_private_file(str(tmp_path / "pipe"), "")
    file.chmod(0o720)
    assert not is_private_file(str(file), "exec java\n")
