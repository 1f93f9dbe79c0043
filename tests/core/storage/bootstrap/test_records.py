"""The records that a formatted directory begins with."""

from pathlib import Path

import pytest

from kraftops.log.batch import Batch, is_valid, records
from kraftops.records import control, metadata
from kraftops.records.meaning import Decoded
from kraftops.server.voters import Voter
from kraftops.storage.bootstrap import records as bootstrap
from kraftops.storage.bootstrap.records import (
    Bootstrap,
    bootstrap_bytes,
    voters_batch_bytes,
    voters_record,
    voters_snapshot_bytes,
)
from kraftops.storage.bootstrap.releases import MetadataVersion, by_name
from kraftops.storage.bootstrap.scram import Credential
from tests.helpers.logs.checkpoint_text import checkpoint_text
from tests.helpers.logs.segments import batches_of

NOW = 1_763_720_000_123
NEWEST = by_name("4.3")
ALICE = Credential("alice", 1, 4096, b"salt", b"stored key", b"server key")
VOTERS = (Voter(1, bytes(15) + b"\xff", "a", 9093), Voter(2, bytes([9] * 16), "::1", 65535))


def levels_of(version: MetadataVersion, **levels: int) -> Bootstrap:
    features = {f"{name}.version": level for name, level in levels.items()}
    return Bootstrap(version, features, ())


def decoded(batch: Batch) -> list[Decoded]:
    """Return what the records of a batch say."""
    found = [
        control.decode(record.key, record.value)
        if batch.header.is_control
        else metadata.decode(record.value)
        for record in records(batch)
    ]
    assert all(isinstance(record, Decoded) for record in found)
    return [record for record in found if isinstance(record, Decoded)]


def test_metadata_version_is_first_and_levels_above_zero_follow_by_name() -> None:
    initial = levels_of(NEWEST, transaction=2, share=0, kraft=1, group=1, metadata=30)

    found = [(record.data["name"], record.data["featureLevel"]) for record in initial.records()]

    assert found == [("metadata.version", 30), ("group.version", 1), ("transaction.version", 2)]


def test_credentials_are_last_in_the_order_given() -> None:
    bob = Credential("bob", 2, 8192, b"", b"", b"")
    initial = Bootstrap(NEWEST, {"group.version": 1}, (bob, ALICE, bob))

    found = [record.data["name"] for record in initial.records()]

    assert found == ["metadata.version", "group.version", "bob", "alice", "bob"]


def test_text_is_kafkas_but_for_secrets() -> None:
    text = str(Bootstrap(NEWEST, {}, (ALICE,)))

    assert text == (
        "BootstrapMetadata(records=[ApiMessageAndVersion(FeatureLevelRecord("
        "name='metadata.version', featureLevel=30) at version 0), "
        "ApiMessageAndVersion(UserScramCredentialRecord(name='alice', mechanism=1, "
        "salt=[<redacted>], storedKey=[<redacted>], serverKey=[<redacted>], iterations=4096) "
        "at version 0)], metadataVersionLevel=30, source=format command)"
    )


def test_bootstrap_file_has_records_between_header_and_footer() -> None:
    header, body, footer = batches_of(bootstrap_bytes(levels_of(NEWEST, group=1), NOW))

    assert decoded(header) == [
        Decoded("SNAPSHOT_HEADER", 0, {"version": 0, "lastContainedLogTimestamp": 0})
    ]
    assert [record.data["name"] for record in decoded(body)] == [
        "metadata.version",
        "group.version",
    ]
    assert decoded(footer) == [Decoded("SNAPSHOT_FOOTER", 0, {"version": 0})]
    headers = [batch.header for batch in (header, body, footer)]
    assert [one.base_offset for one in headers] == [0, 1, 3]
    assert [one.is_control for one in headers] == [True, False, True]
    assert all(is_valid(batch, batch.header.crc) for batch in (header, body, footer))
    assert {(one.base_timestamp, one.max_timestamp) for one in headers} == {(NOW, NOW)}


def test_only_times_and_checksums_differ_between_two_files(tmp_path: Path) -> None:
    initial = Bootstrap(NEWEST, {}, (ALICE,))
    for number in (1, 2):
        (tmp_path / f"{number}").write_bytes(bootstrap_bytes(initial, NOW + number))

    one, two = (tmp_path / "1", tmp_path / "2")

    assert one.read_bytes() != two.read_bytes()
    assert checkpoint_text(one) == checkpoint_text(two)


def test_many_credentials_are_split_into_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of the metadata log has at most 8 MiB; here less."""
    monkeypatch.setattr(bootstrap, "_BATCH_LIMIT", 1000)
    users = [Credential(f"user {n}", 1, 4096, bytes(100), bytes(32), bytes(32)) for n in range(50)]

    found = batches_of(bootstrap_bytes(Bootstrap(NEWEST, {}, users), NOW))

    offset = 0
    for batch in found:
        assert batch.header.base_offset == offset
        assert batch.size < 1200
        offset = batch.header.last_offset + 1
    assert len(found) > 6
    assert offset == 53


def test_batch_has_at_most_eight_mebibytes() -> None:
    half = bytes(4 << 20)

    assert [*bootstrap._batched([half, half, b"x", half, half])] == [
        [half] * 2,
        [b"x", half],
        [half],
    ]
    assert [*bootstrap._batched([half * 3, b"x"])] == [[half * 3], [b"x"]]


def test_snapshot_says_who_votes() -> None:
    body, footer = batches_of(voters_snapshot_bytes(VOTERS, "CONTROLLER", NOW))

    header, kraft_version, quorum = decoded(body)
    assert header.data["lastContainedLogTimestamp"] == NOW
    assert kraft_version == Decoded("KRAFT_VERSION", 0, {"version": 0, "kRaftVersion": 1})
    voters = [
        {
            "voterId": voter.node_id,
            "voterDirectoryId": voter.directory_id,
            "endpoints": [{"name": "CONTROLLER", "host": voter.host, "port": voter.port}],
            "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
        }
        for voter in VOTERS
    ]
    assert quorum == Decoded("KRAFT_VOTERS", 0, {"version": 0, "voters": voters})
    assert decoded(footer) == [Decoded("SNAPSHOT_FOOTER", 0, {"version": 0})]
    assert (footer.header.base_offset, body.header.last_offset) == (3, 2)
    assert body.header.is_control
    assert body.header.leader_epoch == footer.header.leader_epoch == 0


@pytest.mark.parametrize("is_first", [True, False])
def test_voters_of_a_log_have_its_next_offsets_and_its_epoch(is_first: bool) -> None:
    record = voters_record(VOTERS, "CONTROLLER")

    (batch,) = batches_of(voters_batch_bytes(record, is_first=is_first, offset=5, epoch=7, now=NOW))

    expected = ["KRAFT_VERSION", "KRAFT_VOTERS"] if is_first else ["KRAFT_VOTERS"]
    assert [each.type for each in decoded(batch)] == expected
    assert [each.offset for each in records(batch)] == [5, 6][: len(expected)]
    assert (batch.header.leader_epoch, batch.header.is_control) == (7, True)
