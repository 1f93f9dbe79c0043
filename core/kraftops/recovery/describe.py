"""Recovery as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kraftops.recovery.advice import Advice
from kraftops.recovery.file_steps import FileStep, WriteFile
from kraftops.recovery.plan import ComparedLog, RecoveryPlan
from kraftops.storage.bootstrap.voters import Voter
from kraftops.uuids import to_text


def describe_plan(
    plan: RecoveryPlan, advice: Sequence[Advice], *, changed: bool, backup: str | None
) -> dict[str, Any]:
    """Return a recovery as plain data: its logs, voters, steps, warnings and advice."""
    assert plan.directory.meta
    return {
        "changed": changed,
        "clusterId": plan.directory.meta.cluster_id,
        "nodeId": plan.config.node_id,
        "logs": [_log(plan, log) for log in plan.logs],
        "votersBefore": None
        if plan.old_voters is None
        else [_voter(voter) for voter in plan.old_voters],
        "voters": [_voter(voter) for voter in plan.new_voters],
        "lostVoters": list(plan.lost_ids),
        "offset": plan.offset,
        "epoch": plan.epoch,
        "steps": [_step(step) for step in plan.steps],
        "strays": [
            {"path": stray.path, "reason": stray.reason, "bytes": stray.size}
            for stray in plan.strays
        ],
        "notes": [
            {"code": warning.code, "message": warning.text, "hint": warning.hint}
            for warning in plan.warnings
        ],
        "backup": backup,
        "next": [
            {"nodeId": each.node_id, "text": each.text, "command": each.command} for each in advice
        ],
    }


def _log(plan: RecoveryPlan, compared: ComparedLog) -> dict[str, Any]:
    log = compared.log
    identity = log.owner.directory_id
    return {
        "name": log.name,
        "nodeId": log.owner.node_id,
        "directoryId": identity and to_text(identity),
        "isOwn": log is plan.own,
        "isChosen": log is plan.chosen,
        "epoch": log.epoch,
        "endOffset": log.end,
        "lastTimestamp": log.time,
        "damage": log.damage,
        "equalUpTo": compared.common_end,
        "ahead": len(compared.ahead),
        "lacking": compared.missing,
    }


def _voter(voter: Voter) -> dict[str, Any]:
    return {
        "nodeId": voter.node_id,
        "directoryId": to_text(voter.directory_id),
        "host": voter.host,
        "port": voter.port,
    }


def _step(step: FileStep) -> dict[str, Any]:
    if isinstance(step, WriteFile):
        return {"action": "write", "name": step.name, "bytes": step.size}
    return {"action": "remove", "name": step.name}
