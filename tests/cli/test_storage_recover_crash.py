"""A recovery that fails or is killed at any call is done, or not, or can be undone and done again."""

from pathlib import Path
from typing import NamedTuple

import pytest

from kraftops.server.metadata_log.log import read_metadata_log
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes, write_log
from tests.helpers.nodes.broker_disks import ORDERS, broker_disk
from tests.helpers.nodes.child_processes import FULL, INTERRUPT, KILL, Child, failing
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    MORE,
    log_files,
    other_node,
    recovery_data,
    survivor,
    write_meta,
)
from tests.helpers.tools.distribution import long_but

ARGS = ["recover", "-c", "server.properties", "--voters", "self", "--yes"]


class Case(NamedTuple):
    """A folder in which a recovery is begun, and how."""

    node: Path
    args: list[str]


def append(folder: Path) -> Case:
    """The own log gets the batch."""
    return Case(survivor(folder, *MORE), ARGS)


def copy(folder: Path) -> Case:
    """The own log gets what another has, which begins with a snapshot."""
    node = survivor(folder, *MORE)
    (node / "meta/__cluster_metadata-0/00000000000000000000.index").write_bytes(bytes(8))
    source = node / "b4"
    source.mkdir()
    write_meta(source, 4)
    snapshots = {(60, 4): snapshot_bytes(*BEGINNING, end=5)}
    write_log(source, {50: [no_ops(50, 20, epoch=4)]}, snapshots)
    return Case(node, [*ARGS, "--from", "b4"])


def replace(folder: Path) -> Case:
    """The own log went another way."""
    node = survivor(folder, *MORE)
    other_node(node / "c2", 2, no_ops(5, 2, epoch=3))
    return Case(node, [*ARGS, "--from", "c2"])


def elect(folder: Path) -> Case:
    """The own log gets the voters, and elections of the newest brokers."""
    node = survivor(folder, *ORDERS)
    broker_disk(node / "b101", 101, {"orders-0": [(0, 100)]})
    broker_disk(node / "b102", 102, {"orders-0": [(0, 100), (4, 303)]})
    return Case(node, [*ARGS, "--from", "b101", "--from", "b102", "--elect-newest"])


CASES = [append, copy, replace, elect]


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    found: Case = request.param(tmp_path / "node")
    return found


def is_sound(node: Path) -> bool:
    """Tell whether a server would find a log without damage and without a hole."""
    log = read_metadata_log(str(node / "meta"))
    return log is not None and not log.damage and not log.content.missing


def servers(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not name.endswith(".recovering")}


def check_undone_and_done_again(child: Child, before: dict[str, bytes], case: Case) -> None:
    """Undo what a killed run has left, if it got so far, and run it again."""
    node = child.node
    folder = node / "meta/__cluster_metadata-0"
    if [path for path in folder.glob("before-recover-*Z") if path.is_dir()]:
        recovery_data(node, "--undo")
    assert servers(log_files(node)) == before, child.call

    found = recovery_data(node, *case.args[3:-1] if case.args[-1] == "--yes" else case.args[3:])

    assert found["changed"] is True, child.call
    assert [*folder.glob("*.recovering")] == [], child.call
    assert is_sound(node), child.call


@pytest.mark.parametrize("case", long_but({elect}, CASES), indirect=True)
def test_kill_at_any_call(case: Case, tmp_path: Path) -> None:
    before = log_files(case.node)

    *killed, last = failing(case.node, tmp_path / "children", case.args, KILL)

    after = log_files(last.node)
    assert (last.code, last.err) == (0, "")
    assert len(killed) > 60
    has_changed = False
    for child in killed:
        assert child.code == -9, child.call
        there = servers(log_files(child.node))
        assert is_sound(child.node), child.call
        is_done = there.keys() == after.keys()
        if len(after) == len(before) + 1 and not is_done:  # one file is all that changes
            assert there == before, child.call
        assert has_changed <= (there != before), child.call
        has_changed = there != before
        if not is_done:
            check_undone_and_done_again(child, before, case)
    assert has_changed


@pytest.mark.parametrize(
    ("case", "fault"),
    [
        (append, "EIO"),
        *(
            pytest.param(case, fault, marks=pytest.mark.long)
            for case, fault in [(copy, FULL), (copy, INTERRUPT), (replace, "ENOSPC")]
        ),
    ],
    indirect=["case"],
)
def test_error_at_any_call_puts_all_back(case: Case, tmp_path: Path, fault: str) -> None:
    before = log_files(case.node)

    *failed, last = failing(case.node, tmp_path / "children", case.args, fault)

    after = set(log_files(last.node))
    assert (last.code, last.err) == (0, "")
    for child in failed:
        there = log_files(child.node)
        if child.code == 0:
            assert set(there) == after, child.call
        elif "and then not put back" in child.err:  # there is no room for that either
            assert fault == FULL
            recovery_data(child.node, "--undo")
            assert log_files(child.node) == before, child.call
        elif there.keys() != after:
            assert servers(there) == before, (child.call, child.err)
            assert not list(child.node.glob("meta/**/*.recovering")), child.call
        if fault != INTERRUPT and child.code:
            assert len(child.errors) == 1, (child.call, child.err)


def test_undo_that_is_killed_goes_on(tmp_path: Path) -> None:
    case = replace(tmp_path / "node")
    before = log_files(case.node)
    recovery_data(case.node, *case.args[3:])

    undo = ["recover", "-c", "server.properties", "--undo"]
    *killed, last = failing(case.node, tmp_path / "children", undo, KILL)

    assert log_files(last.node) == before
    for child in killed:
        assert is_sound(child.node), child.call
        recovery_data(child.node, "--undo")
        assert log_files(child.node) == before, child.call
    assert len(killed) > 20
