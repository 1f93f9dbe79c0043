"""Access to controllers that have just started."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.reassign.access import ClusterAccess
from kraftops.recovery.live_controllers import ControllerAnswer
from kraftops.voters.access import QuorumAccess, require_leader
from kraftops.wire import cluster as connections
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap, parse_bootstrap
from kraftops.wire.rpc.endpoints import Endpoints

THREE = Endpoints(parse_bootstrap("a:1,b:1,c:1"), Settings())


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


def refused(error: WireError, **access: Endpoints) -> WireError:
    cluster = ClusterAccess(access.get("brokers"), access.get("controllers"))
    with (
        patch("kraftops.voters.access.QuorumAccess.ask", side_effect=error),
        patch("kraftops.voters.access.survey", lambda *_: [ControllerAnswer("a:1", 1)]),
        patch.object(ClusterAccess, "check"),
        pytest.raises(WireError) as caught,
    ):
        require_leader(cluster)
    return caught.value


def test_controllers_that_answer_are_counted() -> None:
    error = refused(AnswerError("a:1: not leader", error_code=6), controllers=THREE)

    assert error.message == "the quorum has no leader: 1 of 3 controllers answers"
    assert error.code == "no-leader"
    assert "start voters" in (error.hint or "")


def test_broker_that_gets_no_answer_from_the_quorum_says_so() -> None:
    error = refused(WireError("a:1 gives no answer"), brokers=THREE)

    assert error.message == "the quorum has no leader that answers: a:1 gives no answer"


def test_what_is_not_permitted_stays_what_it_is() -> None:
    assert refused(AnswerError("a:1: no", error_code=31), controllers=THREE).message == "a:1: no"
