"""A planned recovery is executed under the lock, and undone from its backup."""

import os
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import StorageError
from kraftops.recovery.execute import backup_folder, execute, undo
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.locks import InUse
from tests.helpers.logs.metadata_logs import no_ops
from tests.helpers.nodes.lost_quorums import MORE, Planner, log_files, other_node, survivor
from tests.helpers.nodes.node_directories import locked

NOW = 1_763_720_000_123


def run(plan: RecoveryPlan) -> str:
    path = backup_folder(plan.own.folder, None, NOW)
    execute(plan, path)
    return path


def test_steps_are_executed_and_undone(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    other_node(node / "c2", 2, no_ops(5, 2, epoch=3))
    before = log_files(node)
    planned = plan(node, "c2")

    folder = run(planned)

    assert (
        log_files(node).keys() - before.keys()
        == {step.name for step in planned.steps} - before.keys()
    )
    assert log_files(node) != before
    assert undo(planned.config, None) == (folder, True)
    assert log_files(node) == before
    assert undo(planned.config, None) == (folder, False)


def test_dry_undo_tells_whether_it_could_and_writes_nothing(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    planned = plan(node)
    folder = run(planned)
    recovered = log_files(node)

    assert undo(planned.config, None, is_dry=True) == (folder, True)
    assert log_files(node) == recovered
    (node / "meta/__cluster_metadata-0/quorum-state").write_text("{}")
    with pytest.raises(RecoveryRefused) as refused:
        undo(planned.config, None, is_dry=True)
    assert refused.value.code == "started"


def test_log_that_changed_after_the_plan_is_refused(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    planned = plan(node)
    (node / "meta/__cluster_metadata-0/00000000000000000010.log").write_bytes(no_ops(10, 1))

    with pytest.raises(RecoveryRefused) as refused:
        run(planned)

    assert refused.value.code == "changed"


def test_running_server_is_refused(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    planned = plan(node)

    with locked(node / "meta"), pytest.raises(InUse):
        run(planned)


def test_error_rolls_the_steps_back(
    tmp_path: Path, plan: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = survivor(tmp_path / "node", *MORE)
    before = log_files(node)
    planned = plan(node)
    replace = os.replace

    def full(source: str, target: str, **options: Any) -> None:
        if target.endswith("10.log"):
            raise OSError(28, "No space left on device", target)
        replace(source, target, **options)

    monkeypatch.setattr(os, "replace", full)

    with pytest.raises(StorageError, match="No space left"):
        run(planned)

    assert log_files(node) == before


def test_undo_after_the_start_of_a_server_is_refused(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    planned = plan(node)
    run(planned)
    (node / "meta/__cluster_metadata-0/00000000000000000011.log").write_bytes(no_ops(11, 1))

    with pytest.raises(RecoveryRefused) as refused:
        undo(planned.config, None)

    assert refused.value.code == "started"
