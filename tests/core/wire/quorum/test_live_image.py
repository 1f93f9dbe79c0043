"""The live image of fake controllers: loaded, updated, read anew."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftops.errors import UsageError, WireError
from kraftops.image.load.loading import limits_of, load
from kraftops.image.replay.limits import Limits
from kraftops.image.state.findings import DAMAGE
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.node import leaves_by_raw_path
from kraftops.tree.view import Form
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.quorums import Controllers, quorum

SETTINGS = Settings(timeout=4.0, connect_timeout=2.0)


def leaves(image: MetadataImage) -> dict[str, str]:
    """Return the whole tree of an image without the voters, which these controllers hide."""
    root = tree_of(image, form=Form.OURS, show_secrets=True)
    found = {path: leaf.kafka_text for path, leaf in leaves_by_raw_path(root)}
    found.pop("image/quorum/voters")
    return found


def leader_of(image: MetadataImage) -> tuple[int, dict[str, object]]:
    """Return the epoch, and the leader change message."""
    assert image.quorum.leader is not None
    said = image.read_control(image.quorum.leader)
    return image.record(image.quorum.leader).epoch, {**said, "grantingVoters": []}


def live_image(
    controllers: Controllers, limits: Limits | None = None, notes: list[str] | None = None
) -> LiveImage:
    known = [Bootstrap(controllers.address(node)) for node in controllers.peers]
    note = (notes if notes is not None else []).append
    return LiveImage(Endpoints(known, SETTINGS), limits=limits, note=note)


def filled(*topics: int) -> MetadataLog:
    log = MetadataLog()
    for number in topics:
        log.add(*topic(number))
    return log


@contextmanager
def followed(log: MetadataLog, *nodes: int) -> Iterator[tuple[Controllers, LiveImage, list[str]]]:
    notes: list[str] = []
    with quorum(log, *nodes) as controllers, live_image(controllers, notes=notes) as live:
        live.update()
        yield controllers, live, notes


def updated(live: LiveImage, wanted: Callable[[], bool], limit: float = 10) -> None:
    """Update until a condition holds."""
    deadline = time.monotonic() + limit
    while not wanted():
        assert time.monotonic() < deadline
        live.update()
        time.sleep(0.01)


@pytest.mark.parametrize("drop", [True, False, None])
def test_image_equals_the_image_of_the_files(drop: bool | None, tmp_path: Path) -> None:
    """The leader is known, too, if its record is not available."""
    log = filled(1, 2)
    if drop is not None:
        log.snapshot(drop=False)
    log.add(*topic(3))
    files = load(log.write(tmp_path))  # of a server, which deletes later
    if drop:
        log.start = 4
        log.batches = log.batches[3:]
    with quorum(log) as controllers:
        live = live_image(controllers)

        assert leaves(live.image) == leaves(files)
        assert live.image.provenance == files.provenance
        assert live.offset == log.end
        assert live.snapshot == (max(log.snapshots) if log.snapshots else None)
        assert live.endpoint == controllers.address(1)
        assert [*live.image.findings] == []


def test_records_of_the_image_can_be_read_again() -> None:
    log = filled(1)
    log.snapshot(drop=True)
    log.add(*topic(2))
    with quorum(log) as controllers:
        image = live_image(controllers).image
        place = str(controllers.address(1))

    names = {number: image.store.place(image.topics[image.topic_ids[f"t{number}"]].address)[0]
             for number in (1, 2)}  # fmt: skip
    assert names[1] == f"{place}/{4:020}-{1:010}.checkpoint"
    assert names[2] == f"{place}/{4:020}.log"
    assert [image.partition(one, 0) is not None for one in image.topics] == [True, True]


def test_log_without_records_is_refused() -> None:
    log = MetadataLog()
    log.batches, log.high_watermark = [], 0
    with (
        quorum(log) as controllers,
        pytest.raises(WireError, match="there are no metadata records in its log"),
    ):
        live_image(controllers)


def test_damage_ends_the_image_as_with_files() -> None:
    log = filled(1, 2)
    base, behind, epoch, data = log.batches[-1]
    log.batches[-1] = base, behind, epoch, data[:-1] + bytes([data[-1] ^ 1])
    with followed(log) as (_, live, _):
        log.add(*topic(3))
        time.sleep(0.3)
        live.update()

        assert [*live.image.topic_ids] == ["t1"]
        assert [finding.code for finding in live.image.findings] == [DAMAGE]


# Limits


def test_state_of_an_offset_is_shown() -> None:
    log = filled(1)
    log.snapshot(drop=True)
    log.add(*topic(2))
    log.add(*topic(3))
    with quorum(log) as controllers:
        live = live_image(controllers, limits_of(5, None))

        assert [*live.image.topic_ids] == ["t1", "t2"]
        assert live.image.provenance.offset == 5
        log.add(*topic(4))
        assert not live.update()


@pytest.mark.parametrize("limits", [limits_of(2, None), limits_of(None, -5)])
def test_snapshot_that_is_newer_is_refused(limits: Limits) -> None:
    log = filled(1)
    log.snapshot(drop=True)
    with quorum(log) as controllers, pytest.raises(UsageError) as refused:
        live_image(controllers, limits)

    assert refused.value.message.startswith(f"{controllers.address(1)}: the snapshot {4:020}-")
    assert refused.value.hint
    assert refused.value.hint.endswith("at offset 3")


def test_time_before_the_log_is_refused() -> None:
    with quorum(filled(1)) as controllers, pytest.raises(UsageError, match="that old"):
        live_image(controllers, limits_of(None, -5))


# Following


def test_image_is_updated_as_the_log_grows() -> None:
    log = filled(1)
    with followed(log) as (_, live, _):
        image = live.image
        log.add(*topic(2))
        updated(live, lambda: "t2" in live.image.topic_ids)
        log.elect(1)
        log.add(*topic(3))
        updated(live, lambda: live.offset == log.end)

        assert [*live.image.topic_ids] == ["t1", "t2", "t3"]
        assert live.image is image
        assert not live.update()
        assert image.quorum.leader is not None
        assert image.record(image.quorum.leader).epoch == 2


def test_voters_that_may_not_be_seen_are_a_note() -> None:
    log = filled(1)
    log.snapshot(drop=True)
    notes: list[str] = []
    with quorum(log) as controllers, live_image(controllers, notes=notes) as live:
        assert leader_of(live.image)[1]["voters"] == []
        reason = "not permitted: it needs DESCRIBE on the cluster"
        place = controllers.address(1)
        assert notes == [f"the voters of the quorum are not known: {place}: {reason}"]


@pytest.mark.parametrize("has_snapshot", [False, True])
def test_earlier_states_are_read_from_the_spools(has_snapshot: bool) -> None:
    log = filled(1)
    if has_snapshot:
        log.snapshot(drop=True)
    log.add(*topic(2))
    with followed(log) as (controllers, live, _):
        before = live.offset
        log.add(*topic(3))
        updated(live, lambda: "t3" in live.image.topic_ids)

        then = live.state(at_offset=before - 1)
        assert leaves(live.state()) == leaves(live.image)
        assert [*then.topic_ids] == ["t1", "t2"]
        assert leader_of(then) == leader_of(live.image)
        if has_snapshot:
            with pytest.raises(UsageError, match=rf"^{controllers.address(1)}/.* is the oldest"):
                live.state(at_offset=0)


def test_connection_is_closed_until_the_first_update() -> None:
    log = filled(1)
    with quorum(log) as controllers, live_image(controllers) as live:
        asked = len(log.asked)
        time.sleep(0.2)
        assert len(log.asked) == asked
        log.add(*topic(2))
        updated(live, lambda: "t2" in live.image.topic_ids)


def test_newer_snapshot_makes_another_image() -> None:
    log = filled(1)
    with followed(log) as (controllers, live, notes):
        before = live.image
        threads = []
        live._note = lambda line: (notes.append(line), threads.append(threading.current_thread()))
        log.add(*topic(2))
        log.snapshot(drop=True)
        log.add(*topic(3))
        updated(live, lambda: "t3" in live.image.topic_ids)

        assert live.image is not before
        assert [*before.topic_ids] == ["t1"]
        assert [*live.image.topic_ids] == ["t1", "t2", "t3"]
        assert live.snapshot == max(log.snapshots)
        assert len(notes) == 1
        assert f"{controllers.address(1)}: the log from offset 4 on is gone" in notes[0]
        assert f"the snapshot {live.snapshot} replaces it" in notes[0]
        assert threads == [threading.current_thread()]
        log.add(*topic(4))
        updated(live, lambda: "t4" in live.image.topic_ids)


def test_diverging_log_makes_another_image() -> None:
    log = filled(1, 2)
    with followed(log) as (_, live, _):
        log.batches = filled(5).batches
        log.high_watermark = log.end
        updated(live, lambda: "t5" in live.image.topic_ids)

        assert [*live.image.topic_ids] == ["t5"]


def test_update_raises_the_error_and_the_next_one_reads_the_log_anew() -> None:
    log = filled(1)
    with followed(log) as (_, live, _):
        image = live.image
        log.leader = -1
        with pytest.raises(WireError, match="the quorum has no leader"):
            updated(live, lambda: False)
        assert [*live.image.topic_ids] == ["t1"]
        log.leader = 1
        log.add(*topic(2))
        updated(live, lambda: "t2" in live.image.topic_ids)

        assert live.image is not image


def test_events_wait_within_a_limit_when_nobody_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later, the log is read on from the same offset."""
    monkeypatch.setattr("kraftops.wire.quorum.live_image._MAX_WAITING_EVENTS", 2)
    log = filled(1)
    with followed(log) as (_, live, _):
        for number in range(2, 22):
            log.add(*topic(number))
        time.sleep(0.5)
        assert live._following._queue.qsize() == 2
        updated(live, lambda: len(live.image.topic_ids) == 21)

        assert [*live.image.findings] == []


def test_closing_ends_the_thread() -> None:
    with followed(filled(1)) as (_, live, _):
        assert live._following.is_running
        live.close()

        assert not live._following.is_running
        assert not live.update()


def test_leader_is_known_after_a_newer_snapshot() -> None:
    """No controller is asked: they would refuse."""
    log = filled(1)
    with followed(log) as (_, live, _):
        before = leader_of(live.image)
        log.add(*topic(2))
        log.snapshot(drop=True)
        updated(live, lambda: "t2" in live.image.topic_ids)

        assert leader_of(live.image) == before
