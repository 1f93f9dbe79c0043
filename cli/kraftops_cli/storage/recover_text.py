"""What `kafka-storage recover` tells people: what it found, what it does, and what comes next."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from kraftops.recovery.advice import Advice
from kraftops.recovery.plan import Ranked, RecoveryPlan
from kraftops.recovery.steps import Put
from kraftops_cli.terminal.streams import printable

_MOST_NAMES = 20
_KINDS = {
    "topics": "topics",
    "deletedTopics": "topics that were deleted, and come back",
    "partitions": "partitions",
    "partitionStates": "newest states of partitions",
    "brokers": "brokers",
    "configurations": "configurations",
    "quotas": "quotas",
    "users": "SCRAM users",
    "acls": "ACLs",
    "deletedAcls": "ACLs that were deleted, and come back",
    "tokens": "delegation tokens",
    "features": "features",
}


def plan_text(plan: RecoveryPlan) -> str:
    """Return what was found, and what would be written."""
    return _text([*_logs(plan), *_strays(plan), *_notes(plan), *_writes(plan)])


def done_text(plan: RecoveryPlan, backup: str | None, *, is_dry: bool) -> str:
    """Return what was done."""
    if not plan.steps:
        return "Nothing to change: the log says so already.\n"
    if is_dry:
        return "Nothing was written.\n"
    kept = f"; the copy of what was there is in {backup}" if backup else ""
    undo = ["before a server is started, recover --undo puts it back"] if backup else []
    return _text([f"Written{kept}.", *undo])


def next_text(steps: Sequence[Advice]) -> str:
    """Return what comes next, in order."""
    lines = ["Next:"]
    for number, one in enumerate(steps, 1):
        lines.append(f"{number:>3}. {one.text}")
        if one.command:
            lines.append(f"       {one.command}")
    return _text(lines)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{printable(line)}\n" for line in lines)


def _logs(plan: RecoveryPlan) -> Iterator[str]:
    yield "Logs, the best first:"
    for number, one in enumerate(plan.ranked, 1):
        log = one.log
        node = "" if log.owner.node_id is None else f" (node {log.owner.node_id})"
        yield (
            f"{number:>3}. {log.name}{node}: epoch {log.epoch}, end offset {log.end}"
            f"{_age(log.time)}: {_standing(plan, one)}"
        )
        for kind, names in one.lacking.items():
            shown = ", ".join(names[:_MOST_NAMES])
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            yield f"       lost: {_KINDS[kind]}: {shown}{more}"


def _age(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    shown = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(milliseconds / 1000))
    return f", last record {shown} UTC"


def _standing(plan: RecoveryPlan, one: Ranked) -> str:
    """Return what a log has to do with the chosen one."""
    if one.log is plan.chosen:
        return "this one goes on"
    if one.log.is_empty:
        return "empty"
    if one.ahead:
        return f"its offsets {one.ahead.start} to {one.ahead.stop - 1} would be lost"
    if one.log.end == plan.chosen.end:
        return "the same"
    return f"{plan.chosen.end - one.log.end} offsets behind"


def _strays(plan: RecoveryPlan) -> Iterator[str]:
    if plan.strays:
        yield "Partitions on disk that brokers would set aside:"
    for one in plan.strays:
        yield f"     {one.path} ({one.size} bytes): {one.reason}"


def _notes(plan: RecoveryPlan) -> Iterator[str]:
    for one in plan.notes:
        yield f"note: {one.text}; {one.hint}"


def _writes(plan: RecoveryPlan) -> Iterator[str]:
    before = "those of the configuration"
    if plan.before is not None:
        before = ", ".join(map(str, plan.before)) or "none"
    yield f"Voters: {before}"
    yield f"    ->  {', '.join(map(str, plan.after))}"
    if plan.offset is not None:
        yield f"as a batch of epoch {plan.epoch} at offset {plan.offset}, in {plan.own.folder}:"
    for step in plan.steps:
        done = f"write {step.size} bytes" if isinstance(step, Put) else "remove"
        yield f"     {step.name}: {done}"
