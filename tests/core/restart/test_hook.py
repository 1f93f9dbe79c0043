"""The command of --hook: placeholders, failures, and what it leaves running."""

import os
import signal
import time
from pathlib import Path

import pytest

from kraftops.errors import KraftopsError
from kraftops.restart.hook import Hook
from kraftops.restart.nodes import Node

NODE = Node(101, "host 1", "r'1", {"broker": "x", "controller": "y"})


def failure(template: str, seconds: float = 30) -> str:
    with pytest.raises(KraftopsError) as failed:
        Hook(template, seconds).run([NODE])
    assert failed.value.code == "hook-failed"
    return failed.value.message


def test_values_are_quoted_and_other_braces_are_the_shells(tmp_path: Path) -> None:
    template = f"A=b; echo {{id}} {{host}} {{role}} {{rack}} ${{A}} {{x}} > {tmp_path}/out"

    Hook(template, 30).run([NODE])

    assert (tmp_path / "out").read_text() == "101 host 1 broker,controller r'1 b {x}\n"


def test_a_command_that_fails_is_told_with_its_last_line() -> None:
    """As ssh does when a host is unreachable."""
    message = failure("echo begin; echo 'ssh: connect to host: No route to host' >&2; exit 255")

    assert message == (
        "the command of --hook for node 101 has ended with 255:"
        " ssh: connect to host: No route to host"
    )


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    began = time.monotonic()
    message = failure(f"sh -c 'echo $$ > {tmp_path}/pid; sleep 100'; true", 0.5)

    assert time.monotonic() - began < 10
    assert message.endswith("has not ended within 0.5 s, and was killed")
    child = Path("/proc", (tmp_path / "pid").read_text().strip())
    while child.exists() and " Z " not in (child / "stat").read_text():
        assert time.monotonic() - began < 10


def test_a_server_that_a_command_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()

    Hook(f"sleep 100 & echo $! > {tmp_path}/pid", 30).run([NODE])

    assert time.monotonic() - began < 10
    server = int((tmp_path / "pid").read_text())
    os.kill(server, signal.SIGKILL)


def test_commands_of_several_nodes_run_side_by_side(tmp_path: Path) -> None:
    other = NODE._replace(node_id=102)
    both = f"$(ls {tmp_path} | wc -l) -lt 2"
    template = f"touch {tmp_path}/{{id}}; while [ {both} ]; do sleep 0.01; done"

    Hook(template, 30).run([NODE, other])

    assert {path.name for path in tmp_path.iterdir()} == {"101", "102"}
