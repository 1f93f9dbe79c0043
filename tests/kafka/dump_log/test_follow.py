"""`kafka-dump-log --follow` beside a real broker: no record is lost or repeated."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kraftops.log.batch import Record
from kraftops.log.files import METADATA_PARTITION
from tests.helpers.kafka.nodes.configs import CLUSTER_ID, combined
from tests.helpers.kafka.nodes.nodes import Node, running, until
from tests.helpers.logs.corpus_rows import lines_of, parsed
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT, run_command

pytestmark = pytest.mark.kafka

_SMALL_SEGMENTS = {
    "log.segment.bytes": "1048576",  # the least that it takes
    "internal.metadata.log.segment.bytes": "2048",
    "log.retention.ms": "-1",
    "auto.create.topics.enable": "false",
}
_INTERRUPTED = 130


@pytest.fixture(scope="module")
def node(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node with small segments."""
    config = combined(tmp_path_factory.mktemp("followed"), static=True).changed(_SMALL_SEGMENTS)
    for directory in config.log_dirs:
        directory.mkdir(parents=True)
        text = f"version=1\nnode.id=1\ncluster.id={CLUSTER_ID}\n"
        (directory / "meta.properties").write_text(text)
    with running(jars, config) as node:
        node.wait_ready()
        yield node


class Follower:
    """A run of `kafka-dump-log --follow`."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process = process
        self._out, self._err = out, err

    @property
    def lines(self) -> list[str]:
        """The whole lines that it has written so far."""
        text = self._out.read_text()
        return lines_of(text[: text.rfind("\n") + 1])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows that it has written so far."""
        return [json.loads(line) for line in self.lines]

    @property
    def errors(self) -> str:
        """What it has written to standard error."""
        return self._err.read_text()

    def interrupt(self) -> int:
        """Send the signal of Ctrl-C; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


@contextmanager
def following(directory: Path, scratch: Path, *options: str) -> Iterator[Follower]:
    """Follow the log in a directory."""
    out, err = scratch / "out", scratch / "err"
    command = [DUMP_LOG, "--follow", "--files", str(directory), *options]
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=ENVIRONMENT)
    try:
        yield Follower(process, out, err)
    finally:
        process.kill()
        process.wait()


def filled(node: Node, topic: str, count: int, size: int = 200_000) -> None:
    """Append batches of two records each to a topic."""
    for _ in range(count):
        records = [Record(n, 1_700_000_000_000, b"key", bytes([65 + n]) * size) for n in range(2)]
        node.produce(topic, batch_bytes(records))


def segments(directory: Path) -> int:
    return len(list(directory.glob("*.log")))


def test_records_of_a_topic_come_once_each_across_the_rolls_of_its_segments(
    node: Node, tmp_path: Path
) -> None:
    node.create_topic("grows")
    directory = node.config.log_dirs[0] / "grows-0"
    filled(node, "grows", 4)

    with following(directory, tmp_path, "--format", "json") as follower:
        assert until(lambda: len(follower.lines) == 8), follower.errors
        for count in range(5, 13):
            filled(node, "grows", 1)
            if count % 3 == 0:
                assert until(lambda: len(follower.lines) == 2 * count), follower.errors  # noqa: B023
        assert until(lambda: len(follower.lines) >= 24), follower.errors
        code = follower.interrupt()

    assert segments(directory) >= 4
    assert [row["offset"] for row in follower.rows] == list(range(24))
    assert len({row["file"] for row in follower.rows}) >= 4
    assert (code, follower.errors) == (_INTERRUPTED, "")
    whole = run_command(str(directory), "--format", "json")
    assert follower.rows == parsed(whole.text)


def test_metadata_log_comes_as_it_is_written(node: Node, tmp_path: Path) -> None:
    """Its segments are so small that they roll many times meanwhile."""
    directory = node.config.log_dirs[0] / METADATA_PARTITION
    before = segments(directory)

    with following(directory, tmp_path, "--format", "json", "--from-start") as follower:
        for number in range(12):
            node.create_topic(f"t{number}", partitions=4)

        def is_told() -> bool:
            types = [row["type"] for row in follower.rows]
            return types.count("PARTITION_RECORD") >= 48

        assert until(is_told), follower.errors
        code = follower.interrupt()

    assert segments(directory) >= before + 2
    assert (code, follower.errors) == (_INTERRUPTED, "")
    rows = follower.rows
    offsets = [row["offset"] for row in rows]
    assert offsets == list(range(offsets[0], offsets[0] + len(rows)))
    whole = parsed(run_command(str(directory), "--format", "json", "--from-start").text)
    assert rows == whole[: len(rows)]


def test_topic_that_is_created_meanwhile_is_found_by_its_name(node: Node, tmp_path: Path) -> None:
    directory = node.config.log_dirs[0] / METADATA_PARTITION
    options = ["--from-start", "--topic", "wanted"]

    with following(directory, tmp_path, *options) as follower:
        assert until(lambda: follower.lines), follower.errors
        node.create_topic("wanted", partitions=2)
        node.create_topic("other", partitions=2)

        def is_told() -> bool:
            return sum("PARTITION_RECORD" in line for line in follower.lines) >= 2

        assert until(is_told), follower.errors
        code = follower.interrupt()

    types = [line.split('"type":"')[1].split('"')[0] for line in follower.lines if line[0] == "|"]
    assert types == ["TOPIC_RECORD", "PARTITION_RECORD", "PARTITION_RECORD"]
    assert (code, follower.errors) == (_INTERRUPTED, "")
