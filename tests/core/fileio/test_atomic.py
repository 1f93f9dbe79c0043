"""Files are written whole or not at all."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.fileio.atomic import StagedFile, write_file

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
OTHER = 12345


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Set the umask until the test is over."""
    before = os.umask(0o22)
    yield os.umask
    os.umask(before)


def new_file(folder: Path, data: bytes = b"new", mode: int | None = None) -> StagedFile:
    return StagedFile(str(folder / "file"), str(folder / "file.tmp"), data, mode)


def failing(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


class TestStagedFile:
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
    def test_file_of_a_killed_run_is_replaced(self, mode: int | None, tmp_path: Path) -> None:
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
    def test_mode_follows_the_umask_or_the_request(
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

    @pytest.mark.parametrize("call", ["fchmod", "fchown", "fsync"])
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

    def test_signal_as_soon_as_there_is_a_name_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened = os.open

        def interrupted(*args: Any) -> int:
            os.close(opened(*args))
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "open", interrupted)

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


class TestWriteFile:
    def test_file_is_made_of_the_blocks_with_its_time_of_change(self, tmp_path: Path) -> None:
        path = tmp_path / "file"

        write_file(str(path), f"{path}.tmp", [b"one ", b"two"], time_ns=10**18)

        assert path.read_bytes() == b"one two"
        assert path.stat().st_mtime_ns == 10**18
        assert os.listdir(tmp_path) == ["file"]

    @pytest.mark.parametrize("call", ["fsync", "utime", "replace"])
    def test_failure_leaves_the_file_as_it_was(
        self, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "file"
        path.write_bytes(b"old")
        monkeypatch.setattr(os, call, failing)

        with pytest.raises(OSError, match="No space left"):
            write_file(str(path), f"{path}.tmp", [b"new"], time_ns=1)

        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["file"]

    def test_error_of_reading_the_blocks_names_the_source(self, tmp_path: Path) -> None:
        def blocks() -> Iterator[bytes]:
            yield b"one"
            raise OSError(0, "it has shrunk", "source")

        with pytest.raises(OSError, match="it has shrunk") as failed:
            write_file(str(tmp_path / "file"), str(tmp_path / "file.tmp"), blocks())

        assert failed.value.filename == "source"
        assert os.listdir(tmp_path) == []
