"""Checks before brokers are unregistered."""

from collections import Counter

import pytest

from kraftops.errors import AnswerError
from kraftops_cli.cluster.unregister_check import Registrations


def registrations(**values: object) -> Registrations:
    known: dict[str, object] = {
        "address": "a:1",
        "cluster_id": "x",
        "fenced": {1: False, 2: True, 3: True},
        "is_complete": True,
        "replicas": {3: Counter({f"t{n}": 1 for n in range(7)})},
    }
    return Registrations(**{**known, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("broker", "reason"),
    [
        (1, "broker 1 is running: it is not fenced"),
        (2, None),
        (3, "broker 3 still holds 7 replicas of 7 topics: t0, t1, t2, t3, t4, …"),
    ],
)
def test_running_broker_and_broker_with_replicas_are_refused(
    broker: int, reason: str | None
) -> None:
    refusal = registrations().refusal(broker)

    assert (refusal is None) == (reason is None)
    assert (reason or "") in (refusal.message if refusal else "")


def test_state_that_may_not_be_seen_is_refused() -> None:
    known = registrations(replicas=None, missing="DESCRIBE on the topics")

    refusal = known.refusal(2)

    assert refusal
    assert "that needs DESCRIBE on the topics" in refusal.message


def test_broker_that_cannot_be_seen_may_be_registered() -> None:
    assert not registrations().may_have(9)
    assert registrations(is_complete=False).may_have(9)
    assert registrations(fenced=None).may_have(9)


def test_error_of_an_unregistered_broker_lists_the_others() -> None:
    assert registrations().not_registered(9).hint == "registered are: 1, 2, 3"
    assert registrations(fenced={}).not_registered(9).hint == "registered are: none"
    assert registrations().with_ids(AnswerError("no", error_code=31)).hint is None
