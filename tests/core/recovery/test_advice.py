"""The steps after a recovery name nodes and complete commands, in order."""

from pathlib import Path

from kraftops.recovery.advice import Advice, advice
from tests.helpers.logs.metadata_logs import records_batch
from tests.helpers.nodes.lost_quorums import Planner, broker, other_node, survivor


def steps(plan: Planner, node: Path, *sources: str) -> list[Advice]:
    return advice(plan(node, *sources), ["--voters", "self"])


def test_lost_voters_are_stopped_first_and_join_at_the_end(tmp_path: Path, plan: Planner) -> None:
    found = steps(plan, survivor(tmp_path / "node"))

    assert "controllers 2, 3 do not start" in found[0].text
    starts = [step.node_id for step in found if "start" in (step.command or "")]
    assert starts == [1, 2, 3]
    assert "add-controller" in (found[-1].command or "")
    assert [step.node_id for step in found[-4:]] == [3, 3, 3, 3]


def test_wipe_does_nothing_on_another_host(tmp_path: Path, plan: Planner) -> None:
    found = steps(plan, survivor(tmp_path / "node"))

    (wipe,) = [step.command for step in found if "wipe" in step.text and step.node_id == 2]
    assert wipe
    assert wipe.startswith("if grep -qsx node.id=2 ")


def test_broker_that_is_ahead_moves_its_log_away(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", records_batch(5, broker(4), epoch=2))
    other_node(node / "b4", 4, records_batch(5, broker(4)), records_batch(6, broker(5)))

    found = steps(plan, node, "b4")

    (move,) = [step for step in found if "broker 4 has applied" in step.text]
    assert move.node_id == 4
    assert (move.command or "").startswith("mv ")
    assert (move.command or "").endswith("__cluster_metadata-0.of-4")
