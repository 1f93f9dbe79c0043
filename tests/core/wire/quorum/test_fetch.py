"""Answers to Fetch and FetchSnapshot become records, leaders, positions or errors."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.quorum.fetch import (
    FetchPosition,
    FetchRequest,
    FetchResult,
    SnapshotChunk,
    SnapshotId,
    SnapshotRequest,
    fetch,
    receive_snapshot_chunk,
    send_snapshot_request,
)
from kraftops.wire.rpc.connection import Connection
from tests.helpers.wire.peers import (
    CLUSTER_ID,
    CONTROLLER_APIS,
    Peer,
    answer,
    api_versions,
    described,
    read_request,
)
from tests.helpers.wire.quorums import FENCED, NOT_LEADER_OR_FOLLOWER, Log, batch, quorum

PATIENT = Settings(timeout=30.0, connect_timeout=30.0)
SNAPSHOT = SnapshotId(7, 2)


@contextmanager
def connected(address: Address) -> Iterator[Connection]:
    with Connection(address, PATIENT, Deadline(30)) as connection:
        yield connection


@contextmanager
def peer_that_answers(**values: object) -> Iterator[Connection]:
    """Connect to a controller with one answer to all requests for the log."""

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                reply = api_versions(correlation, CONTROLLER_APIS, version=version)
            elif key == 60:
                reply = described(correlation, version)
            else:
                api = "Fetch" if key == 1 else "FetchSnapshot"
                reply = answer(api, version, correlation, **values)
            connection.sendall(reply)

    with Peer(handle) as peer, connected(peer.address) as connection:
        yield connection


def fetched(
    connection: Connection,
    offset: int = 0,
    epoch: int = 0,
    *,
    leader_epoch: int = 1,
    cluster_id: str | None = None,
) -> FetchResult:
    request = FetchRequest(FetchPosition(offset, epoch), leader_epoch, 1 << 20, 0, cluster_id)
    return fetch(connection, request, Deadline(30))


def chunk(
    connection: Connection, snapshot: SnapshotId = SNAPSHOT, position: int = 0
) -> SnapshotChunk | None:
    request = SnapshotRequest(snapshot, 1, position, 1 << 20, None)
    pending = send_snapshot_request(connection, request, Deadline(2))
    return receive_snapshot_chunk(connection, pending, position, Deadline(2))


def part(**values: object) -> dict[str, object]:
    """Return the answer with a part of a snapshot."""
    end = {"end_offset": SNAPSHOT.end_offset, "epoch": SNAPSHOT.epoch}
    partition: dict[str, object] = {
        "index": 0, "error_code": 0, "size": 10, "position": 4, "snapshot_id": end,
        "unaligned_records": b"abc", **values,
    }  # fmt: skip
    return {"error_code": 0, "topics": [{"name": "t", "partitions": [partition]}]}


class TestFetch:
    def test_result_has_the_records_from_the_position_on(self) -> None:
        log = Log()
        log.append(2)
        log.append(1)
        with quorum(log) as controllers, connected(controllers.address(1)) as connection:
            result = fetched(connection, 2, 1)

        assert (result.error, result.high_watermark, result.records) == (0, 3, batch(2))
        assert (result.snapshot, result.diverging) == (None, None)

    def test_result_of_another_controller_names_the_leader_and_its_address(self) -> None:
        log = Log(leader=2, epoch=5)
        with quorum(log, 1, 2) as controllers, connected(controllers.address(1)) as connection:
            result = fetched(connection, leader_epoch=5)
            assert result.leader_address == controllers.address(2)

        assert (result.error, result.leader, result.epoch) == (NOT_LEADER_OR_FOLLOWER, 2, 5)

    def test_leader_may_have_no_address(self) -> None:
        log = Log(epoch=5)
        with quorum(log) as controllers, connected(controllers.address(1)) as connection:
            controllers.hidden = True
            result = fetched(connection)

        assert (result.error, result.leader, result.leader_address) == (FENCED, 1, None)

    def test_position_before_the_log_leads_to_the_snapshot(self) -> None:
        log = Log()
        log.append(3)
        taken = log.snapshot(drop=True)
        with quorum(log) as controllers, connected(controllers.address(1)) as connection:
            result = fetched(connection)

        assert (result.snapshot, result.records) == (taken, b"")

    def test_position_after_the_log_diverges(self) -> None:
        log = Log()
        log.append(3)
        with quorum(log) as controllers, connected(controllers.address(1)) as connection:
            result = fetched(connection, 9, 1)

        assert result.diverging == SnapshotId(3, 1)

    def test_error_of_another_cluster_has_both_ids(self) -> None:
        with (
            peer_that_answers(error_code=104) as connection,
            pytest.raises(AnswerError, match=f"its cluster id is {CLUSTER_ID}, not mine") as failed,
        ):
            fetched(connection, cluster_id="mine")

        assert failed.value.error_code == 104

    def test_error_of_a_missing_permission_names_it(self) -> None:
        with (
            peer_that_answers(error_code=31) as connection,
            pytest.raises(AnswerError, match="it needs CLUSTER_ACTION on the cluster"),
        ):
            fetched(connection)

    @pytest.mark.parametrize("responses", [[], [{"topic_id": None, "partitions": []}]])
    def test_answer_without_the_partition_is_an_error(self, responses: list[object]) -> None:
        with (
            peer_that_answers(error_code=0, responses=responses) as connection,
            pytest.raises(WireError, match="an answer without the metadata log"),
        ):
            fetched(connection)


class TestSnapshot:
    def test_part_has_the_size_of_the_whole(self) -> None:
        log = Log()
        log.append(3)
        taken = log.snapshot(drop=True)
        whole = log.snapshots[taken]
        with quorum(log) as controllers, connected(controllers.address(1)) as connection:
            controllers.most_snapshot = 50
            found = chunk(connection, taken, 10)

        assert found == SnapshotChunk(len(whole), whole[10:60])

    def test_unknown_snapshot_has_no_parts(self) -> None:
        log = Log()
        with quorum(log) as controllers, connected(controllers.address(1)) as connection:
            assert chunk(connection) is None

    def test_error_of_the_partition_means_no_part(self) -> None:
        with peer_that_answers(**part(error_code=98)) as connection:
            assert chunk(connection, position=4) is None

    def test_part_of_the_position_is_returned(self) -> None:
        with peer_that_answers(**part()) as connection:
            assert chunk(connection, position=4) == SnapshotChunk(10, b"abc")

    @pytest.mark.parametrize(
        "values",
        [
            pytest.param({"position": 3}, id="another-position"),
            pytest.param({"unaligned_records": b""}, id="empty"),
            pytest.param({"size": 6}, id="beyond-the-end"),
        ],
    )
    def test_part_that_was_not_asked_for_is_refused(self, values: dict[str, object]) -> None:
        with (
            peer_that_answers(**part(**values)) as connection,
            pytest.raises(AnswerError, match="where those from 4 were asked for"),
        ):
            chunk(connection, position=4)

    def test_missing_permission_is_an_error(self) -> None:
        with (
            peer_that_answers(error_code=31, topics=[]) as connection,
            pytest.raises(AnswerError, match="CLUSTER_ACTION"),
        ):
            chunk(connection)


def test_snapshot_has_the_name_of_its_file() -> None:
    assert str(SnapshotId(7, 2)) == "00000000000000000007-0000000002"
