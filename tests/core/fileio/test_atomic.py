"""Files are written whole or not at all, and belong to whom they should."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.fileio.atomic import (
    NewFile,
    existing_parent,
    make_directories,
    make_directory,
    owner_of,
    sync_directory,
)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
OTHER = 12345


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Set the umask until the test is over."""
    before = os.umask(0o22)
    yield os.umask
    os.umask(before)


def new_file(folder: Path, data: bytes = b"new", mode: int | None = None) -> NewFile:
    return NewFile(str(folder / "file"), str(folder / "file.tmp"), data, mode)


def failing(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


class TestNewFile:
    def test_target_is_as_it_was_until_the_commit(self, tmp_path: Path) -> None:
        file = new_file(tmp_path)
        (tmp_path / "file").write_bytes(b"old")

        file.prepare(None)
        prepared = (tmp_path / "file").read_bytes()
        file.commit()

        assert prepared == b"old"
        assert (tmp_path / "file").read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["file"]

    @pytest.mark.parametrize("mode", [None, 0o400])
    def test_what_a_killed_run_left_is_replaced(self, mode: int | None, tmp_path: Path) -> None:
        """Though it may not be written to."""
        (tmp_path / "file.tmp").write_bytes(b"a longer rest")
        (tmp_path / "file.tmp").chmod(0o400)

        file = new_file(tmp_path, mode=mode)
        file.prepare(None)
        file.commit()

        assert (tmp_path / "file").read_bytes() == b"new"

    def test_link_in_the_place_of_the_temporary_file_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "other").write_bytes(b"other")
        (tmp_path / "file.tmp").symlink_to("other")

        file = new_file(tmp_path)
        file.prepare(None)
        file.commit()

        assert (tmp_path / "other").read_bytes() == b"other"
        assert not (tmp_path / "file").is_symlink()

    @pytest.mark.parametrize(
        ("mask", "mode", "expected"),
        [
            (0o22, None, 0o644),
            (0o77, None, 0o600),
            (0o27, None, 0o640),
            (0, None, 0o666),
            (0o22, 0o400, 0o400),
            (0o77, 0o400, 0o400),
            (0, 0o640, 0o640),
        ],
    )
    def test_mode_is_what_the_umask_leaves_or_as_asked(
        self,
        mask: int,
        mode: int | None,
        expected: int,
        tmp_path: Path,
        umask: Callable[[int], int],
    ) -> None:
        umask(mask)

        new_file(tmp_path, mode=mode).prepare(None)

        assert (tmp_path / "file.tmp").stat().st_mode & 0o7777 == expected

    @pytest.mark.parametrize("call", ["fchmod", "chown", "fsync"])
    def test_failure_leaves_nothing_and_names_the_file(
        self, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = new_file(tmp_path, mode=0o400)
        monkeypatch.setattr(os, call, failing)

        with pytest.raises(OSError, match="No space left") as failed:
            file.prepare((os.geteuid(), os.getegid()))

        assert failed.value.filename == file.path
        assert os.listdir(tmp_path) == []

    def test_interrupt_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(_: int) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupted)

        with pytest.raises(KeyboardInterrupt):
            new_file(tmp_path).prepare(None)

        assert os.listdir(tmp_path) == []

    def test_discard_may_be_repeated(self, tmp_path: Path) -> None:
        file = new_file(tmp_path)
        file.prepare(None)

        file.discard()
        file.discard()

        assert os.listdir(tmp_path) == []

    @needs_root
    def test_owner_is_as_asked(self, tmp_path: Path) -> None:
        file = new_file(tmp_path, mode=0o400)

        file.prepare((OTHER, OTHER + 1))

        status = (tmp_path / "file.tmp").stat()
        assert (status.st_uid, status.st_gid) == (OTHER, OTHER + 1)


def test_error_of_a_sync_names_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", failing)

    with pytest.raises(OSError, match="No space left") as failed:
        sync_directory(str(tmp_path))

    assert failed.value.filename == str(tmp_path)


class TestDirectories:
    def test_missing_ones_are_made_and_told(self, tmp_path: Path) -> None:
        made: list[str] = []

        make_directories(str(tmp_path / "a/b/c"), None, made)
        make_directories(str(tmp_path / "a/b/c"), None, made)

        assert (tmp_path / "a/b/c").is_dir()
        assert made == [str(tmp_path / name) for name in ("a", "a/b", "a/b/c")]

    def test_those_made_before_a_failure_are_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made: list[str] = []
        mkdir = os.mkdir
        monkeypatch.setattr(os, "mkdir", lambda p: failing() if p.endswith("c") else mkdir(p))

        with pytest.raises(OSError, match="No space left"):
            make_directories(str(tmp_path / "a/b/c"), None, made)

        assert made == [str(tmp_path / name) for name in ("a", "a/b")]

    def test_relative_and_untidy_paths_are_those_of_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        made: list[str] = []

        make_directories("./a//b/", None, made)

        assert made == [str(tmp_path / name) for name in ("a", "a/b")]

    def test_link_to_a_directory_is_one(self, tmp_path: Path) -> None:
        made: list[str] = []
        (tmp_path / "a").mkdir()
        (tmp_path / "link").symlink_to("a")

        make_directories(str(tmp_path / "link/b"), None, made)

        assert (tmp_path / "a/b").is_dir()
        assert made == [str(tmp_path / "link/b")]

    def test_one_that_another_process_was_faster_to_make_is_not_ours(self, tmp_path: Path) -> None:
        made: list[str] = []

        make_directory(str(tmp_path), None, made)

        assert made == []

    @pytest.mark.parametrize("kind", ["file", "link to nothing"])
    def test_what_is_no_directory_is_an_error(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "x"
        if kind == "file":
            path.write_bytes(b"")
        else:
            path.symlink_to("nothing")

        with pytest.raises(FileExistsError):
            make_directory(str(path), None, [])

    @needs_root
    def test_root_gives_them_to_the_owner_of_the_one_above(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        os.chown(tmp_path / "a", OTHER, OTHER + 1)
        path = str(tmp_path / "a/b/c")

        owner = owner_of(path)
        make_directories(path, owner, [])

        assert owner == (OTHER, OTHER + 1)
        for name in ("a/b", "a/b/c"):
            status = (tmp_path / name).stat()
            assert (status.st_uid, status.st_gid) == owner

    def test_others_than_root_give_nothing_away(
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
