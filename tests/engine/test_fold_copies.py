"""A copy of a fold has the same state, and changes by itself."""

from random import Random

import pytest

from kraftops.engine.fold_contract import POSITION_BITS, Fold
from tests.helpers.engine.fold_driver import ALL, FoldDriver, Make
from tests.helpers.engine.fold_pair import answers, inside
from tests.helpers.engine.fold_records import (
    broker,
    change,
    config,
    fence,
    partition,
    removal,
    topic,
)
from tests.helpers.logs.random_logs import RandomLog
from tests.helpers.logs.segments import batches_of


def _apply(fold: Fold, number: int, batches: list[tuple[bytes, int]]) -> None:
    records, count = batches[number]
    at = position = 0
    fold.begin_unit()
    while at < count:
        stop = fold.apply(records, number << POSITION_BITS, position, at, count)
        at, position = stop.number, stop.position
        if stop.is_malformed:
            return


@pytest.mark.parametrize("seed", range(25))
def test_a_copy_goes_on_like_its_original_and_apart_from_it(make: Make, seed: int) -> None:
    log = RandomLog(Random(seed)).log(most_batches=12, most_records=12)
    batches = [inside(batch) for batch in batches_of(b"".join(map(bytes, log)))]
    fold = make("kafka", lambda number: batches[number][0])
    half = len(batches) // 2
    for number in range(half):
        _apply(fold, number, batches)
    middle = fold.copy(lambda number: batches[number][0])
    before = dict(answers(middle))
    assert before == dict(answers(fold))

    for number in range(half, len(batches)):
        _apply(fold, number, batches)

    assert dict(answers(middle)) == before
    for number in range(half, len(batches)):
        _apply(middle, number, batches)
    assert dict(answers(middle)) == dict(answers(fold))


def test_a_copy_in_the_middle_of_a_unit_knows_what_was_there_before_it(driver: FoldDriver) -> None:
    driver.add(topic())
    driver.fold.begin_unit()
    driver.apply(driver.put(config("1")))

    driver.fold = driver.fold.copy(lambda _: b"")

    driver.apply(driver.put(removal()))
    assert driver.fold.tables().configs != {}  # of this unit: it outlives the topic


def test_a_copy_watches_nothing(driver: FoldDriver) -> None:
    driver.fold.watch(ALL)
    driver.fold = driver.fold.copy(lambda _: b"")

    stop = driver.apply(driver.put(topic()))

    assert not stop.has_changes


def test_the_size_of_a_copy_grows_with_the_state(driver: FoldDriver) -> None:
    sizes = [driver.fold.size()]
    for records in ([topic()], [partition(n) for n in range(50)], [change(3)], [broker()]):
        driver.add(*records)
        sizes.append(driver.fold.size())
    driver.add(config("x"))
    sizes.append(driver.fold.size())
    driver.add(fence(99))  # left out, and noted
    sizes.append(driver.fold.size())

    assert sizes[0] < sizes[1] < sizes[2] <= sizes[3] < sizes[4] < sizes[5] < sizes[6]
