"""Checks before brokers are unregistered."""

from collections import Counter
from pathlib import Path

import pytest

from kraftops.image.load.loading import load
from kraftops_cli.cluster.unregister_check import Registrations, registrations_of
from tests.helpers.nodes.lost_quorums import broker
from tests.helpers.wire.metadata_quorums import MetadataLog


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
    assert registrations(fenced=None).not_registered(9).hint is None


def test_age_of_a_fencing_is_at_least_the_time_since_the_last_change() -> None:
    """What only a snapshot has was there before the snapshot: it may be older."""
    hour = 3_600_000
    known = registrations(
        fenced={1: False, 2: True, 3: True, 4: True, 5: True},
        unchanged_ms={1: 9 * hour, 2: 2 * hour, 3: hour // 2, 4: 2 * hour, 5: hour // 2},
        inexact=frozenset({4, 5}),
    )

    chosen, doubtful = known.fenced_for(hour)

    assert chosen == [2, 4]
    assert [(each.code, each.known["broker"]) for each in doubtful] == [("broker-age-unknown", 5)]
    assert "for 1 h: it tells of 30 min" in doubtful[0].message


def test_age_is_known_from_the_log(tmp_path: Path) -> None:
    log = MetadataLog()
    change = ("BrokerRegistrationChangeRecord", {"brokerId": 2, "brokerEpoch": 2, "fenced": 1})
    log.add(broker(2), broker(1), change)
    image = load(log.write(tmp_path))
    last = image.provenance.timestamp

    found = registrations_of(image, "a:1", "x", now=last + 5000)

    assert found.fenced == {1: True, 2: True}
    assert [*found.racks] == [1, 2]
    assert found.unchanged_ms == {1: 5000, 2: 5000}
    assert found.inexact == frozenset()
