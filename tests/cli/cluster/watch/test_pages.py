"""The pages behind the screen of `describe --watch`."""

import pytest

from kraftops.placement.placement import Replicas, TopicPartition
from kraftops_cli.cluster.description import ClusterDescription
from kraftops_cli.cluster.health import Counts, Health
from kraftops_cli.cluster.watch.pages import page_of
from kraftops_terminal.live import Subject
from kraftops_terminal.tables import Table

OF_BROKERS = ClusterDescription(0)


@pytest.mark.parametrize("kind", ["broker", "problems", "changes"])
def test_pages_by_the_log_say_what_they_need(kind: str) -> None:
    (text,) = page_of(Subject(kind), OF_BROKERS).parts

    assert "--bootstrap-controller" in str(text)


def test_operations_that_cannot_be_seen_are_not_none() -> None:
    assert page_of(Subject("operations"), OF_BROKERS).parts == (
        "operations cannot be seen",
        "partitions that move: 0",
    )


def test_operations_have_the_partitions_that_move() -> None:
    moving = {TopicPartition("t", 7): Replicas((4, 1), (1,), 1, (4,), (2,))}
    health = Health(Counts(1, 0, 0, 0, 1), is_min_isr_assumed=False, moving=moving)
    description = ClusterDescription(0, health=health, operations=())

    *_, table = page_of(Subject("operations"), description).parts

    assert isinstance(table, Table)
    assert list(table.rows) == [["t-7", "4,1", "4", "2"]]
