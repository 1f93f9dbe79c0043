"""What a plan does to brokers and directories, beside what Kafka's own plan would copy."""

import random
from statistics import mean

from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.effects import effects_of
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Limits, Move, plan_removal
from tests.helpers.placement import placement

T = TopicPartition("t", 0)


def test_bytes_of_brokers_and_directories_before_and_after() -> None:
    cluster = placement(dict.fromkeys((1, 2, 3), None), [(1, 2)])
    disks = {
        1: [LogDirectory("/a", {T: DiskReplica(90)}), LogDirectory("/b", is_failed=True)],
        2: [LogDirectory("/a", {T: DiskReplica(100)})],
        3: [LogDirectory("/a", usable=500)],
    }

    effects = effects_of(cluster, [Move(T, (1, 2), (3, 2))], disks)

    assert [(e.broker, e.size, e.size_after) for e in effects.brokers] == [
        (1, 100, 0),
        (2, 100, 100),
        (3, 0, 100),
    ]
    assert [(e.broker, e.path, e.size, e.size_after) for e in effects.directories] == [
        (1, "/a", 90, 0),
        (2, "/a", 100, 100),
        (3, "/a", 0, 100),
    ]
    assert (effects.copied_replicas, effects.copied) == (1, 100)


def test_sizes_that_cannot_be_seen_are_unknown() -> None:
    cluster = placement(dict.fromkeys((1, 2, 3), None), [(1, 2)])

    effects = effects_of(cluster, [Move(T, (1, 2), (3, 2))], {})

    assert effects.copied is effects.copied_by_generate is None
    assert {effect.size for effect in effects.brokers} == {None}
    assert effects.copied_replicas == 1


def test_bytes_of_kafkas_plan_are_those_of_its_rule_on_average() -> None:
    """AdminUtils: the first replica in turn from a random broker on, the others at a distance."""
    cluster = placement(
        dict.fromkeys(range(1, 6), None),
        [(n % 5 + 1, (n + 1) % 5 + 1, (n + 3) % 5 + 1) for n in range(60)],
    )
    disks = {1: [LogDirectory("/a", {p: DiskReplica(1) for p in cluster.partitions})]}
    plan = plan_removal(cluster, {1}, Limits())

    effects = effects_of(cluster, plan.moves, disks)

    def generated() -> int:
        start, shift, copied = random.randrange(4), random.randrange(4), 0
        for index, replicas in enumerate(cluster.partitions.values()):
            first = (start + index) % 4
            others = [(first + 1 + (shift + index // 4 + n) % 3) % 4 for n in range(2)]
            copied += len({broker + 2 for broker in (first, *others)} - {*replicas.replicas})
        return copied

    assert effects.copied == 36
    assert effects.copied_by_generate is not None
    assert abs(effects.copied_by_generate - mean(generated() for _ in range(300))) < 3
