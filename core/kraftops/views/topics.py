"""The view of topics: size, replication, what is missing, and configurations."""

from collections.abc import Mapping
from itertools import accumulate, pairwise

from kraftops.answers.fields import number, text
from kraftops.display.order import natural_key
from kraftops.engine.metadata_state import TOPIC_RESOURCE, PartitionCondition
from kraftops.image.state.changes import Change
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.min_isr import NamedMinIsr
from kraftops.java.numbers import parse_integer
from kraftops.tree.names import UUIDS
from kraftops.tree.topics import last_change_below
from kraftops.views.view import Frame, View, last_columns, with_last_change

COLUMNS = (
    text("topic", "name of the topic"),
    number("partitions", "partitions", numeral="amount"),
    number("replication", "replicas of the partition that has the fewest"),
    number("offline", "partitions without a leader", numeral="amount"),
    number("underReplicated", "partitions with replicas out of sync", numeral="amount"),
    number("underMinIsr", "partitions with an ISR below minIsr", numeral="amount"),
    number("minIsr", "min.insync.replicas, as far as the log tells"),
    number("configs", "configurations of its own", numeral="amount"),
    number("retentionMs", "retention.ms of its own", is_usual=False),
    text("cleanupPolicy", "cleanup.policy of its own", is_usual=False),
    text("id", "id of the topic", is_usual=False),
    *last_columns(),
)


def _frame(image: MetadataImage, _: bool) -> Frame:  # noqa: FBT001 - see View
    fold = image.fold
    columns = fold.state_columns()
    ends = [0, *accumulate(count for _, count in columns.topics)]
    fewest = {
        topic_id: min(columns.replicas.sizes[start:stop], default=None)
        for (topic_id, _), (start, stop) in zip(columns.topics, pairwise(ends), strict=True)
    }
    counts = dict(columns.topics)
    offline = _counts(fold.partitions_with(PartitionCondition.LEADERLESS))
    under_replicated = _counts(fold.partitions_with(PartitionCondition.UNDER_REPLICATED))
    min_isrs = NamedMinIsr(image)
    ids = image.topic_ids
    under_min_isr = _counts(fold.under_min_isr(*min_isrs.by_id(image)))
    rows, topic_ids = [], []
    for name in sorted(ids, key=natural_key):
        topic_id = ids[name]
        configs = image.configs.get((TOPIC_RESOURCE, name), {})
        retention = _config(image, configs, "retention.ms")
        topic_ids.append(topic_id)
        rows.append(
            (
                name,
                counts.get(topic_id, 0),
                fewest.get(topic_id),
                offline.get(topic_id, 0),
                under_replicated.get(topic_id, 0),
                under_min_isr.get(topic_id, 0),
                min_isrs.of(name),
                len(configs),
                parse_integer(retention or "", 64),
                _config(image, configs, "cleanup.policy"),
                UUIDS[topic_id],
            )
        )

    def change(row: int) -> Change | None:
        last = last_change_below(image, topic_ids[row])
        return None if last is None else last.change

    return with_last_change(COLUMNS, rows, change)


def _counts(numbers_by_topic: Mapping[bytes, list[int]]) -> dict[bytes, int]:
    return {topic_id: len(numbers) for topic_id, numbers in numbers_by_topic.items()}


def _config(image: MetadataImage, configs: Mapping[str, int], name: str) -> str | None:
    if name not in configs:
        return None
    value: str | None = image.read(configs[name])[1]["value"]
    return value


TOPICS = View("topics", COLUMNS, _frame)
