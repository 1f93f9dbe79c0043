"""Loads that a spread counts while it changes lists of replicas."""

from kraftops.placement.placement import BrokerPlace, TopicPartition
from kraftops.placement.spread import Spread


def test_a_dropped_replica_is_counted_off_its_broker_once() -> None:
    partition = TopicPartition("a", 0)
    brokers = {broker: BrokerPlace(None, is_fenced=False, takes_replicas=True) for broker in (1, 2)}
    spread = Spread(brokers, brokers, {partition: (1, 2)}, {partition: 10})
    spread.drop(partition, {1: 0, 2: 1})
    assert spread.lists == {partition: [2]}
    assert (spread.loads, spread.bytes) == ({1: 0, 2: 1}, {1: 0, 2: 10})
