"""The metadata log in the files of a node, and what makes it grow."""

import io
import time
from pathlib import Path

from kraftops.log.log_file import LogFile
from kraftops.log.reader import LogReader
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from tests.helpers.kafka.nodes.nodes import Node

SNAPSHOTS = {"metadata.log.max.snapshot.interval.ms": "3000"}


def metadata_folder(node: Node) -> Path:
    return node.config.log_dirs[0] / "__cluster_metadata-0"


def in_files(node: Node) -> dict[int, bytes]:
    """Return the batches of a node's log by offset."""
    return batches_of(metadata_folder(node))


def batches_of(folder: Path) -> dict[int, bytes]:
    """Return the batches of a log by offset."""
    found = {}
    for path in sorted(folder.glob("*.log")):
        with LogFile(str(path)) as log:
            data = log.read_at(0, log.size)
        for each in LogReader(io.BytesIO(data).read, 0, len(data)):
            found[each.header.base_offset] = each.data
    return found


def change_topics(addresses: str, api: str, topics: list[dict[str, object]] | list[str]) -> None:
    with connect(parse_bootstrap(addresses), Settings(timeout=60), Deadline(60)) as connection:
        if api == "CreateTopics":
            answer = connection.ask(api, topics=topics, timeout_ms=60000)
        else:
            named = [{"name": name, "topic_id": None} for name in topics]
            answer = connection.ask(api, topics=named, timeout_ms=60000)
    results = answer.topics if api == "CreateTopics" else answer.responses
    assert {each.error_code for each in results} == {0}


def topic(name: str) -> dict[str, object]:
    return {
        "name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": [],
    }  # fmt: skip


def until_end(node: Node) -> int:
    """Return an offset up to which all is in the files of a node."""
    time.sleep(1)
    return max(in_files(node))
