"""Topics and ranges of partitions, collected from records."""

from kraftops.engine.index_contract import RANGE_BITS
from kraftops.image.load.topic_ranges import TopicRanges, range_of

NEAR, FAR = 3, 5 << RANGE_BITS


def test_first_range_has_no_bit() -> None:
    topics = TopicRanges({}, {})

    topics.add_partition(b"a", NEAR)
    topics.add_partition(b"b", FAR)

    assert (range_of(NEAR), range_of(FAR)) == (0, 5)
    assert topics.ranges == {b"b": 1 << 5}


def test_update_joins_masks_and_names() -> None:
    topics, others = TopicRanges({(b"a", "x"): None}, {b"a": 2}), TopicRanges({}, {})
    others.pairs[b"a", "y"] = None
    others.add_partition(b"a", FAR)
    others.add_partition(b"b", FAR)

    topics.update(others)

    assert list(topics.pairs) == [(b"a", "x"), (b"a", "y")]
    assert topics.ranges == {b"a": 2 | 1 << 5, b"b": 1 << 5}
