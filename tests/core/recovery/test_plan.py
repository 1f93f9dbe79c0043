"""A recovery is planned from files alone."""

from pathlib import Path

import pytest

from kraftops.recovery.refusal import RecoveryRefused
from tests.helpers.logs.metadata_logs import no_ops
from tests.helpers.nodes.lost_quorums import MORE, Planner, log_files, other_node, recover, survivor


def test_lone_voter_gets_a_batch_behind_its_log(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    before = log_files(node)

    found = plan(node)

    assert (found.offset, found.epoch) == (10, 1_000_002)
    assert [voter.node_id for voter in found.new_voters] == [1]
    assert found.lost_ids == (2, 3)
    assert [step.name for step in found.steps] == ["00000000000000000010.log"]
    assert log_files(node) == before


def test_log_of_the_highest_epoch_is_chosen_and_missing_names_are_listed(
    tmp_path: Path, plan: Planner
) -> None:
    node = survivor(tmp_path / "node", *MORE)
    other_node(node / "c2", 2, no_ops(5, 1, epoch=3))

    found = plan(node, "c2")

    assert found.chosen.name == "c2"
    assert [compared.log.name for compared in found.logs] == ["c2", "meta"]
    own = found.logs[1]
    assert (own.common_end, own.ahead) == (5, range(5, 10))
    assert own.missing["topics"] == ["late"]


def test_several_voters_without_their_logs_are_refused(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    names = ",".join(map(str, plan(node).old_voters or ()))

    with pytest.raises(RecoveryRefused) as refused:
        plan(node, voters=names)

    assert refused.value.code == "minority"


def test_recovered_log_needs_no_second_batch(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    recover(node, "--voters", "self")

    found = plan(node)

    assert (found.offset, found.steps, found.lost_ids) == (None, (), ())
