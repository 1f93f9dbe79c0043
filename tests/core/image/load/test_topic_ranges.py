"""Topics and ranges of partitions, collected from records."""

from kraftops.engine.index_contract import RANGE_BITS
from kraftops.image.load.topic_ranges import TopicRanges, range_of

NEAR, FAR = 3, 5 << RANGE_BITS


def test_first_range_has_no_bit() -> None:
    topics = TopicRanges({}, {}, {})

    topics.add_partition(b"a", NEAR)
    topics.add_partition(b"b", FAR)

    assert (range_of(NEAR), range_of(FAR)) == (0, 5)
    assert topics.ranges == {b"b": 1 << 5}


def test_update_joins_masks_and_names() -> None:
    topics, others = TopicRanges({b"a": "x"}, {}, {b"a": 2}), TopicRanges({}, {}, {})
    for name in ("y", "x", "z"):
        others.add_topic(b"a", name)
    others.add_partition(b"a", FAR)
    others.add_partition(b"b", FAR)

    topics.update(others)

    assert topics.names == {b"a": "x"}
    assert list(topics.renamed) == [(b"a", "y"), (b"a", "z")]
    assert topics.ranges == {b"a": 2 | 1 << 5, b"b": 1 << 5}
