"""A recovery tells what it gives up, which logs it has not read, and of another listener."""

from pathlib import Path

from kraftops.findings.finding import Severity
from kraftops.log.batch import Record
from kraftops.recovery.procedure import work_steps
from tests.helpers.logs.metadata_logs import no_ops, records_batch, voters_batch, write_log
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    IDS,
    MORE,
    Planner,
    broker,
    controller,
    other_node,
    survivor,
)
from tests.helpers.nodes.node_directories import META

MINORITY = [("risk", "voters-not-given")]
NO_HOST = ["no-host", "voters-not-given"]


def findings(plan: Planner, node: Path, *sources: str, **options: str) -> list[tuple[str, str]]:
    """Return the severities and codes."""
    planned = plan(node, *sources, **options)
    return [(str(finding.severity), finding.code) for finding in planned.findings]


def test_named_log_with_a_damaged_end(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", no_ops(5, 1)[:-1] + b"?", no_ops(6, 1))

    (damage, _) = plan(node, choice="meta").findings

    assert (damage.code, damage.severity, damage.is_possible) == ("damage", Severity.LOSS, False)
    assert "before the damage" in damage.text


def test_sound_log_has_no_finding(tmp_path: Path, plan: Planner) -> None:
    assert findings(plan, survivor(tmp_path / "node")) == MINORITY


def test_records_of_another_log_are_a_loss_with_names(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", no_ops(5, 2, epoch=3))
    other_node(node / "c2", 2, *MORE)

    (loss,) = plan(node, "c2").findings

    assert (loss.code, loss.severity) == ("records-given-up", Severity.LOSS)
    assert str(loss) == "c2: its offsets 5 to 9 would be lost"
    assert "c2: topics: late" in map(str, loss.evidence)
    assert "--choose c2" in loss.cure


def test_records_without_content_are_a_note(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", no_ops(5, 2, epoch=3))
    other_node(node / "c2", 2, no_ops(5, 1))

    assert findings(plan, node, "c2") == [("note", "records-given-up")]


def test_damage_and_unfinished_end_of_another_log(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", no_ops(5, 1, epoch=9))
    other_node(node / "c2", 2, no_ops(5, 1)[:-1] + b"?", no_ops(6, 1))
    other_node(node / "c3", 3, no_ops(5, 1)[:-1])

    assert findings(plan, node, "c2", "c3") == [("loss", "damage"), ("note", "torn-tail")]
    assert plan(node, "c2").findings[0].is_possible


def test_quorum_state_that_cannot_be_read(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    state = node / "meta/__cluster_metadata-0/quorum-state"
    state.write_text("{")

    (stop, _) = plan(node).findings

    assert (stop.code, stop.severity) == ("bad-quorum-state", Severity.STOPS)
    assert stop.commands == ("rm meta/__cluster_metadata-0/quorum-state",)
    assert [str(fact) for fact in stop.evidence] == ["quorum-state: it is not JSON"]


def test_log_without_meta_properties_is_of_an_unknown_cluster(
    tmp_path: Path, plan: Planner
) -> None:
    node = survivor(tmp_path / "node")
    (other_node(node / "c2", 2) / META).unlink()

    assert findings(plan, node, "c2") == [("risk", "unknown-cluster"), *MINORITY]


def test_broker_without_a_log(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", records_batch(5, broker(4)))
    other_node(node / "b4", 4)

    assert findings(plan, node) == [("risk", "brokers-not-given"), *MINORITY]
    assert findings(plan, node, "b4") == MINORITY


def test_broker_that_was_fenced_for_more_than_a_day(tmp_path: Path, plan: Planner) -> None:
    late = batch_bytes(
        [Record(7, 90_000_000, None, bytes([1, 20, 0, 0]))], leader_epoch=1
    )  # a NoOpRecord, 25 hours after all others
    node = survivor(tmp_path / "node", records_batch(5, broker(4), broker(5)), late)

    planned = plan(node)

    assert findings(plan, node) == [*MINORITY, ("note", "brokers-not-given")]
    assert planned.unseen_brokers == []


def test_listener_without_a_host(tmp_path: Path, plan: Planner) -> None:
    """The log may know a host; without one the others would look for the voter at theirs."""
    known = [*BEGINNING[:1], voters_batch(1, (1, IDS[5]), host="ctl-1"), *BEGINNING[2:]]
    unknown = [no_ops(0, 3), BEGINNING[3]]
    for batches, host, codes in ((known, "ctl-1", []), (unknown, "localhost", NO_HOST)):
        node = controller(tmp_path / host, listeners="CONTROLLER://0.0.0.0:29093")
        write_log(node / "meta", {0: batches})

        planned = plan(node)

        assert planned.new_voters[0].host == host
        assert [finding.code for finding in planned.findings] == codes
        commands = [step.command or "" for step in work_steps(planned, {})]
        assert [line for line in commands if f"controllers -C {host}:29093" in line]


def test_voter_at_another_address_than_the_listener(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    own = plan(node).new_voters[0]

    assert own.directory_id == IDS[1]
    voter = str(own._replace(host="elsewhere"))
    assert findings(plan, node, voters=voter) == [("risk", "other-listener"), *MINORITY]
