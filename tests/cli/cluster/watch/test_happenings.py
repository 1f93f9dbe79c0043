"""Changes between two views of a cluster, in words."""

import pytest

from kraftops.wire.rpc.cluster import Feature
from kraftops_cli.cluster.description import ClusterDescription
from kraftops_cli.cluster.health import Counts
from kraftops_cli.cluster.watch.happenings import happenings_between
from tests.helpers.tools.watched_views import CALM, NOON, broker, view, voter

FENCED = "registered-fenced"


def texts(before: ClusterDescription, after: ClusterDescription) -> list[tuple[str, str]]:
    return [(each.style, each.text) for each in happenings_between(before, after)]


def test_nothing_happens_between_equal_views() -> None:
    assert texts(view(broker(1)), view(broker(1, leaders=7, lag=9), seconds=5)) == []


def test_brokers_come_change_and_go() -> None:
    before = view(broker(1), broker(2, state=FENCED), broker(3), broker(4))
    after = view(
        broker(1, state=FENCED),
        broker(2),
        broker(4, state="in-controlled-shutdown"),
        broker(9),
        seconds=5,
    )

    assert texts(before, after) == [
        ("warning", "broker 3: unregistered"),
        ("good", "broker 9: registered, active"),
        ("bad", "broker 1: registered-fenced, was active"),
        ("good", "broker 2: active, was registered-fenced"),
        ("warning", "broker 4: in-controlled-shutdown, was active"),
    ]
    assert {each.time for each in happenings_between(before, after)} == {NOON + 5000}


def test_same_change_of_many_brokers_is_one_line() -> None:
    before = view(*map(broker, range(1, 2001)))
    after = view(*(broker(each, state=FENCED) for each in range(1, 2001)))

    assert texts(before, after) == [
        ("bad", "brokers 1, 2, 3, 4, 5, … (2,000): registered-fenced, was active")
    ]


def test_releases_and_failed_directories_are_told() -> None:
    before = view(broker(1, release="4.2"), broker(2, release=None), broker(3, failed=("/a",)))
    after = view(broker(1), broker(2), broker(3, failed=("/a", "/b")))

    assert texts(before, after) == [
        ("warning", "broker 1: of release 4.3, was 4.2"),
        ("bad", "broker 3: failed directory /b"),
    ]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"leader": 12, "epoch": 8}, "the quorum is led by 12 after 11, epoch 8"),
        ({"epoch": 8}, "the quorum is led by 11 again, epoch 8"),
        ({"leader": None, "epoch": None}, None),
        ({"members": None}, None),
        ({"members": (voter(11), voter(12), voter(13), voter(14))}, "voter 14 joined"),
        ({"members": (voter(11), voter(12, role="observer"))}, "voter 12 left"),
        ({"missing": "the quorum is not known"}, "the quorum is not known"),
        ({"features": (Feature("metadata.version", None, 99),)}, "metadata.version is 99, was 30 (4.3-IV0)"),
    ],
)  # fmt: skip
def test_quorum_and_features_change(changes: dict[str, object], text: str | None) -> None:
    found = texts(view(), view(**changes))  # type: ignore[arg-type]

    assert [each for _, each in found][:1] == ([] if text is None else [text])


def test_counts_are_told_when_they_begin_and_end_to_be_0() -> None:
    bad = Counts(partitions=301, under_replicated=7, offline=1, under_min_isr=2, moving=3)
    worse = bad._replace(under_replicated=9, offline=4)

    assert texts(view(), view(counts=bad)) == [
        ("warning", "7 partitions under-replicated"),
        ("bad", "1 partition offline"),
        ("bad", "2 partitions under min ISR"),
        ("warning", "3 partitions in reassignment"),
        ("", "partitions: 301, were 300"),
    ]
    assert texts(view(counts=bad), view(counts=worse)) == []
    assert texts(view(counts=bad), view(counts=CALM))[1] == (
        "good",
        "no partition offline any more",
    )
    assert texts(view(counts=None), view(counts=bad)) == []
