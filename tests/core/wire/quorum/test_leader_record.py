"""An image from a controller's snapshot gets the leader change record that its log had."""

from kraftops.image.state.image import MetadataImage
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.leader_record import Leader, ask_voters, put_leader, voters_of
from tests.helpers.wire.peers import free_port
from tests.helpers.wire.quorums import Log, quorum

HASTY = Settings(timeout=1.0, connect_timeout=0.3)


def test_image_has_the_leader_its_epoch_and_the_voters() -> None:
    image = MetadataImage()
    assert voters_of(image) == []

    put_leader(image, "one:9093", 7, Leader(2, 5, [3, 1, 2]))

    assert image.quorum.leader is not None
    assert image.record(image.quorum.leader).epoch == 5
    message = image.read_control(image.quorum.leader)
    assert message["leaderId"] == 2
    assert message["grantingVoters"] == []
    assert voters_of(image) == [1, 2, 3]


def test_record_is_of_the_controller_and_its_snapshot() -> None:
    image = MetadataImage()

    put_leader(image, "one:9093", 7, Leader(2, 5, []))

    assert [image.store.source(number) for number in image.store.sources()] == [("one:9093", 7)]


def test_voters_that_nobody_may_see_are_noted() -> None:
    notes: list[str] = []
    with quorum(Log()) as controllers:
        assert ask_voters(controllers.address(1), HASTY, notes.append) == []

    assert len(notes) == 1
    assert notes[0].startswith("the voters of the quorum are not known: ")
    assert "not permitted" in notes[0]


def test_controller_that_is_gone_is_noted() -> None:
    notes: list[str] = []
    with free_port() as port:
        assert ask_voters(Address("localhost", port), HASTY, notes.append) == []

    assert f"localhost:{port}" in notes[0]
