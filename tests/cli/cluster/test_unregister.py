"""`kafka-cluster unregister`: refusals, and the question on a terminal."""

import os
import select
import subprocess
from pathlib import Path

from tests.helpers.tools.console import CLUSTER, ENVIRONMENT
from tests.helpers.tools.fake_cluster import NODES, cluster, serving


def test_hidden_state_is_refused_with_the_missing_permission() -> None:
    with serving(NODES) as peer:
        done = cluster("unregister", "-b", str(peer.address), "-i", "22")
        forced = cluster("unregister", "-b", str(peer.address), "-i", "22", "--force")

    assert (done.code, done.text) == (1, "")
    assert "that needs DESCRIBE on the topics" in done.errors[0]
    assert (forced.code, forced.text) == (0, "Broker 22 is no longer registered.\n")


def test_question_on_a_terminal_is_answered(tmp_path: Path) -> None:
    """The question is asked only there."""
    import pty

    nodes = [{**NODES[1], "broker_id": 7}]
    with serving(nodes) as peer:
        for typed, code in (("n\n", 1), ("\x04", 1), ("y\n", 0)):
            master, slave = pty.openpty()
            command = [CLUSTER, "unregister", "-b", str(peer.address), "-i", "7", "--force"]
            with subprocess.Popen(
                command, stdin=slave, stdout=subprocess.PIPE, stderr=slave, env=ENVIRONMENT
            ) as asking:
                os.write(master, typed.encode())
                out, _ = asking.communicate(timeout=20)
            shown = ""
            while select.select([master], [], [], 0)[0]:
                shown += os.read(master, 4096).decode()
            os.close(slave)
            os.close(master)

            assert "Unregister broker 7?" in shown
            assert ("kafka-cluster: nothing is changed\r\n" in shown) == (code == 1)
            assert asking.returncode == code
            assert bool(out) == (code == 0)
