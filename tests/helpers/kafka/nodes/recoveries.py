"""Recover the nodes of real clusters, and follow the steps that `kafka-storage recover` prints."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kraftops.recovery.refusal import PACK
from tests.helpers.kafka.nodes.clusters import Cluster
from tests.helpers.kafka.nodes.configs import Config
from tests.helpers.kafka.nodes.nodes import Node, until
from tests.helpers.kafka.nodes.protocol import AnswerError, Quorum
from tests.helpers.tools.console import STORAGE, Done, run_command

LOG = "__cluster_metadata-0"


def recover(config: Config, *args: str) -> dict[str, Any]:
    """Recover a node, also without the disks of brokers; return the JSON that is printed."""
    done = tried(config, *args)
    if done.code == 3 and (unseen := json.loads(done.text).get("unseenBrokers")):
        done = tried(config, *args, f"--unseen-broker={','.join(map(str, unseen))}")
    assert done.code == 0 or (done.code, "--dry-run" in args) == (2, True), done.text + done.err
    found: dict[str, Any] = json.loads(done.text)
    return found


def strays(plan: dict[str, Any]) -> list[str]:
    """Return the directories of partitions that brokers would set aside after a recovery."""
    return [finding["file"] for finding in plan["findings"] if finding["topic"]]


def tried(config: Config, *args: str) -> Done:
    """Run a confirmed recovery of a node."""
    return run_command(
        "recover", "-c", str(config.path), *args, "--yes", "--format", "json", program=STORAGE
    )


def refused(config: Config, *args: str) -> str:
    """Return the code of a recovery that is refused."""
    done = tried(config, *args)
    assert done.code == 3, done.text + done.err
    return str(json.loads(done.text)["error"])


def log_of(config: Config) -> Path:
    """Return the directory of a node's metadata log."""
    return config.log_dirs[0] / LOG


def whole_log(config: Config) -> bytes:
    """Return all segments of a node's metadata log as one."""
    return b"".join(path.read_bytes() for path in sorted(log_of(config).glob("*.log")))


def kill(cluster: Cluster, *ids: int) -> None:
    """End nodes at once, one after the other."""
    for node_id in ids:
        cluster.nodes[node_id].kill()


def leads(node: Node, limit: float = 60) -> Quorum:
    """Wait until a controller leads; return its description of the quorum."""
    node.wait_ready(1, limit)
    assert until(lambda: node.quorum().leader == node.config.node_id, limit)
    return node.quorum()


def follow(cluster: Cluster, plan: Mapping[str, Any], node_id: int) -> None:
    """Run the next steps of a recovery for a lost controller, on its host."""
    config = cluster.nodes[node_id].config
    for step in plan["nextSteps"]:
        if step["nodeId"] != node_id or not step["command"]:
            continue
        command = step["command"]
        if "kafka-server-start.sh" in command:
            cluster.nodes[node_id].start()
            continue
        paths = {"CONFIG": str(config.path), "LOG_DIR": str(config.log_dirs[0])}
        patiently(command, environment={**with_tools(), **paths})


def follow_moves(plan: Mapping[str, Any]) -> None:
    """Run the next steps of a recovery that move logs of brokers away."""
    for step in plan["nextSteps"]:
        if str(step["command"]).startswith("mv "):
            subprocess.run(["sh", "-c", step["command"]], check=True)


def patiently(
    command: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """Run a command until it succeeds: a node that has just started is no observer yet.

    Return what it has printed.
    """
    answers: list[subprocess.CompletedProcess[str]] = []
    variables = dict(environment or os.environ)
    variables.pop("JDK_JAVA_OPTIONS", None)  # tests of Spark name another garbage collector there

    def is_done() -> bool:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        answers.append(done)
        return done.returncode == 0

    assert until(is_done, 60), (command, answers[-1].stdout, answers[-1].stderr)
    return answers[-1].stdout


def with_tools() -> dict[str, str]:
    """Return an environment in which a shell finds our tools."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def known_leader(node: Node) -> int | None:
    """Return the leader that a controller knows, or None."""
    try:
        return node.cluster().controller
    except (OSError, AnswerError):
        return None


def votes(node: Node, voters: set[int]) -> bool:
    """Tell whether the quorum comes to have these voters."""
    return until(lambda: node.quorum().voters == voters, 60)


def dynamic(config: Config, servers: str) -> None:
    """Take the static voters out of a configuration."""
    text = config.path.read_text()
    lines = [line for line in text.splitlines() if not line.startswith("controller.quorum")]
    lines.append(f"controller.quorum.bootstrap.servers={servers}")
    config.path.write_text("\n".join(lines) + "\n")


def pack(config: Config, folder: Path) -> str:
    """Pack a node as the page says, with the paths of its host; return the archive."""
    name = str(folder / f"node-{config.node_id}.tar.gz")
    command = PACK.replace("/var/lib/kafka", str(config.log_dirs[0])).replace("node-N.tar.gz", name)
    command = command.replace("/etc/kafka/server.properties", str(config.path))
    subprocess.run(["sh", "-c", command], check=True, capture_output=True)
    return name


_CHECKS = {
    r"Check: broker \d+ is active": r"^ +N  active ",
    r"Check: all of them are active": r"\A(?!(.|\n)*fenced)",
    r"Check: (one of )?nodes? .* leads, and there is no other": r"\Aleader \d+, .*dynamic voters$",
    r"Check: node \d+ is a voter, too": r"^ +N  (voter|leader) ",
    r"Check: there are none": r"\A\s*\Z",
}
"""What is printed if a check of the page is right; N is the number in it."""


class PageFollower:
    """Somebody who has nothing but the page of a plan."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._nodes = {str(node.config.path): node for node in cluster.nodes.values()}
        self._folder = folder
        self._environment = with_tools()

    def follow(self, page: str) -> Iterator[tuple[str, str]]:
        """Run the commands of the page in their order; yield each with what it prints.

        A command is repeated until the check behind it is right.
        """
        commands = re.findall(
            r"^ {7}((?:sh|kafka-|kraftops).*)\n(?: {3}(\w.*))?", page, re.MULTILINE
        )
        for command, check in commands:
            if command.startswith("kafka-server-start.sh "):
                self._nodes[command.split()[1]].start()
                continue
            yield command, self._until_right(command, check)

    def _until_right(self, command: str, check: str) -> str:
        """Run a command until the check behind it is right; return what it prints then."""
        pattern = next((answer for text, answer in _CHECKS.items() if re.match(text, check)), "")
        if number := re.search(r"\d+", check):
            pattern = pattern.replace("N", number[0])
        printed = [""]

        def is_right() -> bool:
            printed[0] = patiently(command, self._folder, self._environment)
            return re.search(pattern, printed[0], re.MULTILINE) is not None

        for seconds, node_id in re.findall(r"after (\d+) seconds, restart node (\d+)", check) * 3:
            if until(is_right, int(seconds)):
                break
            self._restart(int(node_id))
        assert until(is_right, 60), (command, check, printed[0])
        return printed[0]

    def _restart(self, node_id: int) -> None:
        (node,) = [node for node in self._nodes.values() if node.config.node_id == node_id]
        node.stop()
        node.start()

    def script(self, node_id: int) -> int:
        """Run the script of a node; return its exit code."""
        command = ["sh", f"node-{node_id}.sh"]
        return subprocess.run(
            command, cwd=self._folder, env=self._environment, capture_output=True, check=False
        ).returncode
