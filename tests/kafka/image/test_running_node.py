"""The directory of a running node, loaded at any moment, gives a state of that node."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.findings import RECORD
from kraftops.image.state.image import MetadataImage
from kraftops.log.files import METADATA_PARTITION
from kraftops.tree.layout import tree_of
from kraftops.tree.view import Form
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.connection import Connection
from tests.helpers.kafka.jvm.jvm import has_compiler
from tests.helpers.kafka.nodes.configs import BROKER, CLUSTER_ID, combined
from tests.helpers.kafka.nodes.nodes import Node, running, until
from tests.helpers.kafka.tools.image_tool import KafkaImages
from tests.helpers.tree.leaves import leaves_of

pytestmark = pytest.mark.kafka

BUSY = {
    "internal.metadata.log.segment.bytes": "4096",
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "metadata.max.retention.bytes": "-1",
    "metadata.max.retention.ms": "-1",
    "metadata.max.idle.interval.ms": "50",
    "auto.create.topics.enable": "false",
}
"""Small segments, frequent snapshots, and no deletion of snapshots."""
LOADS = 120
LEAST_CHANGES = 60
PROVENANCE = "/image/provenance"


@pytest.fixture(scope="module")
def node(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    config = combined(tmp_path_factory.mktemp("live"), static=True).changed(BUSY)
    for directory in config.log_dirs:
        directory.mkdir(parents=True)
        text = f"version=1\nnode.id=1\ncluster.id={CLUSTER_ID}\n"
        (directory / "meta.properties").write_text(text)
    with running(jars, config) as node:
        node.wait_ready()
        yield node


class Writer:
    """A thread that creates, changes and deletes topics as fast as the node can."""

    def __init__(self, port: int) -> None:
        self.changes = 0
        self.failure: Exception | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(f"localhost:{port}",))

    def _run(self, address: str) -> None:
        try:
            with connect(parse_bootstrap(address), Settings(timeout=60), Deadline(300)) as node:
                while not self._is_over.is_set():
                    self._change(node)
        except Exception as failure:  # noqa: BLE001 - the test's thread looks at it
            self.failure = failure

    def _change(self, node: Connection) -> None:
        name = f"topic-{self.changes}"
        topic = {
            "name": name,
            "num_partitions": 3,
            "replication_factor": 1,
            "assignments": [],
            "configs": [{"name": "retention.ms", "value": str(self.changes)}],
        }
        self._ask(node, "CreateTopics", topics=[topic])
        grown = {"name": name, "count": 5, "assignments": None}
        self._ask(node, "CreatePartitions", topics=[grown])
        if self.changes >= 5:
            old = {"name": f"topic-{self.changes - 5}", "topic_id": None}
            self._ask(node, "DeleteTopics", topics=[old])
        self.changes += 1

    @staticmethod
    def _ask(node: Connection, api: str, **fields: Any) -> None:
        answer: Any = node.ask(api, timeout_ms=60_000, **fields)
        results = (
            answer.topics
            if api == "CreateTopics"
            else answer.results
            if api == "CreatePartitions"
            else answer.responses
        )
        assert {one.error_code for one in results} == {0}, (api, fields)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write as long as the context lasts."""
        self._thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            self._thread.join()
        assert self.failure is None, self.failure


def shown(image: MetadataImage) -> dict[str, str]:
    """Return the leaves of Kafka's form, except the provenance."""
    root = tree_of(image, form=Form.KAFKA)
    return {
        path: leaf.kafka_text
        for path, leaf in leaves_of(root)
        if path.startswith("/image/") and path != PROVENANCE
    }


def last_offset(image: MetadataImage) -> int:
    """Return the last offset of an image; offsets inside a snapshot file do not count."""
    header = image.quorum.snapshot_header
    end = 0 if header is None else image.store.place(header)[2] or 0
    return max(image.provenance.offset, end - 1)


def test_every_load_is_a_state_that_was(
    node: Node, jars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load only reads, and only files of the log."""
    directory = node.config.log_dirs[0]
    folder = directory / METADATA_PARTITION
    opened: list[tuple[str, int]] = []
    real = os.open

    def noted(path: str, flags: int, *rest: int, **more: int) -> int:
        if str(path).startswith(str(directory)):
            opened.append((str(path), flags & os.O_ACCMODE))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", noted)
    writer = Writer(node.config.ports[BROKER])
    found: dict[int, dict[str, str]] = {}
    sources = (directory, folder)
    with writer.writing():
        loads = 0

        def is_enough() -> bool:
            nonlocal loads
            image = load(sources[loads % 2])
            loads += 1
            assert not list(image.findings)
            assert found.setdefault(last_offset(image), shown(image)) == shown(image)
            if writer.failure:
                raise writer.failure
            return loads >= LOADS and writer.changes >= LEAST_CHANGES

        assert until(is_enough)
    monkeypatch.undo()
    node.stop()

    segments = sorted(folder.glob("*.log"))
    assert len(segments) > 3
    assert len(list(folder.glob("*.checkpoint"))) > 3
    assert len(found) > LOADS // 4
    for offset, leaves in found.items():
        assert shown(load(segments, at_offset=offset)) == leaves, offset
    assert {flags for _, flags in opened} == {os.O_RDONLY}
    assert {Path(path).suffix for path, _ in opened} <= {".log", ".checkpoint"}

    of_directory, of_log = load(directory), load(segments)
    assert shown(of_directory) == shown(of_log)
    assert not [one for one in of_log.findings if one.code != RECORD]
    if not has_compiler():
        return
    with KafkaImages(jars) as kafka:
        kafkas = kafka(b"".join(path.read_bytes() for path in segments))
        newest = max(folder.glob("*.checkpoint"))
        kafkas_snapshot = kafka(newest.read_bytes())
    of_image = {
        path: text
        for path, text in kafkas.leaves.items()
        if path.startswith("/image/") and path != PROVENANCE
    }
    assert shown(of_log) == of_image
    assert not kafkas.faults
    of_snapshot = tree_of(load(newest), form=Form.KAFKA)
    assert {
        path: leaf.kafka_text for path, leaf in leaves_of(of_snapshot) if path.startswith("/image/")
    } == {path: text for path, text in kafkas_snapshot.leaves.items() if path.startswith("/image/")}
