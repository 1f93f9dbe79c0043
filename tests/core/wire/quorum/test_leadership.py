"""Search for the leader, as readers of the log see it."""

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kraftops.errors import WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.quorum.live_log import LiveLog
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.wire.live_logs import filled, in_short, live
from tests.helpers.wire.peers import Peer, broker, silent
from tests.helpers.wire.quorums import quorum

HASTY = Settings(timeout=2.0, connect_timeout=0.3)
PATIENT = Settings(timeout=30.0, connect_timeout=15.0)
"""For controllers that answer: on a busy machine this takes its time."""


def test_leader_is_named_by_another_controller() -> None:
    state = filled(1)
    state.leader, state.epoch = 3, 7
    with quorum(state, 1, 2, 3) as controllers, live(controllers, 1, settings=PATIENT) as log:
        assert in_short(log.read()) == ["begin", "+0", "end 1"]
        assert log.endpoint == controllers.address(3)


def test_leader_without_an_address_is_found_among_the_known_controllers() -> None:
    state = filled(1)
    state.leader = 3
    with quorum(state, 1, 2, 3) as controllers, live(controllers, settings=PATIENT) as log:
        controllers.hidden = True

        assert in_short(log.read()) == ["begin", "+0", "end 1"]


def test_leader_is_found_by_the_node_id_of_its_address() -> None:
    state = filled(1)
    state.leader = 2
    with quorum(state, 1, 2) as controllers:
        controllers.hidden = True
        known = [Bootstrap(controllers.address(node), node) for node in (1, 2)]

        with LiveLog(Endpoints(known, PATIENT)) as log:
            assert in_short(log.read())[-1] == "end 1"


@pytest.mark.parametrize("is_mute", [True, False])
def test_named_leader_that_does_not_answer_is_skipped(is_mute: bool) -> None:
    """The others are asked again, until they have elected another."""
    state = filled(1)
    state.leader = 3
    with quorum(state, 1, 2, 3) as controllers:
        gone = controllers.address(3)
        if is_mute:
            controllers.mute.add(3)
        else:
            controllers.kill(3)

        def elect(_: float) -> None:
            state.leader, state.epoch = 2, 2

        with (
            live(controllers, 1, 2, settings=replace(HASTY, timeout=10.0)) as log,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr("kraftops.wire.quorum.leadership.time", SimpleNamespace(sleep=elect))
            assert in_short(log.read())[-1] == "end 1"
            assert log.endpoint == controllers.address(2) != gone


def test_quorum_without_a_leader_is_an_error() -> None:
    state = filled(1)
    state.leader = -1
    start = time.monotonic()
    settings = replace(HASTY, timeout=4.0)  # both answer within it on a busy machine, too
    with (
        quorum(state, 1, 2) as controllers,
        live(controllers, settings=settings) as log,
        pytest.raises(WireError, match=r"^the quorum has no leader: 2 of 2 controllers answer$"),
    ):
        in_short(log.read())

    assert time.monotonic() - start < 60


def test_controller_that_answers_no_more_counts_in_a_quorum_without_a_leader() -> None:
    """The deadline often cuts the last round short."""
    state = filled(1)
    state.leader = -1
    with (
        quorum(state, 1, 2) as controllers,
        live(controllers, settings=replace(HASTY, timeout=4.0)) as log,
        pytest.MonkeyPatch.context() as patch,
    ):
        mute_second = SimpleNamespace(sleep=lambda _: controllers.mute.add(2))
        patch.setattr("kraftops.wire.quorum.leadership.time", mute_second)
        with pytest.raises(WireError, match=r"has no leader: 2 of 2 controllers answer$"):
            in_short(log.read())


def test_broker_is_refused() -> None:
    with (
        Peer(broker) as peer,
        LiveLog(Endpoints([Bootstrap(peer.address)], HASTY)) as log,
        pytest.raises(WireError, match="a broker answers there, not a controller"),
    ):
        in_short(log.read())


def test_silent_controller_is_given_up() -> None:
    start = time.monotonic()
    with (
        Peer(silent) as peer,
        LiveLog(Endpoints([Bootstrap(peer.address)], HASTY)) as log,
        pytest.raises(WireError, match="gives no answer"),
    ):
        in_short(log.read())

    assert time.monotonic() - start < 60
