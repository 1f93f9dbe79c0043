"""Rolling restarts, killed and failing at random, in a cluster in memory."""

import os
from random import Random

import pytest

from kraftops.errors import KraftopsError, RefusedError
from kraftops.reassign.marks import DRAIN, Author, Mark
from kraftops.restart import rolling
from kraftops.restart.begun import begun_in
from tests.helpers.wire.moving_cluster import Killed
from tests.helpers.wire.restarting_cluster import RestartingCluster

MIN_ISR = {"min.insync.replicas": "2"}


def cluster(brokers: int = 6, controllers: int = 3, **options: object) -> RestartingCluster:
    made = RestartingCluster(brokers, controllers, **options)  # type: ignore[arg-type]
    made.configs[2, "t"] = dict(MIN_ISR)
    return made


def check_end(end: RestartingCluster, start: RestartingCluster) -> None:
    assert {p: (r.replicas, r.leader) for p, r in end.partitions.items()} == {
        p: (r.replicas, r.leader) for p, r in start.partitions.items()
    }
    assert end.configs.get((4, ""), {}) == {}


def test_brokers_by_rack_then_followers_then_the_active_controller() -> None:
    whole = cluster()

    whole.run()

    assert whole.restarted == [102, 105, 103, 106, 101, 104, 2, 3, 1]
    assert whole.most_down == 1
    check_end(whole, cluster())


def test_several_of_a_rack_at_once_as_far_as_that_is_safe() -> None:
    """Brokers 102 and 105 have no partition in common; with 101 they would."""
    whole = cluster()

    whole.run(at_once=4)

    assert whole.most_down == 2
    assert whole.restarted == [102, 105, 103, 106, 101, 104, 2, 3, 1]
    check_end(whole, cluster())


def test_nodes_with_both_roles_restart_once_and_alone() -> None:
    whole = cluster(brokers=0, controllers=3, combined=3)
    whole.leader = 2

    whole.run(at_once=2)

    assert whole.restarted == [3, 1, 2]
    assert whole.most_down == 1
    check_end(whole, cluster(brokers=0, controllers=3, combined=3))


def test_it_goes_on_after_a_kill_at_any_request() -> None:
    whole = cluster(4, 3)
    whole.run()
    assert whole.requests > 100

    step = 1 if os.environ.get("KRAFTOPS_RESTART_HISTORIES") else 13
    for cut_at in range(1, whole.requests * 2 + 1, step):
        killed = cluster(4, 3)
        killed.cut_at = cut_at
        try:
            killed.run()
        except Killed:
            killed.cut_at = None
            if killed.restarted != whole.restarted or killed.configs.get((4, "")):
                killed.run()
        assert {*killed.restarted} == {*whole.restarted}
        check_end(killed, cluster(4, 3))


@pytest.mark.parametrize("seed", range(int(os.environ.get("KRAFTOPS_RESTART_HISTORIES", "40"))))
def test_random_failures_never_cost_availability(seed: int) -> None:
    """Kills, hooks that fail or leave a node stopped, nodes that do not come back, or lack a disk.

    The cluster itself fails the test if a partition or the quorum loses too much.
    """
    rng = Random(seed)
    shape = rng.choice(({"brokers": 7}, {"brokers": 4, "combined": 3}, {"brokers": 3}))
    failing = cluster(**shape, rng=rng)  # type: ignore[arg-type]
    ids = [*failing.processes]
    for _ in range(rng.randrange(4)):
        rng.choice((failing.dead, failing.broken, failing.hangs, failing.fails)).add(
            rng.choice(ids)
        )
    failing.broken &= failing.brokers.keys()
    at_once = rng.randrange(1, 4)
    runs = 0
    while True:
        runs += 1
        assert runs < 60
        if rng.random() < 0.7:
            within = rng.choice((10, 120, 400))  # a whole restart has about 400
            failing.cut_at = (failing.requests + rng.randrange(1, within)) * 2 - rng.randrange(2)
        try:
            failing.run(at_once=at_once)
        except Killed:
            failing.cut_at = None
            continue
        except KraftopsError as error:
            if error.code not in ("hook-failed", "stalled", "refused"):
                raise
            repair(failing)
            continue
        break

    assert {*failing.restarted} == {*ids}
    check_end(failing, cluster(**shape))  # type: ignore[arg-type]


def repair(cluster: RestartingCluster) -> None:
    """Do what the error asks for."""
    cluster.cut_at = None
    dead, broken = {*cluster.dead}, {*cluster.broken}
    for faults in (cluster.dead, cluster.broken, cluster.fails):
        faults.clear()
    for node in (dead & {*cluster.restarted}) | broken:
        cluster.start(node)
        cluster.restarted.append(node)  # by hand


def failure(cluster: RestartingCluster, **options: object) -> KraftopsError:
    with pytest.raises(KraftopsError) as failed:
        cluster.run(**options)  # type: ignore[arg-type]
    return failed.value


def test_a_node_that_does_not_come_back_ends_it() -> None:
    stopped = cluster()
    stopped.dead.add(103)

    error = failure(stopped)

    assert (error.code, stopped.restarted) == ("stalled", [102, 105, 103])
    assert "broker 103 has not registered with a new incarnation" in error.message
    assert "run the same restart again" in (error.hint or "")


def test_a_node_without_a_disk_ends_it_at_once() -> None:
    broken = cluster()
    broken.broken.add(102)

    error = failure(broken, stall_seconds=1e9)

    assert error.message == "broker 102 is back without /d"
    assert broken.restarted == [102]


def test_the_last_copy_of_a_disk_that_is_gone_is_not_stopped() -> None:
    unsafe = cluster()
    partition, replicas = next(iter(unsafe.partitions.items()))
    unsafe.partitions[partition] = replicas._replace(isr=replicas.isr[:2])

    error = failure(unsafe)

    assert (error.code, unsafe.restarted) == ("refused", [])
    assert "under min ISR" in error.message


def test_a_single_voter_and_single_replicas_are_refused_before_anything_begins() -> None:
    one = cluster(6, 1)

    error = failure(one, stall_seconds=1e9)

    assert error.message.startswith("controller 1 can never stop safely")
    assert one.events == []


@pytest.mark.parametrize(
    "mark",
    [
        Mark(DRAIN, Author("u", "h", 1, 0), brokers=(101,)),
        Mark("restart", rolling.new_author()._replace(pid=os.getppid()), brokers=(101,)),
    ],
    ids=["drain", "restart"],
)
def test_another_operation_is_refused(mark: Mark) -> None:
    busy = cluster()
    busy.configs[4, ""] = {mark.key: ""}

    with pytest.raises(RefusedError, match="under way"):
        busy.run()

    assert busy.restarted == []


def test_cancel_gives_the_leaders_back() -> None:
    cancelled = cluster()
    cancelled.fails.add(103)
    failure(cancelled)
    assert begun_in(cancelled.configs[4, ""])

    with cancelled.reached() as access:
        rolling.cancel_restart(access)

    assert {p: r.leader for p, r in cancelled.partitions.items()} == {
        p: r.leader for p, r in cluster().partitions.items()
    }
    assert not begun_in(cancelled.configs[4, ""])


def test_a_run_whose_mark_somebody_removes_ends() -> None:
    cancelled = cluster()
    hook = cancelled.run_hook

    def cancel(nodes: object) -> None:
        hook(nodes)  # type: ignore[arg-type]
        for key in [*cancelled.configs[4, ""]]:
            del cancelled.configs[4, ""][key]

    cancelled.run_hook = cancel  # type: ignore[method-assign,assignment]

    error = failure(cancelled)

    assert "was cancelled" in error.message
    assert cancelled.restarted == [102]
