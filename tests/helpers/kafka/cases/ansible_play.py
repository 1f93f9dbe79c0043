"""Run the play of the Ansible collection on local nodes: restarts, then the same play twice.

`--tree` is an unpacked tree, and `--ansible` the `ansible-playbook` that runs it. A node is formatted,
all nodes of a real cluster are restarted, and a broker is emptied; what is said to have changed is
printed, and must be nothing the last time.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.clusters import Shape, running_cluster
from tests.helpers.kafka.nodes.moving import create_topics
from tests.helpers.kafka.nodes.restarts import restarter
from tests.helpers.project.imports import REPOSITORY

COLLECTION = REPOSITORY / "packaging/ansible"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
CONFIG = """\
process.roles=broker
node.id=104
listeners=PLAINTEXT://localhost:9092
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=localhost:9093
log.dirs={folder}/log
"""
LEAVING = 103


def changed(playbook: Path, folder: Path, variables: Mapping[str, object]) -> int:
    """Run the play on this host; return how many tasks have changed something."""
    settings = os.environ | {"ANSIBLE_COLLECTIONS_PATH": str(folder), "ANSIBLE_NOCOLOR": "1"}
    command = [str(playbook), "-i", "localhost,", "-c", "local", "-e", json.dumps(variables)]
    done = subprocess.run(
        [*command, str(COLLECTION / "playbooks/node.yml")],
        env=settings,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    recap = re.search(r"changed=(\d+).*failed=0", done.stdout)
    if recap is None:
        sys.exit(done.stdout)
    sys.stdout.write(f"{recap[0]}\n")
    return int(recap[1])


def main() -> int:
    """Print what changed in each run; return 1 if it is not what was to be changed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--ansible", type=Path, required=True)
    parser.add_argument("--tree", type=Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "ansible_collections/kraftops").mkdir(parents=True)
        (folder / "ansible_collections/kraftops/kafka").symlink_to(COLLECTION)
        (folder / "server.properties").write_text(CONFIG.format(folder=folder))
        shape = Shape(controllers=3, brokers=3, is_dynamic=True)
        with (
            running_cluster(resolved_jars("4.3.1"), folder / "nodes", shape) as live,
            restarter(live) as restarts,
        ):
            create_topics(live, {"t": (12, 2)})
            variables = {
                "tree": str(arguments.tree.resolve()),
                "config": str(folder / "server.properties"),
                "cluster_id": CLUSTER_ID,
                "bootstrap": live.brokers,
            }
            runs = [changed(arguments.ansible, folder, variables | {"hook": restarts.hook})]
            assert {*restarts.restarted} == {*live.nodes}
            leaving = variables | {"leaving": LEAVING}
            runs += [changed(arguments.ansible, folder, leaving) for _ in range(2)]
    return 0 if runs == [2, 1, 0] else 1


if __name__ == "__main__":
    sys.exit(main())
