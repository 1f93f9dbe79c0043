"""Requests to a leader that has stopped, or leads no more."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.error_codes import NO_LEADER_CODES
from kraftops.wire.rpc.leader import ask_leader
from tests.helpers.wire.peers import (
    CONTROLLER_APIS,
    Peer,
    api_versions,
    described,
    free_port,
    read_request,
)


@contextmanager
def naming(*leaders: int) -> Iterator[tuple[Connection, list[int]]]:
    """Yield a connection to controller 1, and a list with the leader that it named last.

    It names these leaders in turn, and stays with the last one. The port of controller 2 is closed.
    """
    waiting, named = list(leaders), list[int]()

    def handle(connection: socket.socket) -> None:
        while True:
            key, version, correlation, _ = read_request(connection)
            if key == 18:
                reply = api_versions(correlation, CONTROLLER_APIS, version=version)
            else:
                named[:] = [waiting.pop(0) if len(waiting) > 1 else waiting[0]]
                nodes = [
                    {"broker_id": 1, "host": "localhost", "port": peer.address.port, "rack": None},
                    {"broker_id": 2, "host": "localhost", "port": closed, "rack": None},
                ]
                reply = described(correlation, version, brokers=nodes, controller_id=named[0])
            connection.sendall(reply)

    with (
        free_port() as closed,
        Peer(handle) as peer,
        Connection(peer.address, Settings(), Deadline(1)) as connection,
    ):
        yield connection, named


def other(address: Address) -> Connection:
    return Connection(address, Settings(), Deadline(1))


def test_stopped_leader_is_looked_for_again() -> None:
    with naming(2, 2, 1) as (connection, named):
        assert ask_leader(connection, other, lambda node: node) is connection
        assert named == [1]


def test_leader_that_stays_unreachable_is_an_error() -> None:
    start = time.monotonic()
    with naming(2) as (connection, _), pytest.raises(WireError, match="connection refused"):
        ask_leader(connection, other, lambda node: node)

    assert 0.5 < time.monotonic() - start < 60


@pytest.mark.parametrize("code", NO_LEADER_CODES)
def test_node_that_leads_no_more_is_asked_again(code: int) -> None:
    answers = iter([AnswerError("x", error_code=code), AnswerError("x", error_code=code), None])

    def ask(_: Connection) -> str:
        if error := next(answers):
            raise error
        return "asked"

    with naming(1) as (connection, _):
        assert ask_leader(connection, other, ask) == "asked"


def test_other_error_is_raised_at_once() -> None:
    asked: list[Connection] = []

    def ask(connection: Connection) -> None:
        asked.append(connection)
        raise AnswerError("no", error_code=31)

    with naming(1) as (connection, _), pytest.raises(AnswerError, match="no"):
        ask_leader(connection, other, ask)

    assert len(asked) == 1
