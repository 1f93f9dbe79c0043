"""A quorum without a leader, as commands tell it."""

from unittest.mock import patch

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.reassign.access import ClusterAccess
from kraftops.recovery.live_controllers import ControllerAnswer
from kraftops.voters.leaderless import require_leader
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.rpc.endpoints import Endpoints

THREE = Endpoints(parse_bootstrap("a:1,b:1,c:1"), Settings())


def refused(error: WireError, **access: Endpoints) -> WireError:
    cluster = ClusterAccess(access.get("brokers"), access.get("controllers"))
    with (
        patch("kraftops.voters.access.QuorumAccess.ask", side_effect=error),
        patch("kraftops.voters.leaderless.survey", lambda *_: [ControllerAnswer("a:1", 1)]),
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
