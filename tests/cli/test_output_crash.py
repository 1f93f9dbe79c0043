"""An output that fails or is killed at any call is the old file or the new one, never half."""

import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.nodes.child_processes import FULL, INTERRUPT, KILL, Child, failing
from tests.helpers.tools.console import DUMP_LOG, KRAFTOPS, run_here
from tests.helpers.tools.distribution import long_but

LOG = Path("tests/data/shell/in/replay/r01-same-name-new-id.log")
OLD = b"old\n"
LEAST_CALLS = 12
COMMANDS = {
    "text": (DUMP_LOG, "--print-data-log", "--files", "0.log"),
    "rows": (DUMP_LOG, "--format", "json", "--files", "0.log"),
    "parquet": (DUMP_LOG, "--format", "parquet", "--files", "0.log"),
    "summary": (DUMP_LOG, "--summary", "--files", "0.log"),
    "report": (KRAFTOPS, "report", "--format", "json", "0.log"),
    "export": (KRAFTOPS, "metadata-shell", "-s", "0.log", "export"),
}


@pytest.fixture(params=COMMANDS)
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, tuple[str, ...], bytes]:
    """A folder with a log and an old output, a command that replaces this, and what it writes."""
    node = tmp_path / "node"
    node.mkdir()
    shutil.copy(LOG, node / "0.log")
    program, *words = COMMANDS[request.param]
    done = run_here(*words, "--output", "new", cwd=node, program=program)
    assert done.code == 0, done.err
    new = without_times((node / "new").read_bytes())
    (node / "new").rename(node / "out")
    (node / "out").write_bytes(OLD)
    return node, (program, *words, "--overwrite", "--output", "out"), new


@pytest.mark.parametrize("fault", long_but({KILL, FULL}, [KILL, INTERRUPT, FULL, "EIO"]))
def test_output_is_the_old_file_or_the_new_one(
    fault: str, asked: tuple[Path, tuple[str, ...], bytes], tmp_path: Path
) -> None:
    node, (program, *words), new = asked

    *all_failed, last = failing(node, tmp_path / "children", words, fault, program)
    failed = [child for child in all_failed if "0.log" not in child.call]  # the log is not read

    assert (last.code, without_times((last.node / "out").read_bytes())) == (0, new)
    assert len(failed) > LEAST_CALLS
    for child in failed:
        check(child, fault, new)


def without_times(data: bytes) -> bytes:
    """Return an output without its digits, and its directory: a report says when it was made."""
    return re.sub(rb"\d", b"", re.sub(rb"children/\d+/", b"", data))


def check(child: Child, fault: str, new: bytes) -> None:
    out = without_times((child.node / "out").read_bytes())
    left = {path.name for path in child.node.iterdir()} - {"0.log", "out"}
    if fault == KILL:
        assert child.code == -9, child.call
        assert out in (OLD, new), child.call
        return
    assert left == set(), child.call
    assert "Traceback" not in child.err, (child.call, child.err)
    if fault == INTERRUPT:
        # A thread that counts logs of a report may meet it, too, where no Ctrl-C comes.
        assert (child.code, child.err) in ((130, ""), (0, "")), child.call
        assert out == new or (child.code, out) == (130, OLD), child.call
    elif child.code in (0, 2):
        assert out == new, child.call
    else:
        assert len(child.errors) == 1, (child.call, child.err)
        is_there = "out is written, but its directory cannot be synced" in child.err
        assert out == (new if is_there else OLD), (child.call, child.err)
