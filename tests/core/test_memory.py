"""The memory budget, and its shares."""

import pytest

from kraftops.errors import UsageError
from kraftops.memory import (
    DEFAULT,
    LEAST_SHARE,
    VARIABLE,
    await_turn,
    free_share,
    max_batch_bytes,
    max_memory,
    set_max_memory,
    shared_memory,
)


def test_batch_has_a_quarter_of_the_budget() -> None:
    assert (max_memory(), max_batch_bytes()) == (DEFAULT, DEFAULT // 4)

    set_max_memory(1 << 30)

    assert (max_memory(), max_batch_bytes()) == (1 << 30, 1 << 28)


@pytest.mark.parametrize("text", ["256m", "-1", "1" * 20, "²"])
def test_other_values_of_the_variable_are_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, text)

    with pytest.raises(UsageError, match=VARIABLE):
        max_memory()


def test_workers_share_half_of_what_a_batch_may_have_and_wait_for_more() -> None:
    calls: list[None] = []

    with shared_memory(4, lambda: calls.append(None)):
        assert free_share(1 << 30) == max_batch_bytes() // 8
        await_turn()
    with shared_memory(1000, lambda: None):
        assert free_share(1 << 30) == LEAST_SHARE

    assert (len(calls), free_share(1 << 30)) == (1, 1 << 30)
