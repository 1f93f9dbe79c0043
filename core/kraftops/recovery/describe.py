"""A recovery as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kraftops.recovery.advice import Advice
from kraftops.recovery.plan import Ranked, RecoveryPlan
from kraftops.recovery.steps import Put, Step
from kraftops.storage.bootstrap.voters import Voter
from kraftops.uuids import to_text


def describe_plan(
    plan: RecoveryPlan, advice: Sequence[Advice], *, changed: bool, backup: str | None
) -> dict[str, Any]:
    """Return what a recovery found and did, or would do."""
    assert plan.directory.meta
    return {
        "changed": changed,
        "clusterId": plan.directory.meta.cluster_id,
        "nodeId": plan.config.node_id,
        "logs": [_log(plan, one) for one in plan.ranked],
        "votersBefore": None if plan.before is None else [_voter(one) for one in plan.before],
        "voters": [_voter(one) for one in plan.after],
        "lostVoters": list(plan.lost_ids),
        "offset": plan.offset,
        "epoch": plan.epoch,
        "steps": [_step(one) for one in plan.steps],
        "strays": [
            {"path": one.path, "reason": one.reason, "bytes": one.size} for one in plan.strays
        ],
        "notes": [{"code": one.code, "message": one.text, "hint": one.hint} for one in plan.notes],
        "backup": backup,
        "next": [
            {"nodeId": one.node_id, "text": one.text, "command": one.command} for one in advice
        ],
    }


def _log(plan: RecoveryPlan, one: Ranked) -> dict[str, Any]:
    log = one.log
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
        "equalUpTo": one.offset,
        "ahead": len(one.ahead),
        "lacking": one.lacking,
    }


def _voter(voter: Voter) -> dict[str, Any]:
    return {
        "nodeId": voter.node_id,
        "directoryId": to_text(voter.directory_id),
        "host": voter.host,
        "port": voter.port,
    }


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, Put):
        return {"action": "write", "name": step.name, "bytes": step.size}
    return {"action": "remove", "name": step.name}
