"""Brokers and replicas in an image."""

from pathlib import Path

import pytest

from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import load
from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage
from kraftops_cli.cluster.broker_states import (
    KeptState,
    replica_counts,
)
from kraftops_cli.cluster.health import health_of_image
from tests.helpers.nodes.lost_quorums import broker
from tests.helpers.wire.metadata_quorums import MetadataLog, topic


@pytest.fixture
def image(tmp_path: Path) -> MetadataImage:
    log = MetadataLog()
    change = ("BrokerRegistrationChangeRecord", {"brokerId": 2, "brokerEpoch": 2, "fenced": -1})
    log.add(broker(2), broker(1), change, *topic(1), *topic(2))
    return load(log.write(tmp_path))


def test_brokers_have_the_changes_after_their_registration(image: MetadataImage) -> None:
    fenced = {broker: state["fenced"] for broker, state in KeptState().states(image).items()}

    assert fenced == {1: True, 2: False}


def test_replicas_are_counted_by_topic(image: MetadataImage) -> None:
    assert replica_counts(image) == {1: {"t1": 1, "t2": 1}, 2: {"t1": 1, "t2": 1}}


def test_kept_brokers_are_those_of_each_moment(tmp_path: Path) -> None:
    """The replay changes one image; what is kept must follow it, and a second image."""
    log = MetadataLog()
    log.add(broker(1), broker(2), *topic(1))
    path = log.write(tmp_path / "a")
    loader = Loader(Replay(MetadataImage(), Limits()))
    loader.read([SourceFile(str(next(path.glob("*.log"))), None, is_snapshot=False)])
    kept, found = KeptState(), loader.image

    before = kept.states(found), kept.loads(found), kept.facts(found)
    size = next(path.glob("*.log")).stat().st_size
    change = ("BrokerRegistrationChangeRecord", {"brokerId": 2, "brokerEpoch": 2, "fenced": -1})
    log.add(change, *topic(2), broker(3))
    log.write(tmp_path / "a")
    loader.read_on(str(next(path.glob("*.log"))), size)

    assert [state["fenced"] for state in before[0].values()] == [True, True]
    assert before[1] == {1: (1, 1), 2: (1, 0)}
    assert kept.states(found) == KeptState().states(found)
    assert [state["fenced"] for state in kept.states(found).values()] == [True, False, True]
    assert kept.loads(found) == {1: (2, 2), 2: (2, 0)}
    assert [*kept.facts(found)] == [1, 2, 3]
    other = MetadataLog()
    other.add(broker(7))
    assert [*kept.states(load(other.write(tmp_path / "b")))] == [7]
    assert kept.loads(load(tmp_path / "b" / "__cluster_metadata-0")) == {}


def test_kept_health_is_that_of_each_moment(tmp_path: Path) -> None:
    """It changes with partitions, and with the min ISR of topics and of the cluster."""
    log = MetadataLog()
    log.add(broker(1), broker(2), *topic(1))
    path = log.write(tmp_path)
    file = str(next(path.glob("*.log")))
    loader = Loader(Replay(MetadataImage(), Limits()))
    loader.read([SourceFile(file, None, is_snapshot=False)])
    kept, found = KeptState(), loader.image
    seen = [kept.health(found)]
    config = {"resourceType": 4, "resourceName": "", "name": "min.insync.replicas", "value": "2"}

    for records in ([("NoOpRecord", {})], topic(2), [("ConfigRecord", config)]):
        size = Path(file).stat().st_size
        log.add(*records)
        log.write(tmp_path)
        loader.read_on(file, size)
        seen.append(kept.health(found))
        assert seen[-1] == health_of_image(found)

    assert seen[1] is seen[0]
    assert [each.counts.partitions for each in seen] == [1, 1, 2, 2]
    assert [each.counts.under_min_isr for each in seen] == [0, 0, 0, 2]


def test_brokers_that_have_not_changed_are_not_read_again(
    image: MetadataImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptState()
    first, loads = kept.states(image), kept.loads(image)
    image.provenance = image.provenance._replace(offset=99)  # as by records of nothing
    monkeypatch.setattr(MetadataImage, "broker_state", lambda *_: pytest.fail("it is read again"))

    assert kept.states(image) == first
    assert kept.loads(image) is loads
