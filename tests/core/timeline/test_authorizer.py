"""Principals of changes, by a log that Kafka 4.3.1 wrote beside its metadata."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.timeline.authorizer import Request, allowed_requests, with_principals
from kraftops.timeline.changes import MetadataChange, read_changes
from tests.helpers.tools.corpus import DATA

RECORDED = DATA / "incidents/principals"
LOG = str(RECORDED / "00000000000000000000.log")
AUTHORIZER_LOG = str(RECORDED / "kafka-authorizer.log")
CREATED = MetadataChange(10_000, 7, "topic", "topic t", None, "1 partition", "client", "t")


@pytest.fixture(autouse=True)
def _time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def requests(tmp_path: Path, *lines: str) -> list[Request]:
    path = tmp_path / "kafka-authorizer.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    return list(allowed_requests([str(path)]))


def line(stamp: str, operation: str = "CREATE", resource: str = "Topic:LITERAL:t") -> str:
    return (
        f"{stamp} DEBUG Principal = User:CN=a b,O=c is Allowed operation = {operation} from host ="
        f" 127.0.0.1 on resource = {resource} for request = CreateTopics with resourceRefCount = 1"
    )


def likely(change: MetadataChange, *requests: Request) -> tuple[str, ...]:
    (joined,) = with_principals([change], requests)
    return joined.likely_principals


def test_real_changes_have_those_who_made_them() -> None:
    changes = with_principals(read_changes(LOG).changes, allowed_requests([AUTHORIZER_LOG]))

    principals = {change.what: change.likely_principals for change in changes}
    assert {what for what, names in principals.items() if names == ("User:alice",)} == {
        "topic orders", "ACL of User:bob", "TOPIC:orders retention.ms",
        "all brokers log.cleaner.threads", "user(carol) producer_byte_rate", "SCRAM-SHA-256 of carol",
    }  # fmt: skip
    assert {what for what, names in principals.items() if names == ("User:bob",)} == {
        "topic team-a", "TOPIC:team-a retention.ms", "TOPIC:team-a cleanup.policy", "team-a-1",
        "team-a-2",
    }  # fmt: skip
    assert principals["broker 1"] == principals["metadata.version"] == ()


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("[1970-01-01 00:00:09,500]", 9_500),
        ("1970-01-01T00:00:09.5Z", 9_500),
        ('{"time":"1970-01-01T01:00:09.500+0100","message":"', 9_500),
        ("[1970-02-31 00:00:09,500]", None),
        ("[09:00]", None),
    ],
)
def test_times_of_layouts(tmp_path: Path, stamp: str, time: int | None) -> None:
    expected = [] if time is None else [Request(time, "User:CN=a b,O=c", "CreateTopics", "t")]

    assert requests(tmp_path, "not of the authorizer", line(stamp)) == expected


def test_local_times_are_those_of_the_time_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()

    assert requests(tmp_path, line("1970-01-01 01:00:09"))[0].time == 9_000


def test_who_may_describe_a_topic_did_not_change_it(tmp_path: Path) -> None:
    assert requests(tmp_path, line("1970-01-01 00:00:09", "DESCRIBE_CONFIGS")) == []


def test_a_line_without_an_end_costs_no_memory(tmp_path: Path) -> None:
    assert requests(tmp_path, "x" * 200_000, line("1970-01-01 00:00:09")) != []


def test_the_nearest_request_is_the_likeliest() -> None:
    far, near = (Request(time, f"User:{time}", "CreateTopics", None) for time in (6_000, 9_900))

    assert likely(CREATED, far, near) == ("User:9900", "User:6000")


def test_a_request_that_named_the_topic_excludes_others() -> None:
    cluster = Request(9_999, "User:near", "CreateTopics", None)
    named = Request(8_000, "User:named", "CreateTopics", "t")
    other = Request(9_999, "User:other", "CreateTopics", "t2")

    assert likely(CREATED, cluster, named, other) == ("User:named",)


@pytest.mark.parametrize("time", [4_999, 11_001])
def test_a_request_of_another_time_is_not_joined(time: int) -> None:
    assert likely(CREATED, Request(time, "User:a", "CreateTopics", "t")) == ()


def test_other_requests_are_not_joined() -> None:
    assert likely(CREATED, Request(9_999, "User:a", "DeleteTopics", "t")) == ()
