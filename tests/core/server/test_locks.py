"""The lock of a log directory is looked at without being taken, and taken when formatting."""

import fcntl
import os
import sys
from pathlib import Path

import pytest

from kraftops.errors import StorageError
from kraftops.server.locks import Holder, InUse, check_unlocked, hold_lock, lock_holder
from tests.helpers.nodes.node_directories import locked


def is_free(directory: Path) -> bool:
    """Return whether another process can take the lock."""
    try:
        with locked(directory):
            return True
    except AssertionError:
        return False


class TestLooking:
    def test_missing_lock_file_has_no_holder(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        for name in ("", "nothing", "file"):
            assert lock_holder(str(tmp_path / name)) is None

        assert os.listdir(tmp_path) == ["file"]

    def test_lock_file_of_a_stopped_server_has_no_holder(self, tmp_path: Path) -> None:
        (tmp_path / ".lock").touch()

        assert lock_holder(str(tmp_path)) is None
        check_unlocked(str(tmp_path), "format")

    def test_holder_has_its_program(self, tmp_path: Path) -> None:
        """But not its arguments, which may be secret."""
        with locked(tmp_path, "secret") as pid:
            holder = lock_holder(str(tmp_path))

        assert holder == Holder(pid, os.path.basename(sys.executable))
        assert str(holder) == f"process {pid} ({os.path.basename(sys.executable)})"

    def test_holder_has_its_class_of_kafka(self, tmp_path: Path) -> None:
        args = ("-Xmx1g", "-Dpassword=secret", "kafka.Kafka", "server.properties")

        with locked(tmp_path, *args):
            holder = lock_holder(str(tmp_path))

        assert holder
        assert holder.command == f"{os.path.basename(sys.executable)} kafka.Kafka"

    @pytest.mark.parametrize(
        ("holder", "text"),
        [
            (Holder(7, None), "process 7"),
            (Holder(7, "java kafka.Kafka"), "process 7 (java kafka.Kafka)"),
            (Holder(0, None), "a process outside of this container"),
            (Holder(-1, None), "a process outside of this container"),
        ],
    )
    def test_text_of_a_holder(self, holder: Holder, text: str) -> None:
        assert str(holder) == text

    def test_locked_directory_is_refused(self, tmp_path: Path) -> None:
        with locked(tmp_path) as pid, pytest.raises(InUse) as refused:
            check_unlocked(str(tmp_path), "format")

        assert refused.value.message.startswith(f"{tmp_path} is in use: process {pid} (")
        assert refused.value.hint == "stop it, then format"

    def test_lock_is_not_taken_nor_changed(self, tmp_path: Path) -> None:
        path = tmp_path / ".lock"
        path.touch()
        before = path.stat()

        lock_holder(str(tmp_path))

        assert is_free(tmp_path)
        assert path.stat() == before

    def test_fifo_in_its_place_is_no_trap(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / ".lock")

        assert lock_holder(str(tmp_path)) is None

    def test_lock_that_cannot_be_looked_at_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / ".lock").symlink_to(".lock")

        with pytest.raises(StorageError, match=r"cannot read the lock .*/\.lock: Too many"):
            check_unlocked(str(tmp_path), "format")


class TestHolding:
    def test_lock_is_held_and_given_back(self, tmp_path: Path) -> None:
        with hold_lock(str(tmp_path), None):
            during = is_free(tmp_path)

        assert not during
        assert is_free(tmp_path)

    def test_file_stays_as_a_server_leaves_it(self, tmp_path: Path) -> None:
        (tmp_path / ".lock").write_bytes(b"x")

        with hold_lock(str(tmp_path), None):
            pass

        assert (tmp_path / ".lock").read_bytes() == b"x"

    def test_lock_of_another_is_refused(self, tmp_path: Path) -> None:
        with (
            locked(tmp_path) as pid,
            pytest.raises(InUse) as refused,
            hold_lock(str(tmp_path), None),
        ):
            pass

        assert refused.value.message.startswith(f"{tmp_path} is in use: process {pid} (")

    def test_lock_file_removed_meanwhile_is_no_lock(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A format that fails removes the lock of a directory that it made."""
        take = fcntl.lockf

        for is_new in (False, True):

            def take_removed(fd: int, operation: int, is_new: bool = is_new) -> None:
                (tmp_path / ".lock").unlink()
                if is_new:
                    (tmp_path / ".lock").touch()
                take(fd, operation)

            monkeypatch.setattr(fcntl, "lockf", take_removed)
            with pytest.raises(InUse, match="another process"), hold_lock(str(tmp_path), None):
                pass

    @pytest.mark.parametrize("kind", ["directory", "missing"])
    def test_lock_file_that_cannot_be_opened_is_refused(self, kind: str, tmp_path: Path) -> None:
        directory = tmp_path / "d"
        if kind != "missing":
            directory.mkdir()
        if kind == "directory":
            (directory / ".lock").mkdir()

        with (
            pytest.raises(StorageError, match=r"cannot open the lock .*/d/\.lock: "),
            hold_lock(str(directory), None),
        ):
            pass

    def test_lock_that_cannot_be_had_is_not_said_to_be_anothers(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def without_locks(fd: int, operation: int) -> None:
            raise OSError(37, "No locks available")

        monkeypatch.setattr(fcntl, "lockf", without_locks)

        with (
            pytest.raises(StorageError, match=r"cannot lock .*/\.lock: No locks available"),
            hold_lock(str(tmp_path), None),
        ):
            pass

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
    def test_new_file_belongs_to_the_owner(self, tmp_path: Path) -> None:
        with hold_lock(str(tmp_path), (12345, 12346)):
            pass

        status = (tmp_path / ".lock").stat()
        assert (status.st_uid, status.st_gid) == (12345, 12346)
