"""Requests to peers that fail, and the errors."""

import time

import pytest

from kraftops.errors import WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import Connection
from tests.helpers.wire.peers import Handler, Peer

HASTY = Settings(timeout=1.0, connect_timeout=0.4)
PATIENT = Settings(timeout=30.0, connect_timeout=15.0)
"""For peers that answer, or close: on a busy machine this takes its time."""


def ask(address: Address, settings: Settings = HASTY) -> None:
    with Connection(address, settings, Deadline(settings.timeout)) as connection:
        describe_cluster(connection)


def failure(handler: Handler, settings: Settings = HASTY) -> WireError:
    """Return the error of a request to a peer; it names the address, on one line, in time."""
    start = time.monotonic()
    with Peer(handler) as peer, pytest.raises(WireError) as failed:
        ask(peer.address, settings)
    error = failed.value
    assert time.monotonic() - start < settings.timeout + 30
    assert error.message.startswith(f"{peer.address}: ")
    assert "\n" not in error.message + (error.hint or "")
    return error
