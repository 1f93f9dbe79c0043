"""A planned format is written under locks, each directory whole or not at all."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from kraftops.errors import StorageError
from kraftops.server import locks
from kraftops.server.locks import InUse, lock_holder
from kraftops.storage.format import execute as format_execute
from kraftops.storage.format.execute import format_directories
from tests.helpers.nodes.formats import NODE, plan, refusal, run, voter_id
from tests.helpers.nodes.node_directories import (
    DYNAMIC,
    PROPERTIES,
    SNAPSHOT,
    entries,
    formatted,
    locked,
    make_node,
    temporary_files,
)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
pytestmark = pytest.mark.usefixtures("working_directory")


def between(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen once, when the next format has made its directories."""
    take = locks.hold_lock

    def hold_lock(directory: str, owner: tuple[int, int] | None) -> AbstractContextManager[None]:
        monkeypatch.setattr(format_execute, "hold_lock", take)
        happens()
        return take(directory, owner)

    monkeypatch.setattr(format_execute, "hold_lock", hold_lock)


class TestLocks:
    @pytest.mark.parametrize("place", ["d1", "d2"])
    def test_directory_in_use_is_refused(self, place: str) -> None:
        """One that is formatted, too: its server may be about to start on the other."""
        make_node(NODE, log_dirs="d1")
        run()
        make_node(NODE, log_dirs="d1,d2")
        Path(place).mkdir(exist_ok=True)
        with locked(place) as pid:
            message = refusal(ignore_formatted=True)

        assert message.startswith(f"{place} is in use: process {pid} (")
        assert [target.directory.path for target in run(ignore_formatted=True)] == ["d2"]

    def test_all_directories_are_locked_until_the_end(self) -> None:
        make_node(NODE)
        planned = plan()
        look = "import sys; from kraftops.server.locks import lock_holder as l; print(l('d1'), l('d2'))"

        for _ in format_directories(planned):
            seen = subprocess.run(
                [sys.executable, "-c", look], capture_output=True, text=True, check=True
            ).stdout
            assert seen.count(f"process {os.getpid()} (") == 2

        seen = subprocess.run(
            [sys.executable, "-c", look], capture_output=True, text=True, check=True
        ).stdout
        assert seen == "None None\n"
        assert lock_holder("d1") is None

    def test_format_after_a_faster_one_is_refused_and_undoes_nothing(self) -> None:
        make_node(NODE, DYNAMIC)
        late = plan(standalone=True)
        run(standalone=True)
        before = entries(NODE)

        with pytest.raises(InUse, match="another process formatted a directory at the same time"):
            list(format_directories(late))

        assert entries(NODE) == before
        assert formatted(NODE, is_dynamic=True) == ["d1", "d2"]

    def test_directories_that_another_format_fills_are_left_alone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It came between their making and their locking."""
        make_node(NODE, DYNAMIC)
        late, other = plan(standalone=True), plan(standalone=True)
        between(monkeypatch, lambda: list(format_directories(other)))

        with pytest.raises(InUse, match="another process formatted a directory at the same time"):
            list(format_directories(late))

        assert formatted(NODE, is_dynamic=True) == ["d1", "d2"]
        assert voter_id() == other.targets[0].directory_id
        assert Path("d1/.lock").exists()

    def test_directories_that_another_format_is_about_to_fill_stay(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_node(NODE)
        late = plan()
        with ExitStack() as other:
            between(monkeypatch, lambda: other.enter_context(locked("d2")))

            with pytest.raises(InUse, match="d2 is in use: process"):
                list(format_directories(late))

        assert Path("d1").is_dir()
        assert Path("d2/.lock").is_file()
        assert formatted(NODE) == []

    def test_abandoned_format_leaves_formatted_directories(self) -> None:
        make_node(NODE)

        done = format_directories(plan())
        assert isinstance(done, Iterator)
        next(done)
        del done

        assert formatted(NODE) == ["d1"]
        assert temporary_files(NODE) == []
        assert not Path("d2").exists()


@pytest.mark.parametrize("name", ["bootstrap.checkpoint", "meta.properties"])
def test_directories_that_were_made_and_not_formatted_go(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_node(NODE, DYNAMIC)
    replace = os.replace

    def failing(source: str, target: str) -> None:
        if target == f"d1/{name}":
            raise OSError(errno.EIO, os.strerror(errno.EIO), target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)

    with pytest.raises(StorageError) as failed:
        run(standalone=True)

    assert failed.value.message == f"cannot format: d1/{name}: Input/output error"
    assert sorted(os.listdir()) == [PROPERTIES]


class TestModes:
    @pytest.mark.parametrize(
        ("mask", "file", "directory"),
        [(0o22, 0o644, 0o755), (0o77, 0o600, 0o700), (0, 0o666, 0o777)],
    )
    def test_modes_follow_the_umask_except_of_the_snapshot(
        self, mask: int, file: int, directory: int, umask: Callable[[int], int]
    ) -> None:
        make_node(NODE, DYNAMIC, log_dirs="new/d1")
        umask(mask)

        run(standalone=True)

        found = {name: mode for name, (mode, _) in entries(Path("new")).items()}
        assert found == {
            "d1": directory,
            "d1/.lock": file,
            "d1/__cluster_metadata-0": directory,
            f"d1/{SNAPSHOT}": 0o400,
            "d1/bootstrap.checkpoint": file,
            "d1/meta.properties": file,
        }

    @needs_root
    def test_files_belong_to_the_owner_of_the_directory(self) -> None:
        """Of the nearest one above, where it is new."""
        make_node(NODE, DYNAMIC, log_dirs="d1,new/below/d2")
        Path("d1").mkdir()
        Path("new").mkdir()
        os.chown("d1", 12345, 12346)
        os.chown("new", 54321, 54322)

        run(standalone=True)

        owners = {
            str(path): (path.stat().st_uid, path.stat().st_gid)
            for path in Path().rglob("*")
            if str(path) != PROPERTIES
        }
        assert len(owners) == 12
        for path, owner in owners.items():
            assert owner == ((12345, 12346) if path.startswith("d1") else (54321, 54322)), path


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors have no names here")
def test_meta_properties_is_renamed_last_after_all_syncs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a power cut could leave a directory that only seems to be formatted."""
    make_node(NODE, DYNAMIC)
    done: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def recorded_fsync(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        done.append(("sync", os.path.relpath(path)))
        fsync(fd)

    def recorded_replace(source: str, target: str) -> None:
        done.append(("rename", target))
        assert ("sync", source) in done
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "replace", recorded_replace)

    run(standalone=True)

    renames = [path for call, path in done if call == "rename"]
    assert renames == [
        "d1/bootstrap.checkpoint",
        f"d1/{SNAPSHOT}",
        "d1/meta.properties",
        "d2/bootstrap.checkpoint",
        "d2/meta.properties",
    ]
    last_write = max(at for at, (_, path) in enumerate(done) if path.endswith((".tmp", ".part")))
    assert last_write < done.index(("rename", renames[0]))
    for place in ("d1", "d2"):
        meta = done.index(("rename", f"{place}/meta.properties"))
        for path in renames:
            if path.startswith(place):
                synced = ("sync", os.path.dirname(path))
                at = done.index(("rename", path))
                assert synced in done[at + 1 : meta if at < meta else None], path
