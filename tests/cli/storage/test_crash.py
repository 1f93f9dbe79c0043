"""A format that fails or is killed at any call leaves each directory formatted or not, never half."""

import re
import shlex
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.helpers.nodes.child_processes import FULL, INTERRUPT, KILL, Child, failing, racing
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    OTHER_ID,
    STATIC,
    directory_ids,
    entries,
    format_args,
    format_node,
    formatted,
    make_node,
    temporary_files,
)
from tests.helpers.tools.console import STORAGE

QUORUMS = {
    "static": (STATIC, ()),
    "standalone": (DYNAMIC, ("--standalone",)),
}
LONG = {"EACCES", "EIO", "EROFS"}
"""Faults that need `--long`: a full disk and ENOSPC fail the same calls."""
REFUSAL = re.compile("kafka-storage: (cannot |another process |d[12] is in use: )")


@pytest.fixture
def children(request: pytest.FixtureRequest, tmp_path: Path) -> list[Child]:
    """A format of two new directories for each call that it makes, which fails."""
    quorum, fault = request.param
    keys, flags = QUORUMS[quorum]
    template = make_node(tmp_path / "node", keys)
    return failing(template, tmp_path / "children", format_args(*flags), fault)


def check_completion(child: Child, flags: tuple[str, ...]) -> None:
    """Check that a format formats what another one left."""
    done = format_node(child.node, "-g", *flags)

    assert (done.code, done.err) == (0, "")
    assert formatted(child.node, is_dynamic=bool(flags)) == ["d1", "d2"]
    assert temporary_files(child.node) == []
    assert len(directory_ids(child.node)) == 2


def cases(**by_quorum: Collection[str]) -> list[ParameterSet]:
    return [
        pytest.param(
            *((quorum, fault), QUORUMS[quorum][1]),
            id=f"{quorum}, {fault}",
            marks=[pytest.mark.long] if fault in LONG else [],
        )
        for quorum, faults in by_quorum.items()
        for fault in faults
    ]


@pytest.mark.parametrize(
    ("children", "flags"), cases(static=[KILL], standalone=[KILL]), indirect=["children"]
)
def test_kill_at_any_call_leaves_nothing_half(
    children: list[Child], flags: tuple[str, ...]
) -> None:
    *killed, last = children
    before: list[str] = []

    for child in killed:
        assert (child.code, child.err) == (-9, ""), child.call
        done = formatted(child.node, is_dynamic=bool(flags))
        assert set(before) <= set(done), child.call
        before = done
        check_completion(child, flags)

    assert (last.code, last.err) == (0, "")
    assert len(killed) > 100
    assert before == ["d1", "d2"]


@pytest.mark.parametrize(
    ("children", "flags"),
    cases(static=["ENOSPC"], standalone=["EACCES", "EIO", "EROFS", FULL]),
    indirect=["children"],
)
def test_error_at_any_call_leaves_nothing_half(
    children: list[Child], flags: tuple[str, ...]
) -> None:
    """It is one line, no temporary files stay, and what is formatted is formatted whole."""
    *failed, last = children

    for child in failed:
        done = formatted(child.node, is_dynamic=bool(flags))
        if child.code == 0:
            assert (child.errors, done) == ([], ["d1", "d2"]), child.call
        else:
            # 3: a lock that cannot be taken is one that another process holds.
            assert child.code in (1, 3), (child.call, child.err)
            assert len(child.errors) == 1, (child.call, child.err)
            assert REFUSAL.match(child.errors[0]), child.call
            for name in {"d1", "d2"}.difference(done):
                # A lock that another process might have taken stays.
                assert set(entries(child.node / name)) <= {".lock"}, child.call
        assert temporary_files(child.node) == [], child.call
        check_completion(child, flags)

    assert (last.code, last.err) == (0, "")
    assert sum(child.code for child in failed) > 20


@pytest.mark.parametrize(
    ("children", "flags"), cases(standalone=[INTERRUPT]), indirect=["children"]
)
def test_interrupt_at_any_call_leaves_nothing_half(
    children: list[Child], flags: tuple[str, ...]
) -> None:
    """Ctrl-C is silent, and no temporary files stay."""
    *interrupted, _ = children

    for child in interrupted:
        assert (child.code, child.err) == (130, ""), child.call
        done = formatted(child.node, is_dynamic=bool(flags))
        assert temporary_files(child.node) == [], child.call
        for name in {"d1", "d2"}.difference(done):
            assert set(entries(child.node / name)) <= {".lock"}, child.call
        check_completion(child, flags)


@pytest.mark.parametrize("size", ["4k", "16k"])
def test_full_disk_leaves_nothing_and_a_later_run_succeeds(size: str, tmp_path: Path) -> None:
    """The five files take 20 KiB of a file system that only the child sees."""
    node = make_node(tmp_path / "node", DYNAMIC, log_dirs="disk/d1,disk/d2")
    (node / "disk").mkdir()
    command = shlex.join([STORAGE, *format_args("-g", "--standalone")])
    script = f"""
        mount -t tmpfs -o size={size} none disk || exit 77
        {command} > out 2> err; echo $? > code; ls -AR disk > left
        mount -o remount,size=1m disk || exit 77
        {command} > out2 2> err2; echo $? > code2; cp -a disk then
    """

    unshare = ["unshare", "--mount", "--map-root-user", "sh", "-c", script]
    try:
        done = subprocess.run(unshare, cwd=node, check=False, capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no unshare")
    if done.returncode or not (node / "code").exists():
        pytest.skip("no file system can be mounted")

    first = (node / "err").read_text().splitlines()
    assert (node / "code").read_text() == "1\n"
    assert re.fullmatch(r"kafka-storage: cannot format: .*: No space left on device", first[0])
    assert first[1].startswith("hint: ")
    assert len(first) == 2
    assert (node / "left").read_text() == "disk:\n"
    assert ((node / "code2").read_text(), (node / "err2").read_text()) == ("0\n", "")
    (node / "disk").rmdir()
    (node / "then").rename(node / "disk")
    assert formatted(node, is_dynamic=True) == ["disk/d1", "disk/d2"]
    assert temporary_files(node) == []


class TestRace:
    """Formats that begin at the same moment on the same new directories."""

    ROUNDS = 20
    LOSS = re.compile(
        r"kafka-storage: (new/d[12] is in use: |another process formatted a directory |"
        r"Log directory new/d[12] is already formatted|Invalid cluster\.id in: new/d[12]/)"
    )

    def test_one_of_two_clusters_wins(self, tmp_path: Path) -> None:
        node = make_node(tmp_path / "node", DYNAMIC, log_dirs="new/d1,new/d2")
        ids = (CLUSTER_ID, OTHER_ID)
        commands = [format_args("--standalone", cluster_id=cluster_id) for cluster_id in ids]

        rounds = racing(node, tmp_path / "children", commands, self.ROUNDS)

        for children in rounds:
            assert sorted(child.code for child in children) in ([0, 1], [0, 3])
            winner = [child.code for child in children].index(0)
            (loss,) = children[1 - winner].errors
            assert self.LOSS.match(loss)
            formats = formatted(children[0].node, is_dynamic=True, cluster_id=ids[winner])
            assert formats == ["new/d1", "new/d2"]
            assert temporary_files(children[0].node) == []
            assert len(directory_ids(children[0].node)) == 2

    def test_one_of_three_that_want_the_same_wins(self, tmp_path: Path) -> None:
        """Another one may find all done."""
        node = make_node(tmp_path / "node", DYNAMIC, log_dirs="new/d1,new/d2")
        commands = [format_args("--standalone", "--ignore-formatted")] * 3

        rounds = racing(node, tmp_path / "children", commands, self.ROUNDS)

        for children in rounds:
            assert sum("Formatting" in child.out for child in children) == 1
            for child in children:
                assert child.code == 0 or self.LOSS.match(child.errors[0])
                assert child.code or len(child.out.splitlines()) in (1, 3)
            assert formatted(children[0].node, is_dynamic=True) == ["new/d1", "new/d2"]
            assert temporary_files(children[0].node) == []
