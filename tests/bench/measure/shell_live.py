"""Loads of metadata from a real controller, beside loads of its files."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.measure.process import Usage
from tests.bench.measure.shell_cases import REAL
from tests.helpers.kafka.nodes.clusters import Shape, configured, formatted
from tests.helpers.kafka.nodes.nodes import Node

SOURCES = {
    "snapshot of 1,000,000 partitions": f"{REAL} --version 2",
    "log of 100 MB": "changes --partitions 50000 --topics 1:50 --version 2 --changes 1800000",
}
BAR = 1.3
HEAP = "-Xmx4g"
SETTINGS = {
    # Else the controller would fence the brokers, and the log grow by their partitions.
    "broker.session.timeout.ms": "3600000",
    # What is planted stays as it is.
    "metadata.log.max.record.bytes.between.snapshots": "2000000000",
    "metadata.log.max.snapshot.interval.ms": "0",
    "metadata.max.retention.bytes": "-1",
    "metadata.max.retention.ms": "-1",
}
COMPARED = ("topics", "partitions", "underReplicated")

Pairs = Sequence[tuple[Usage, Usage]]


def live_loads(
    jars: Path,
    file: Callable[[str], Path],
    run: Callable[[Sequence[str]], Usage],
    shell: Sequence[str],
    *,
    only: str,
    runs: int,
) -> Iterator[tuple[str, Pairs]]:
    """Yield the name of a source, and the usage of a live load and of a load from files.

    Args:
        jars: Kafka's.
        file: returns the file that is made of words.
        run: runs a command to its end.
        shell: the words that begin a command of our shell.
        only: a pattern of the names.
        runs: how many pairs.
    """
    for name, words in SOURCES.items():
        title = f"load of a {name} from a controller, `ls /image`"
        if not re.search(only, title):
            continue
        with (
            tempfile.TemporaryDirectory() as folder,
            serving(jars, Path(folder), file(words)) as node,
        ):
            port = next(iter(node.config.ports.values()))
            live = [*shell, "--controllers", f"localhost:{port}"]
            files = [*shell, "--snapshot", str(node.config.log_dirs[0])]
            first, second = _told(live), _told(files)
            if first != second:
                raise SystemExit(f"{title}: {first}, from files {second}")
            pairs = [
                (run([*live, "ls", "/image"]), run([*files, "ls", "/image"])) for _ in range(runs)
            ]
        yield title, pairs


@contextmanager
def serving(jars: Path, folder: Path, planted: Path) -> Iterator[Node]:
    """Run a controller with a prepared snapshot or segment, until it is ready."""
    shape = Shape(settings=SETTINGS)
    [config] = configured(folder, shape)
    formatted(config, [config], shape)
    directory = config.log_dirs[0] / "__cluster_metadata-0"
    directory.mkdir(exist_ok=True)
    shutil.copy(planted, directory)
    node = Node(jars, config, HEAP)
    try:
        node.wait_ready()
        yield node
    finally:
        node.kill()


def _told(command: Sequence[str]) -> list[object]:
    words = [*command, "--format", "json", "summary", "--format", "json"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    answer = json.loads(done.stdout)
    return [answer[name] for name in COMPARED]
