"""Folders of nodes to be formatted, and whether they are formatted whole."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest.mock import patch

from kraftops.java.properties import properties_bytes
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.bootstrap.records import SNAPSHOT_NAME
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.directories import read_directories
from kraftops.uuids import to_text
from tests.helpers.tools.console import STORAGE, Done, run_here

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
OTHER_ID = "vOKEv8VrQAyGbyFDxfFCwA"
PROPERTIES = "server.properties"
META = "meta.properties"
SNAPSHOT = SNAPSHOT_NAME
STATIC = {"controller.quorum.voters": "1@localhost:29093"}
DYNAMIC = {"controller.quorum.bootstrap.servers": "localhost:29093"}
TEMPORARY = re.compile(r".*\.(tmp|part)")
_HOLD_LOCK = """
import fcntl, sys
file = open(f"{sys.argv[1]}/.lock", "a")
fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""


def make_node(folder: Path, quorum: dict[str, str] | None = None, /, **changes: str) -> Path:
    """Make a folder with a server.properties of a combined node.

    Args:
        folder: Made where it is missing.
        quorum: `STATIC`, or `DYNAMIC` without voters.
        **changes: Values of keys, with `_` for each dot; an empty one takes a key out.
    """
    values = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": "d1,d2",
        **(STATIC if quorum is None else quorum),
        **{name.replace("_", "."): value for name, value in changes.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    given = [(key, value) for key, value in values.items() if value]
    (folder / PROPERTIES).write_bytes(properties_bytes(given))
    return folder


def storage(node: Path, *args: str, stdin: str = "") -> Done:
    """Run `kafka-storage` in the folder of a node, in this process.

    The disk need not turn: here nobody cuts the power.
    """
    with patch.object(os, "fsync"):
        return run_here(*args, cwd=node, program=STORAGE, stdin=stdin)


def format_args(*args: str, cluster_id: str = CLUSTER_ID) -> list[str]:
    """Return the arguments of a format in the folder of a node."""
    return ["format", "-c", PROPERTIES, f"--cluster-id={cluster_id}", *args]


def format_node(node: Path, *args: str, cluster_id: str = CLUSTER_ID, stdin: str = "") -> Done:
    """Format a node in this process."""
    return storage(node, *format_args(*args, cluster_id=cluster_id), stdin=stdin)


def states(node: Path) -> dict[str, LogDirectory]:
    """Return what `info` knows of the directories of a node, by name."""
    with chdir(node):
        found = read_directories(load_config(PROPERTIES))
        for state in found:  # what is needed is read here, where paths are right
            assert state.bootstrap is None or state.bootstrap.path
            assert state.log is None or state.log.quorum
    return {state.path: state for state in found}


def formatted(node: Path, *, is_dynamic: bool = False, cluster_id: str = CLUSTER_ID) -> list[str]:
    """Return the directories that are formatted; each is so whole, or not at all."""
    found = []
    for name, state in states(node).items():
        if state.meta is None:
            assert (state.path, state.problem, state.is_opaque) == (name, None, False)
            continue
        assert (state.meta.version, state.meta.cluster_id, state.meta.node_id) == (1, cluster_id, 1)
        assert state.meta.directory_id
        assert state.bootstrap
        assert state.bootstrap.damage is None
        assert state.bootstrap.features["metadata.version"] == 30
        if not (is_dynamic and state.is_metadata):
            assert not (node / name / SNAPSHOT).exists()
        else:
            assert state.log
            assert state.log.damage == ()
            assert state.log.quorum.kraft_version == 1
            assert state.log.quorum.voters
            assert [voter.directory_id for voter in state.log.quorum.voters] == [
                state.meta.directory_id
            ]
        found.append(name)
    return found


@contextmanager
def locked(directory: Path | str, *args: str) -> Iterator[int]:
    """Have another process, with *args*, hold the lock of a directory; yield its number."""
    command = [sys.executable, "-c", _HOLD_LOCK, str(directory), *args]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        try:
            assert process.stdout.readline() == b"held\n"
            yield process.pid
        finally:
            process.stdin.close()


def temporary_files(node: Path) -> list[Path]:
    """Return what a format leaves only when it is killed."""
    return [path for path in node.rglob("*") if TEMPORARY.fullmatch(path.name)]


def directory_ids(node: Path) -> list[str]:
    """Return the ids of the formatted directories of a node; no two are the same."""
    ids = [
        to_text(state.meta.directory_id)
        for state in states(node).values()
        if state.meta and state.meta.directory_id
    ]
    assert len(set(ids)) == len(ids)
    return ids


def entries(node: Path) -> dict[str, tuple[int, int | None]]:
    """Return mode and, of a file, bytes of all that is in the folder of a node."""
    found = {}
    for path in sorted(node.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(node))] = (
            status.st_mode & 0o7777,
            None if path.is_dir() else status.st_size,
        )
    return found
