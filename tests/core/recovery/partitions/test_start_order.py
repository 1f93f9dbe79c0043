"""The order of starts in which the best copies lead, where there is one."""

import pytest

from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.recovery.partitions.losses import PartitionLoss
from kraftops.recovery.partitions.start_order import start_order


def loss(broker: int, number: int, *, was_clean: bool = True) -> PartitionLoss:
    """Return that a broker's copy is the best of a partition that 101 and 103 may lead."""
    copy = PartitionCopy(
        broker=broker,
        place=f"d/orders-{number}",
        topic="orders",
        topic_id=None,
        number=number,
        end=40,
        was_clean=was_clean,
    )
    return PartitionLoss(
        copy=copy,
        offsets=range(10, 40),
        acknowledged=30,
        leader=204 - broker,
        leaders=(101, 103),
        also_on=(),
        is_certain=False,
    )


@pytest.mark.parametrize(
    ("losses", "has_elr", "order"),
    [
        ([loss(103, 0)], True, [103, 101]),
        ([loss(103, 0), loss(101, 1)], True, None),
        ([loss(103, 0, was_clean=False)], True, None),
        ([loss(103, 0, was_clean=False)], False, [103, 101]),
        ([loss(102, 0)], False, None),
    ],
    ids=[
        *("best first", "each needs the other", "killed, with ELR", "killed, without ELR"),
        "not among those that may lead",
    ],
)
def test_order_needs_best_copies_that_can_lead(
    losses: list[PartitionLoss], has_elr: bool, order: list[int] | None
) -> None:
    assert start_order([101, 103], losses, has_elr=has_elr) == order
