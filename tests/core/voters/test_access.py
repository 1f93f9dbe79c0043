"""Access to controllers that have just started."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.reassign.access import ClusterAccess
from kraftops.voters.access import QuorumAccess
from kraftops.wire import cluster as connections
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.rpc.endpoints import Endpoints


def test_a_controller_without_a_metadata_version_yet_is_passed_over() -> None:
    """After a restart it refuses DescribeCluster with UNSUPPORTED_VERSION until it has the log."""

    def connect(*arguments: Any) -> None:
        first: Callable[[object], None] = arguments[4]
        first(object())

    def refuse(_: object, **_values: object) -> None:
        raise AnswerError("c:9093: not supported with the current MetadataVersion", error_code=35)

    controllers = Endpoints([Bootstrap(Address("c", 9093))], Settings())
    access = QuorumAccess(ClusterAccess(None, controllers))
    with (
        patch.object(connections, "connect", connect),
        patch.object(connections, "describe_cluster", refuse),
        pytest.raises(WireError) as failed,
    ):
        access.ask(lambda _: None)

    assert not isinstance(failed.value, AnswerError)  # which would end the search for another one
