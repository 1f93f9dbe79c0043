"""Signals that end a command: nothing temporary is left, and the terminal is as it was."""

import os
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import ENVIRONMENT, KRAFTOPS, METADATA_SHELL, wait_for_bytes
from tests.helpers.tools.emulator import Emulator

LOG = str(Path("tests/data/shell/in/replay/r01-same-name-new-id.log").absolute())
ENDING = (signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 20.0  # seconds
_HELD = 60_000  # bytes that a pipe takes before its writer waits


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A compressed archive of a partition, with more records than a pipe takes."""
    folder = tmp_path / "t-0"
    folder.mkdir()
    log = folder / "00000000000000000000.log"
    log.write_bytes(b"".join(batch_bytes([Record(at, 9, None, b"v" * 900)]) for at in range(200)))
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        tar.add(folder, "t-0")
    return tmp_path / "a.tar.gz"


@contextmanager
def held(archive: Path, *, ignored: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """Give a dump of an archive that waits for the reader of its output."""
    reader, writer = os.pipe()
    scratch = archive.parent / "scratch"
    scratch.mkdir()
    with subprocess.Popen(
        [KRAFTOPS, "dump-log", "--print-data-log", "--files", str(archive)],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**ENVIRONMENT, "TMPDIR": str(scratch)},
        preexec_fn=lambda: ignored and signal.signal(ignored, signal.SIG_IGN),  # noqa: PLW1509
    ) as process:
        os.close(writer)
        wait_for_bytes(reader, _HELD)
        open_files = [os.readlink(link) for link in Path(f"/proc/{process.pid}/fd").iterdir()]
        assert any(path.startswith(str(scratch)) for path in open_files)
        yield process
        assert process.stderr
        assert process.stderr.read() == b""
    os.close(reader)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("number", ENDING)
def test_inflated_archive_is_removed(archive: Path, number: int) -> None:
    with held(archive) as dump:
        dump.send_signal(number)

        assert dump.wait(_PATIENCE) == -number


def test_signal_that_the_caller_ignores_is_ignored(archive: Path) -> None:
    with held(archive, ignored=signal.SIGHUP) as dump:
        dump.send_signal(signal.SIGHUP)
        dump.send_signal(signal.SIGTERM)

        assert dump.wait(_PATIENCE) == -signal.SIGTERM


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize(
    "program", [(KRAFTOPS, "metadata-shell", "--no-history"), (METADATA_SHELL,)]
)
def test_editor_leaves_the_terminal_as_it_was(program: tuple[str, ...], number: int) -> None:
    with Emulator(*program, "-s", LOG) as screen:
        screen.wait(lambda found: b"\x1b[?2004h" in found.raw)
        assert not screen.is_as_before
        screen.signal(number)

        assert screen.wait_for_end() == -number
        assert screen.is_as_before
        assert screen.raw.rfind(b"\x1b[?2004l") > screen.raw.rfind(b"\x1b[?2004h")
