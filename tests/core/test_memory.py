"""The budget of a run, and the turns of those who share it."""

import math
from pathlib import Path

import pytest

from kraftops import memory
from kraftops.errors import UsageError
from kraftops.memory import (
    DEFAULT,
    LEAST_SHARE,
    USUAL,
    VARIABLE,
    Budget,
    Turn,
    budget_of,
    free_memory,
)


def test_budget_is_256_mib_and_no_worker_has_less_than_one() -> None:
    """A batch of Kafka's default limit (`max.message.bytes`) nearly fits into the second."""
    assert (DEFAULT, LEAST_SHARE) == (256 * 1024**2, 1024**2)


def test_batch_has_a_quarter_of_the_budget() -> None:
    assert budget_of({}) == USUAL == Budget(DEFAULT)
    assert USUAL.batch == DEFAULT // 4


def test_the_variable_is_a_size_as_the_option() -> None:
    assert budget_of({VARIABLE: "64M"}).memory == 64 << 20


@pytest.mark.parametrize("text", ["256 miles", "-1", "1" * 20, "²"])
def test_other_values_of_the_variable_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=VARIABLE):
        budget_of({VARIABLE: text})


def test_workers_share_half_of_what_a_batch_may_have_and_wait_for_more() -> None:
    budget = Budget(DEFAULT)

    assert budget.meter().free == budget.batch
    assert budget.meter(Turn(2)).free == budget.batch // 4
    assert budget.meter(Turn(4)).free == budget.batch // 8
    assert budget.meter(Turn(1000)).free == LEAST_SHARE


def test_rows_may_be_as_large_as_the_ratio_and_the_output_allow() -> None:
    assert Budget(output=10).most_rows(2) == 2210


@pytest.mark.parametrize(
    ("container", "free"), [("max\n", 3 << 30), ("1073741824\n", 1 << 30), (None, 3 << 30)]
)
def test_free_memory_is_the_least_that_the_machine_and_the_container_tell(
    container: str | None, free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    machine.write_text("MemTotal: 9999999 kB\nMemAvailable:    3145728 kB\n")
    if container:
        limit.write_text(container)
    monkeypatch.setattr(memory, "_MACHINE", machine)
    monkeypatch.setattr(memory, "_CONTAINER", limit)

    assert free_memory() == free

    machine.unlink()
    assert free_memory() == (free if container and free < 3 << 30 else math.inf)
