"""A recovery warns of unread logs, of brokers without a log, and of another listener."""

from pathlib import Path

from kraftops.recovery.advice import advice
from tests.helpers.logs.metadata_logs import no_ops, records_batch, voters_batch, write_log
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    IDS,
    Planner,
    broker,
    controller,
    other_node,
    survivor,
)
from tests.helpers.nodes.node_directories import META


def codes(plan: Planner, node: Path, *sources: str, **options: str) -> list[str]:
    return [warning.code for warning in plan(node, *sources, **options).warnings]


def test_named_log_with_a_damaged_end(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", no_ops(5, 1)[:-1] + b"?", no_ops(6, 1))

    (warning,) = plan(node, choice="meta").warnings

    assert warning.code == "damaged"
    assert "before the damage" in warning.hint


def test_sound_log_has_no_warning(tmp_path: Path, plan: Planner) -> None:
    assert codes(plan, survivor(tmp_path / "node")) == []


def test_damage_and_unfinished_end_of_another_log(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", no_ops(5, 1, epoch=9))
    other_node(node / "c2", 2, no_ops(5, 1)[:-1] + b"?", no_ops(6, 1))
    other_node(node / "c3", 3, no_ops(5, 1)[:-1])

    assert codes(plan, node, "c2", "c3") == ["damaged", "unfinished-end"]


def test_quorum_state_that_cannot_be_read(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    (node / "meta/__cluster_metadata-0/quorum-state").write_text("{")

    assert codes(plan, node) == ["bad-quorum-state"]


def test_log_without_meta_properties_is_of_an_unknown_cluster(
    tmp_path: Path, plan: Planner
) -> None:
    node = survivor(tmp_path / "node")
    (other_node(node / "c2", 2) / META).unlink()

    assert codes(plan, node, "c2") == ["unknown-cluster"]


def test_broker_without_a_log(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", records_batch(5, broker(4)))
    other_node(node / "b4", 4)

    assert codes(plan, node) == ["brokers-not-given"]
    assert codes(plan, node, "b4") == []


def test_listener_without_a_host(tmp_path: Path, plan: Planner) -> None:
    """The log may know a host; without one the others would look for the voter at theirs."""
    known = [*BEGINNING[:1], voters_batch(1, (1, IDS[5]), host="ctl-1"), *BEGINNING[2:]]
    unknown = [no_ops(0, 3), BEGINNING[3]]
    for batches, host, found in ((known, "ctl-1", []), (unknown, "localhost", ["no-host"])):
        node = controller(tmp_path / host, listeners="CONTROLLER://0.0.0.0:29093")
        write_log(node / "meta", {0: batches})

        planned = plan(node)

        assert planned.new_voters[0].host == host
        assert [warning.code for warning in planned.warnings] == found
        commands = [step.command or "" for step in advice(planned, [])]
        assert [line for line in commands if f"--bootstrap-controller {host}:29093" in line]


def test_voter_at_another_address_than_the_listener(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    own = plan(node).new_voters[0]

    assert own.directory_id == IDS[1]
    voter = str(own._replace(host="elsewhere"))
    assert codes(plan, node, voters=voter) == ["other-listener"]
