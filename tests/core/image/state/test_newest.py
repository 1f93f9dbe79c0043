"""The newest record of an entry is found in the image and by its leaf."""

from kraftops.engine.metadata_state import EntryKey, NewestRecord
from kraftops.image.load.loader import Loader
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.newest import newest_record
from tests.helpers.logs.random_logs import leader_change, log_batches, log_bytes, new_record, uuid
from tests.helpers.logs.segments import batches_of

T = uuid(1)
TOPIC = new_record("TopicRecord", topicId=T, name="t")
PARTITION = new_record("PartitionRecord", partitionId=0, topicId=T, replicas=[1], isr=[1], leader=1)
CHANGE = new_record("PartitionChangeRecord", partitionId=0, topicId=T, leader=2)
CONFIG = new_record("ConfigRecord", resourceType=4, resourceName="1", name="k", value="v")
LEVEL = new_record("FeatureLevelRecord", name="metadata.version", featureLevel=25)


def offset_of(image: MetadataImage, newest: NewestRecord | None) -> tuple[int, int] | None:
    """Return offset and number of records."""
    return None if newest is None else (image.record(newest.address).offset, newest.records)


def test_each_table_has_its_newest_record() -> None:
    image = MetadataImage()
    raw = log_bytes(log_batches([TOPIC, PARTITION, CHANGE, CONFIG, LEVEL])) + leader_change(5, 1)
    Loader(Replay(image)).add(batches_of(raw), image.store.add_source("memory", None), "memory")

    found = {
        entry: offset_of(image, newest_record(image, EntryKey(*entry)))
        for entry in [
            ("topics", (T,)),
            ("topics", (uuid(2),)),
            ("partitions", (T, 0)),
            ("partitions", (T, 1)),
            ("brokers", (1,)),
            ("configs", (4, "1", "k")),
            ("configs", (4, "2", "k")),
            ("features", ("metadata.version",)),
            ("features", ("group.version",)),
            ("producer-ids", ()),
            ("quorum", ("leader",)),
            ("quorum", ("voters",)),
        ]
    }

    assert {entry: one for entry, one in found.items() if one} == {
        ("topics", (T,)): (0, 1),
        ("partitions", (T, 0)): (2, 2),
        ("configs", (4, "1", "k")): (3, 1),
        ("features", ("metadata.version",)): (4, 1),
        ("quorum", ("leader",)): (5, 1),
    }
