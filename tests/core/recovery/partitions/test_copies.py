"""Which copy of a partition is the best."""

from kraftops.recovery.partitions.copies import PartitionCopy, newest_of


def test_of_equal_copies_the_one_that_may_lead_is_the_best() -> None:
    """Otherwise an unclean election of the first broker would be asked for."""
    copies = [
        PartitionCopy(broker=broker, place="d", topic="orders", topic_id=None, number=0, end=40)
        for broker in (101, 102, 103)
    ]

    assert newest_of(copies, leaders=(103,)).broker == 103
    assert newest_of(copies).broker == 101
