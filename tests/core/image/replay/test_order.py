"""Gaps, repeats and older epochs in the order of a log are found."""

from kraftops.engine.fold_contract import BatchHead
from kraftops.image.replay.order import LogOrder
from kraftops.image.state.findings import EPOCH, GAP, LATE_START, REPEAT
from kraftops.log.batch import Record
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes


def follow(
    order: LogOrder, first: int, last: int, epoch: int = 1, path: str = "0.log"
) -> list[str]:
    """Return the kinds of findings about a batch with these offsets."""
    records = [Record(offset, 0, None, b"") for offset in range(first, last + 1)]
    (batch,) = batches_of(batch_bytes(records, leader_epoch=epoch))
    return [kind for kind, _ in order.follow(batch.header, path)]


def log_order() -> LogOrder:
    order = LogOrder()
    order.is_log = True
    return order


def test_batches_in_order_have_no_findings() -> None:
    order = log_order()

    assert follow(order, 0, 2) == follow(order, 3, 3, epoch=2) == []
    assert (order.next_offset, order.epoch) == (4, 2)


def test_late_start_and_gap_are_found() -> None:
    order = log_order()

    assert follow(order, 5, 6) == [LATE_START]
    assert follow(order, 9, 9) == [GAP]


def test_repeat_is_found_once_for_each_file() -> None:
    order = log_order()
    follow(order, 0, 9)

    assert follow(order, 2, 3) == [REPEAT]
    assert follow(order, 4, 5) == []
    assert follow(order, 4, 5, path="1.log") == [REPEAT]
    assert order.repeated == 9


def test_older_epoch_is_found() -> None:
    order = log_order()
    follow(order, 0, 0, epoch=3)

    assert follow(order, 1, 1, epoch=2) == [EPOCH]


def test_snapshot_has_no_order() -> None:
    order = LogOrder()

    assert follow(order, 7, 8) == []
    assert order.is_known()


def test_window_moves_the_order_to_its_end() -> None:
    order = log_order()
    assert not order.is_known()

    order.skip_to(BatchHead(4, 6, 2, 0, 3))

    assert (order.next_offset, order.logged, order.epoch) == (7, 7, 2)
    assert order.is_known()
