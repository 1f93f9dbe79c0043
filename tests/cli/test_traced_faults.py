"""Writers whose calls of the system fail in the kernel, or bring a signal: old or new, never half.

`test_output_crash` and its like fail the calls that Python makes; here strace fails all of them,
also those of libraries in C. `KRAFTOPS_TRACED=1` has every writer, fault and call; a run of the
tests has a few.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftops.errors import KraftopsError
from kraftops.log.batch import Record
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Move
from kraftops.server.metadata_log.log import read_metadata_log
from kraftops.storage.format.rewrite import BACKUP_SUFFIX
from kraftops_cli.cluster.moving import drain
from kraftops_shell.session.history import HistoryFile
from kraftops_terminal.ending import EndedBySignal, end_by, raise_at_signals
from tests.helpers.logs.metadata_logs import no_ops
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes.broker_disks import ORDERS, broker_disk
from tests.helpers.nodes.child_processes import Child
from tests.helpers.nodes.lost_quorums import MORE, log_files, other_node, recovery_data, survivor
from tests.helpers.nodes.node_directories import (
    DYNAMIC,
    META,
    OTHER_ID,
    directory_ids,
    entries,
    format_args,
    format_node,
    formatted,
    make_node,
    storage,
    temporary_files,
)
from tests.helpers.nodes.traced_children import Job, is_possible, traced
from tests.helpers.tools.console import DUMP_LOG, KRAFTOPS, STORAGE

LOG = Path("tests/data/shell/in/replay/r01-same-name-new-id.log")
OLD = b"old\n"
SAVED = b'{"version": 1, "partitions": []}\n'
ERRORS = ("EIO", "ENOSPC", "EINTR", "EACCES")
SIGNALS = ("SIGTERM", "SIGHUP", "SIGKILL")
CODES = {"SIGTERM": -15, "SIGHUP": -1, "SIGKILL": -9}
HERE = "tests.cli.test_traced_faults"
EVERY = "KRAFTOPS_TRACED" in os.environ


@pytest.fixture(autouse=True, scope="module")
def strace() -> None:
    """Skip the tests where there is none."""
    if not is_possible():
        pytest.skip("no strace, or it may not trace")


@dataclass(frozen=True, slots=True)
class Writer:
    """A command that writes: the folder in which it runs, its words, and a check of what is left.

    The check gets the fault, the child, the last one, which met no fault, and the folder that all
    began with.
    """

    make: Callable[[Path], None]
    words: tuple[str, ...]
    check: Callable[[str, Child, Child, Path], None]
    program: str = STORAGE
    stdin: str = ""


def check_told(child: Child) -> None:
    assert len(child.errors) == 1, (child.call, child.err)


@contextmanager
def as_a_tool() -> Iterator[None]:
    """End as a tool does that meets an error or a signal."""
    raise_at_signals()
    try:
        yield
    except EndedBySignal as error:
        end_by(error.number)
    except KraftopsError as error:
        sys.stderr.write(f"tool: {error.message}\n")
        sys.stderr.flush()
        os._exit(1)


# Outputs


def make_log(folder: Path) -> None:
    folder.mkdir()
    shutil.copy(LOG, folder / "0.log")
    (folder / "out").write_bytes(OLD)


def make_long_log(folder: Path) -> None:
    """Make a log whose output is written in several blocks."""
    make_log(folder)
    batches = [batch_bytes([Record(at, 9, None, b"v" * 900)]) for at in range(3_000)]
    (folder / "0.log").write_bytes(b"".join(batches))


def make_saved(folder: Path) -> None:
    folder.mkdir()
    (folder / "out").write_bytes(SAVED)


def state_of(child: Child, last: Child) -> str:
    """Tell whether an output is old or new; a report says when it was made."""
    found, new = ((one.node / "out").read_bytes() for one in (child, last))
    if found in (OLD, SAVED):
        return "old"
    is_new = found == new or re.sub(rb"\d", b"", found) == re.sub(rb"\d", b"", new)
    return "new" if is_new else "half"


def check_output(fault: str, child: Child, last: Child, _: Path) -> None:
    state = state_of(child, last)
    left = {path.name for path in child.node.iterdir()} - {"0.log", "out"}
    if fault == "SIGKILL":
        assert state != "half", child.call
        return
    assert left == set(), child.call
    if "cannot read 0.log" in child.err:
        return  # what could be read is written
    if child.code in (0, 2):
        assert state == "new", child.call
        return
    if child.code == CODES.get(fault):
        assert child.err == "", child.call
        assert state != "half", child.call
        return
    check_told(child)
    is_of_output = re.fullmatch(r'[^;]*("out"|\(deleted\))[^;]*', child.call)
    files = ("out",) if is_of_output else ("out", "0.log", "page.html")
    assert any(file in child.err for file in files), (child.call, child.err)
    is_there = "out is written, but its directory cannot be synced" in child.err
    assert state == ("new" if is_there else "old"), (child.call, child.err)


def output(make: Callable[[Path], None], program: str, *words: str) -> Writer:
    return Writer(make, (*words, "--overwrite", "--output", "out"), check_output, program)


def save_plan(path: str) -> None:
    """Do what `drain --save` does before it changes anything."""
    with as_a_tool():
        drain._save(path, [Move(TopicPartition("t", 0), (1, 2), (2, 1))])


# The shell's own redirection, which is a shell's: half is possible, but is said


def check_redirected(fault: str, child: Child, last: Child, _: Path) -> None:
    assert {path.name for path in child.node.iterdir()} == {"0.log", "out"}, child.call
    if child.code == 0:
        assert state_of(child, last) == "new", child.call
    elif fault in SIGNALS:
        assert (child.code, child.err) == (CODES[fault], ""), child.call
    else:
        check_told(child)


# The history of lines


def make_history(folder: Path) -> None:
    folder.mkdir()
    (folder / "history").write_text("".join(f"{number}\n" for number in range(20_001)))


def use_history() -> None:
    """Load the history, which is too long and so is cut, and add a line."""
    with as_a_tool():
        file = HistoryFile("history")
        file.load()
        file.add("new")


def check_history(fault: str, child: Child, *_: object) -> None:
    first, *middle, last = (child.node / "history").read_text().splitlines()
    assert first in ("0", "10001"), child.call
    assert last in ("20000", "new"), child.call
    assert len(middle) + 2 == (20_001 if first == "0" else 10_000) + (last == "new"), child.call
    assert child.err == "", child.call
    assert child.code == 0 or child.code == CODES.get(fault), child.call
    if fault != "SIGKILL":
        assert os.listdir(child.node) == ["history"], child.call


# Log directories


def make_new(folder: Path) -> None:
    make_node(folder, DYNAMIC)


def check_format(fault: str, child: Child, *_: object) -> None:
    done = formatted(child.node, is_dynamic=True)
    if child.code == 0:
        assert (child.errors, done) == ([], ["d1", "d2"]), child.call
    elif fault in SIGNALS:
        assert (child.code, child.err) == (CODES[fault], ""), child.call
    else:
        assert child.code in (1, 3), (child.call, child.err)
        check_told(child)
    if fault != "SIGKILL":
        assert temporary_files(child.node) == [], child.call
        for name in {"d1", "d2"}.difference(done):
            assert set(entries(child.node / name)) <= {".lock"}, child.call
    again = format_node(child.node, "-g", "--standalone")
    assert (again.code, again.err) == (0, ""), child.call
    assert formatted(child.node, is_dynamic=True) == ["d1", "d2"], child.call
    assert temporary_files(child.node) == [], child.call
    assert len(directory_ids(child.node)) == 2


def make_formatted(folder: Path) -> None:
    assert format_node(make_node(folder)).code == 0


REWRITE = ("rewrite", "-c", "server.properties", "--cluster-id", OTHER_ID)


def check_rewrite(fault: str, child: Child, *_: object) -> None:
    said = [(child.node / name / META).read_text() for name in ("d1", "d2")]
    are_new = [OTHER_ID in text for text in said]
    assert all("directory.id=" in text for text in said), child.call
    for name, is_new in zip(("d1", "d2"), are_new, strict=True):
        backup = child.node / name / (META + BACKUP_SUFFIX)
        assert not is_new or "directory.id=" in backup.read_text(), child.call
    if fault == "SIGKILL":
        assert are_new in ([False, False], [True, False], [True, True]), child.call
    else:
        assert temporary_files(child.node) == [], child.call
        if child.code == 0:
            assert are_new == [True, True], child.call
        elif fault in SIGNALS:
            assert (child.code, child.err) == (CODES[fault], ""), child.call
            assert are_new in ([False, False], [True, True]), child.call
        else:
            assert child.code in (1, 3), (child.call, child.err)
            check_told(child)
            assert are_new == [False, False], (child.call, child.err)
    again = storage(child.node, *REWRITE)
    assert again.code == 0, (child.call, again.err)
    assert all(OTHER_ID in (child.node / name / META).read_text() for name in ("d1", "d2"))


def make_survivor(folder: Path) -> None:
    survivor(folder, *MORE)


def make_fork(folder: Path) -> None:
    other_node(survivor(folder, *MORE) / "c2", 2, no_ops(5, 2, epoch=3))


def make_brokers(folder: Path) -> None:
    survivor(folder, *ORDERS)
    broker_disk(folder / "b101", 101, {"orders-0": [(0, 100)]})
    broker_disk(folder / "b102", 102, {"orders-0": [(0, 100), (4, 303)]})


FROM = {
    "recover from": ("--from", "c2"),
    "recover elect": ("--from", "b101", "--from", "b102", "--elect-newest"),
}
RECOVER = ("recover", "-c", "server.properties", "--voters", "self", "--offline", "--yes")


def is_sound(node: Path) -> bool:
    """Tell whether a server would find a log without damage and without a hole."""
    log = read_metadata_log(str(node / "meta"))
    return log is not None and not log.damage and not log.content.missing


def servers(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not name.endswith(".recovering")}


def check_recover(fault: str, child: Child, last: Child, template: Path) -> None:
    node, before = child.node, log_files(template)
    there, after = log_files(node), log_files(last.node).keys()
    is_done = servers(there).keys() == after
    assert is_sound(node), child.call
    if fault != "SIGKILL":
        assert is_done or servers(there) == before, (child.call, child.err)
        assert there == servers(there), (child.call, child.err)
        if child.code == 0:
            assert is_done, child.call
        elif fault in SIGNALS:
            assert (child.code, child.err) == (CODES[fault], ""), child.call
        else:
            check_told(child)
    folder = node / "meta/__cluster_metadata-0"
    if [path for path in folder.glob("before-recover-*Z") if path.is_dir()]:
        recovery_data(node, "--undo")
    assert servers(log_files(node)) == before, child.call
    again = recovery_data(node, "--voters", "self", *FROM.get(template.parent.name, ()))
    assert again["changed"] is True, child.call
    assert servers(log_files(node)) == log_files(node), child.call
    assert is_sound(node), child.call


WRITERS = {
    "text": output(make_long_log, DUMP_LOG, "--print-data-log", "--files", "0.log"),
    "json": output(make_long_log, DUMP_LOG, "--format", "json", "--files", "0.log"),
    "csv": output(make_long_log, DUMP_LOG, "--format", "csv", "--files", "0.log"),
    "parquet": output(make_long_log, DUMP_LOG, "--format", "parquet", "--files", "0.log"),
    "summary": output(make_log, DUMP_LOG, "--summary", "--files", "0.log"),
    "page": output(make_log, KRAFTOPS, "report", "0.log"),
    "report": output(make_log, KRAFTOPS, "report", "--format", "json", "0.log"),
    "export": output(make_log, KRAFTOPS, "metadata-shell", "-s", "0.log", "export"),
    "redirection": Writer(
        make_log,
        ("metadata-shell", "-s", "0.log", "--no-history"),
        check_redirected,
        KRAFTOPS,
        "tree / > out\n",
    ),
    "drain": Writer(make_saved, ("out",), check_output, f"{HERE}:save_plan"),
    "history": Writer(make_history, (), check_history, f"{HERE}:use_history"),
    "format": Writer(make_new, tuple(format_args("--standalone")), check_format),
    "rewrite": Writer(make_formatted, REWRITE, check_rewrite),
    "recover": Writer(make_survivor, RECOVER, check_recover),
    "recover from": Writer(make_fork, (*RECOVER, *FROM["recover from"]), check_recover),
    "recover elect": Writer(make_brokers, (*RECOVER, *FROM["recover elect"]), check_recover),
}
FAULTS = (*ERRORS, *SIGNALS)
CASES = [
    pytest.param(name, (fault,), 1, id=f"{name}, {fault}") for name in WRITERS for fault in FAULTS
]
IN_GATE = [
    pytest.param("parquet", ("EIO", "SIGTERM"), 5, id="parquet"),
    pytest.param("recover from", ("ENOSPC", "SIGTERM"), 40, id="recover"),
]


@pytest.mark.parametrize(("name", "faults", "step"), CASES if EVERY else IN_GATE)
def test_writer_leaves_the_old_or_the_new(
    name: str, faults: tuple[str, ...], step: int, tmp_path: Path
) -> None:
    writer = WRITERS[name]
    template = tmp_path / name / "template"
    template.parent.mkdir()
    writer.make(template)

    *disturbed, (_, last) = traced(
        Job(
            str(template),
            str(tmp_path / "children"),
            writer.program,
            writer.words,
            faults,
            step,
            writer.stdin,
        )
    )

    assert (last.code, last.err) == (0, "")
    assert len(disturbed) > 5
    assert sum(bool(child.call) for _, child in disturbed) >= len(disturbed) * 0.9
    for fault, child in disturbed:
        assert "Traceback" not in child.err, (child.call, child.err)
        writer.check(fault, child, last, template)
