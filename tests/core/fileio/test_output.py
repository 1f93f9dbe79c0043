"""Output files are there whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.fileio.atomic import OutputFile
from kraftops.fileio.output import (
    PLAIN,
    ExistsError,
    OutputError,
    OutputFlags,
    open_output,
    open_plainly,
    refuse_output,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

REPLACING = OutputFlags(overwrite=True)
NEW, OLD = b"new\n" * 1000, b"old\n"


@pytest.fixture(params=["without a name", "with a name"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The two ways to write beside the target; not every file system has the first."""
    if request.param == "with a name":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return str(request.param)


@pytest.fixture(autouse=True)
def _nothing_stays_behind(tmp_path: Path) -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) <= before
    assert list(tmp_path.rglob(".*")) == []


def write(path: Path | str, data: bytes = NEW, **options: Any) -> None:
    with open_output(str(path), **options) as fd:
        assert os.write(fd, data) == len(data)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Regular files


def test_file_exists_at_the_end(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    with open_output(str(path)) as fd:
        os.write(fd, NEW)
        assert not path.exists()

    assert path.read_bytes() == NEW


def test_file_is_replaced_at_the_end(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(OLD)
    with open_output(str(path), flags=REPLACING) as fd:
        os.write(fd, NEW)
        assert path.read_bytes() == OLD

    assert path.read_bytes() == NEW


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_mode_of_a_new_file_is_by_umask(umask: int, way: str, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        write(tmp_path / "out")
    finally:
        os.umask(before)

    assert mode(tmp_path / "out") == 0o666 & ~umask


def test_replaced_program_does_not_stay_another_users_program(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.touch()
    path.chmod(0o4755)

    write(path, flags=REPLACING)

    assert mode(path) == 0o755


def test_mode_of_a_replaced_file_stays(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.touch(mode=0o640)

    write(path, flags=REPLACING)

    assert mode(path) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owner_of_a_replaced_file_stays(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.touch()
    os.chown(path, 12, 34)

    write(path, flags=REPLACING)

    assert (path.stat().st_uid, path.stat().st_gid) == (12, 34)


@pytest.mark.parametrize("is_private", [False, True])
@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "link to a device"])
def test_what_exists_is_replaced_only_if_asked(
    kind: str, is_private: bool, way: str, tmp_path: Path
) -> None:
    """A link that somebody has planted is never followed."""
    path, other = tmp_path / "out", tmp_path / "other"
    if kind != "dangling link":
        other.write_bytes(OLD)
    if kind == "file":
        path.write_bytes(OLD)
    else:
        path.symlink_to("/dev/null" if kind == "link to a device" else other)

    for refused in (write, refuse_output):
        with pytest.raises(ExistsError) as caught:
            refused(str(path), flags=OutputFlags(is_private=is_private))
    before = path.is_symlink()
    write(path, flags=OutputFlags(overwrite=True, is_private=is_private))

    assert (caught.value.exit_code, caught.value.message) == (3, f"{path} exists")
    assert caught.value.hint == "--overwrite replaces it"
    assert before is (kind != "file")
    assert (path.read_bytes(), path.is_symlink()) == (NEW, False)
    assert other.exists() is (kind != "dangling link")
    assert kind == "dangling link" or other.read_bytes() == OLD


def test_file_that_appears_meanwhile_is_not_replaced(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"

    def written_late() -> None:
        with open_output(str(path)) as fd:
            os.write(fd, NEW)
            path.write_bytes(OLD)

    with pytest.raises(ExistsError):
        written_late()

    assert path.read_bytes() == OLD


@pytest.mark.parametrize("is_there", [False, True])
def test_private_file_is_for_its_user_alone(is_there: bool, way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    if is_there:
        path.touch(mode=0o644)
        if os.geteuid() == 0:
            os.chown(path, 12, 34)
    with open_output(str(path), flags=OutputFlags(is_there, is_private=True)) as fd:
        assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o600
        os.write(fd, NEW)

    assert (mode(path), path.stat().st_uid) == (0o600, os.geteuid())


def test_file_system_without_links_has_whole_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(OutputFile, "_nameless", lambda *_: -1)
    path = tmp_path / "out"

    write(path)
    with pytest.raises(ExistsError):
        write(path)

    assert os.listdir(tmp_path) == ["out"]
    assert path.read_bytes() == NEW


def test_plain_files_are_no_links(tmp_path: Path) -> None:
    path, link = tmp_path / "out", tmp_path / "link"
    link.symlink_to(path)
    for is_append in (False, True):
        with pytest.raises(OSError, match="it is a symbolic link"):
            open_plainly(str(link), is_append=is_append)
    assert not path.exists()
    path.touch(mode=0o644)

    with open_plainly(str(path), is_append=True, is_private=True) as file:
        file.write(NEW)

    assert (path.read_bytes(), mode(path)) == (NEW, 0o600)


def test_path_may_be_relative(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("out")

    assert (tmp_path / "out").read_bytes() == NEW


def test_name_may_be_as_long_as_names_are(way: str, tmp_path: Path) -> None:
    write(tmp_path / ("ü" * 127))

    assert [path.read_bytes() for path in tmp_path.iterdir()] == [NEW]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("is_there", [False, True])
def test_error_leaves_the_old_file(
    is_there: bool, error: BaseException, way: str, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    if is_there:
        path.write_bytes(OLD)

    def fail() -> None:
        with open_output(str(path), flags=REPLACING) as fd:
            os.write(fd, NEW)
            raise error

    with pytest.raises(type(error)):
        fail()

    assert (path.read_bytes() if is_there else path.exists()) == (OLD if is_there else False)


def test_two_at_once_are_both_whole(way: str, tmp_path: Path) -> None:
    """The last one counts."""
    path = tmp_path / "out"
    with open_output(str(path), flags=REPLACING) as one:
        os.write(one, OLD)
        with open_output(str(path), flags=REPLACING) as two:
            os.write(two, NEW)
        assert path.read_bytes() == NEW

    assert path.read_bytes() == OLD


# What is not a regular file


def test_dash_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for path in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        with open_output(path) as fd:
            assert fd == 1


def test_own_descriptor_goes_on_where_it_stands(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb", buffering=0) as out:
        out.write(OLD)
        write(f"/dev/fd/{out.fileno()}")

    assert (tmp_path / "out").read_bytes() == OLD + NEW


def test_own_descriptor_that_is_not_for_writing_is_named(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(OLD)

    with (tmp_path / "in").open("rb") as file:
        path = f"/dev/fd/{file.fileno()}"
        with pytest.raises(OutputError, match=f"cannot write {path}: Bad file descriptor"):
            write(path)


def test_device_is_written_to() -> None:
    before = os.stat(os.devnull)

    write(os.devnull)

    assert os.path.samestat(os.stat(os.devnull), before)


def test_fifo_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE)
    write(path)
    out, _ = reader.communicate(timeout=20)

    assert out == NEW
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_fifo_without_a_reader_is_a_broken_pipe(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def lose_the_reader() -> None:
        with open_output(str(path)) as fd:
            os.close(reader)
            os.write(fd, NEW)

    with pytest.raises(BrokenPipeError):
        lose_the_reader()


# What cannot be


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("folder", "Is a directory"),
        ("folder/", "Is a directory"),
        ("new/", "Is a directory"),
        ("none/out", "No such file or directory"),
        ("file/out", "Not a directory"),
        ("n" * 300, "File name too long"),
    ],
)
def test_error_names_the_file(name: str, reason: str, way: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    path = f"{tmp_path}/{name}"

    with pytest.raises(OutputError) as caught:
        write(path)

    assert caught.value.message == f"cannot write {path}: {reason}"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_empty_name_is_no_file() -> None:
    with pytest.raises(OutputError, match="No such file"):
        write("")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_file_without_permission_is_not_replaced(way: str, tmp_path: Path) -> None:
    (tmp_path / "out").touch(mode=0o444)

    with pytest.raises(OutputError, match="Permission denied"):
        write(tmp_path / "out")


def test_file_that_is_read_is_not_replaced(tmp_path: Path) -> None:
    path, other = tmp_path / "0.log", tmp_path / "1.log"
    path.write_bytes(OLD)
    other.hardlink_to(path)

    with pytest.raises(OutputError, match="it is being read"):
        write(other, flags=REPLACING, sources=[str(tmp_path / "none"), str(path)])

    assert path.read_bytes() == OLD


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_device_is_named() -> None:
    with pytest.raises(OutputError, match=r"^cannot write /dev/full: No space left on device$"):
        write("/dev/full")


def test_error_of_another_file_is_its_own(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), open_output(str(tmp_path / "out")):
        os.stat(tmp_path / "none")


def test_signal_as_soon_as_there_is_a_name_leaves_nothing(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python tells of a signal when the call has come back, before it gives the result."""
    path = tmp_path / "file"
    path.write_bytes(OLD)
    call = "link" if way == "without a name" else "open"
    real: Callable[..., int | None] = getattr(os, call)

    def interrupted(*args: Any, **names: Any) -> int | None:
        result = real(*args, **names)
        if not str(args[-1 if call == "link" else 0]).endswith(".tmp"):
            return result
        if result is not None:
            os.close(result)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, call, interrupted)
    with pytest.raises(KeyboardInterrupt), open_output(str(path), flags=REPLACING) as fd:
        os.write(fd, NEW)

    assert path.read_bytes() == OLD


@pytest.mark.parametrize("call", ["fsync", "replace", "link"])
def test_failing_commit_leaves_the_old_file(
    call: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if call == "link" and way == "with a name":
        pytest.skip("it needs no link")
    path = tmp_path / "out"
    path.write_bytes(OLD)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OutputError, match=f"^cannot write {path}: No space left on device$"):
        write(path, flags=REPLACING)

    assert path.read_bytes() == OLD


# Kills

CALLS = ("open", "write", "fchmod", "fchown", "fsync", "link", "replace", "close", "stat")


def killed_at(number: int, path: Path, is_there: bool) -> bool:
    """Write in a child that dies before its call of the system number *number*; did it?"""
    pid = os.fork()
    if not pid:
        left = number

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal left
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **kwargs)

            return call

        try:
            for name in CALLS:
                setattr(os, name, counted(getattr(os, name)))
            write(path, flags=REPLACING if is_there else PLAIN)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("is_there", [False, True])
def test_kill_at_any_time_leaves_the_old_or_the_new(
    is_there: bool, way: str, tmp_path: Path
) -> None:
    path, seen, litter = tmp_path / "out", set(), 0
    for number in range(1, 100):
        path.unlink(missing_ok=True)
        if is_there:
            path.write_bytes(OLD)

        was_killed = killed_at(number, path, is_there)

        seen.add(path.read_bytes() if path.exists() else b"")
        for left in tmp_path.glob(".*"):
            left.unlink()
            litter += 1
        if not was_killed:
            break

    assert number > 5
    assert seen == {OLD if is_there else b"", NEW}
    # A file without a name gets one for the moment before it is in its place.
    assert litter <= 1 or way == "with a name"
