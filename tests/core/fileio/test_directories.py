"""Directories are made, synced, and belong to the owner of the one above."""

import os
from pathlib import Path
from typing import Any

import pytest

from kraftops.fileio.directories import (
    change_owner,
    existing_parent,
    make_directories,
    make_directory,
    owner_of,
    sync_directory,
)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
OTHER = 12345


def failing(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


def test_error_of_a_sync_names_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", failing)

    with pytest.raises(OSError, match="No space left") as failed:
        sync_directory(str(tmp_path))

    assert failed.value.filename == str(tmp_path)


@needs_root
def test_link_in_the_place_of_a_file_is_given_away_and_not_followed(tmp_path: Path) -> None:
    """Whoever owns the directory can put one there while root works in it."""
    (tmp_path / "roots").touch()
    (tmp_path / "link").symlink_to(tmp_path / "roots")

    change_owner(str(tmp_path / "link"), (OTHER, OTHER))

    assert (tmp_path / "roots").stat().st_uid == 0
    assert (tmp_path / "link").lstat().st_uid == OTHER


class TestDirectories:
    def test_missing_directories_are_made_and_listed(self, tmp_path: Path) -> None:
        made: list[str] = []

        make_directories(str(tmp_path / "a/b/c"), None, made)
        make_directories(str(tmp_path / "a/b/c"), None, made)

        assert (tmp_path / "a/b/c").is_dir()
        assert made == [str(tmp_path / name) for name in ("a", "a/b", "a/b/c")]

    def test_directory_is_listed_if_a_signal_comes_as_soon_as_it_is_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mkdir, made = os.mkdir, list[str]()

        def interrupted(path: str) -> None:
            mkdir(path)
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "mkdir", interrupted)
        with pytest.raises(KeyboardInterrupt):
            make_directories(str(tmp_path / "a"), None, made)

        assert made == [str(tmp_path / "a")]

    def test_directories_made_before_a_failure_are_listed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made: list[str] = []
        mkdir = os.mkdir
        monkeypatch.setattr(os, "mkdir", lambda p: failing() if p.endswith("c") else mkdir(p))

        with pytest.raises(OSError, match="No space left"):
            make_directories(str(tmp_path / "a/b/c"), None, made)

        assert made == [str(tmp_path / name) for name in ("a", "a/b")]

    def test_relative_path_is_made_absolute(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        made: list[str] = []

        make_directories("./a//b/", None, made)

        assert made == [str(tmp_path / name) for name in ("a", "a/b")]

    def test_link_to_a_directory_counts_as_a_directory(self, tmp_path: Path) -> None:
        made: list[str] = []
        (tmp_path / "a").mkdir()
        (tmp_path / "link").symlink_to("a")

        make_directories(str(tmp_path / "link/b"), None, made)

        assert (tmp_path / "a/b").is_dir()
        assert made == [str(tmp_path / "link/b")]

    def test_directory_that_another_process_made_is_not_listed(self, tmp_path: Path) -> None:
        made: list[str] = []

        make_directory(str(tmp_path), None, made)

        assert made == []

    @pytest.mark.parametrize("kind", ["file", "link to nothing"])
    def test_file_in_place_of_the_directory_is_an_error(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "x"
        if kind == "file":
            path.write_bytes(b"")
        else:
            path.symlink_to("nothing")

        with pytest.raises(FileExistsError):
            make_directory(str(path), None, [])

    @needs_root
    def test_root_gives_directories_to_the_owner_of_the_one_above(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        os.chown(tmp_path / "a", OTHER, OTHER + 1)
        path = str(tmp_path / "a/b/c")

        owner = owner_of(path)
        make_directories(path, owner, [])

        assert owner == (OTHER, OTHER + 1)
        for name in ("a/b", "a/b/c"):
            status = (tmp_path / name).stat()
            assert (status.st_uid, status.st_gid) == owner

    def test_other_users_than_root_change_no_owner(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: OTHER)

        assert owner_of(str(tmp_path)) is None

    def test_nearest_directory_that_exists_is_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A link is there, wherever it leads."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "link").symlink_to("nothing")
        cases = {"": "", "a/b": "", ".": "", "link": "link", "link/a": "link"}

        found = {path: existing_parent(path) for path in cases}

        assert found == {path: str(tmp_path / place) for path, place in cases.items()}
        assert existing_parent("/") == "/"
