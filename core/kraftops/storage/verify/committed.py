"""Records of a metadata log that were committed, as far as files tell.

No file has the high watermark: it lives in the memory of the leader and its followers, and quorum-
state does not have it. Replicas, brokers too, fetch records before they are committed, so a record
in few logs proves nothing. These facts do: a snapshot has committed records only; brokers make
directories for committed topics only; and a leader that most voters do not follow resigns after 1.5
times `controller.quorum.fetch.timeout.ms` (Kafka 3.7 and later), so that the records before its
last ones were committed.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from kraftops.errors import KraftopsError
from kraftops.log.batch import Batch, Header
from kraftops.memory import LEAST, Meter
from kraftops.records.meaning import Decoded
from kraftops.server.metadata_log.files import WholeBatches, metadata_records
from kraftops.storage.logdirs.node import Node

_TOPIC = 2  # the type of a TopicRecord
_FETCH_TIMEOUT = "controller.quorum.fetch.timeout.ms"
_USUAL_MS = 2000
"""Its default, for a node whose configuration is unknown."""
_PATIENCE = 10
"""Fetch timeouts, within which every leader without a majority has resigned; 20 s by default."""


class Committed(NamedTuple):
    """The offset after the last record of a log that is known to be committed, and the evidence."""

    end: int = 0
    evidence: str = ""


def committed_end(node: Node, start: int, topics: Collection[bytes]) -> Committed:
    """Return how far the metadata log of a node was committed.

    Args:
        node: the node.
        start: the offset from which on the log is read for evidence.
        topics: the ids of the topics with partitions on the disks of brokers.
    """
    committed = Committed()
    if snapshot := node.log.latest_snapshot:
        committed = Committed(snapshot.end_offset, "a snapshot has them")
    if start >= (node.content.end_offset or 0):
        return committed
    try:
        return max(
            committed, _end_in_batches(node, start, topics), key=lambda candidate: candidate.end
        )
    except KraftopsError:
        return committed  # other checks say why it cannot be read


def topics_on_disk(nodes: Sequence[Node]) -> set[bytes]:
    """Return the ids of the topics with partitions on the disks of brokers."""
    return {
        topic_id
        for node in nodes
        if node.is_broker
        for directory in node.data_directories
        for topic_id in directory.topic_ids()
    }


def _end_in_batches(node: Node, start: int, topics: Collection[bytes]) -> Committed:
    limit = _PATIENCE * int(str(node.config.values.get(_FETCH_TIMEOUT, _USUAL_MS)))
    committed = Committed()
    unproven: deque[tuple[int, int]] = deque()  # times and ends of the batches of one leader
    epoch, meter = -1, LEAST.meter()
    for header, batch in _batches(node, start, meter):
        if header.leader_epoch != epoch:
            epoch = header.leader_epoch
            unproven.clear()
        end = header.last_offset + 1
        unproven.append((header.max_timestamp, end))
        while unproven[0][0] + limit <= header.max_timestamp:
            text = f"their leader went on for more than {limit / 1000:g} s"
            committed = max(committed, Committed(unproven.popleft()[1], text))
        if _has_topic(header, batch, topics, meter):
            committed = Committed(end, "a broker has partitions of a topic that they create")
    return committed


def _batches(node: Node, start: int, meter: Meter) -> Iterator[tuple[Header, Batch]]:
    """Yield the batches of a log from an offset on."""
    segments = node.log.segments
    first = sum(segment.base_offset <= start for segment in segments) - 1
    for segment in segments[max(first, 0) :]:
        for header, batch in WholeBatches(segment.path, meter):
            if header.last_offset >= start:
                yield header, batch


def _has_topic(header: Header, batch: Batch, topics: Collection[bytes], meter: Meter) -> bool:
    from kraftops.records import metadata

    if header.is_control or not topics:
        return False
    for record in metadata_records(batch, meter):
        if record.value and record.value[1:2] == bytes([_TOPIC]):
            decoded = metadata.decode(record.value)
            if isinstance(decoded, Decoded):
                data: Any = decoded.data
                if data["topicId"] in topics:
                    return True
    return False
