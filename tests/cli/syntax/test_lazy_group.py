"""Commands of `kraftops`, which are imported when they are run."""

from pathlib import Path

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import DUMP_LOG, run_command

LOG = batch_bytes([Record(0, 5, b"key", b"value")])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    return path


def test_same_tool_is_a_command_of_kraftops(log: Path) -> None:
    program = str(Path(DUMP_LOG).with_name("kraftops"))
    own = run_command("--files", "0.log", "--print-data-log", cwd=log.parent)

    same = run_command(
        "dump-log", "--files", "0.log", "--print-data-log", cwd=log.parent, program=program
    )
    wrong = run_command("dump-log", "--file", "0.log", cwd=log.parent, program=program)
    listed = run_command("--help", cwd=log.parent, program=program)
    version = run_command("--version", cwd=log.parent, program=program)

    assert (same.code, same.out, same.errors) == (0, own.out, [])
    assert wrong.code == 1
    assert wrong.errors[1] == "hint: kraftops dump-log --help shows how it is used"
    assert "dump-log" in listed.text
    assert (version.code, "4.3.1" in version.text) == (0, True)


def test_unknown_command_of_kraftops_is_refused(tmp_path: Path) -> None:
    program = str(Path(DUMP_LOG).with_name("kraftops"))

    done = run_command("dump-logs", cwd=tmp_path, program=program)

    assert done.code == 1
    assert "dump-logs" in done.errors[0]
    assert done.errors[-1].startswith("hint: ")
