"""Text of `kafka-storage recover`: the logs, the changes, and the next steps."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Sequence

from kraftops.display.sizes import many
from kraftops.recovery.answer import ELECTION
from kraftops.recovery.file_steps import WriteFile
from kraftops.recovery.missing_state import ComparedLog
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.procedure import WorkStep
from kraftops_cli.storage.compare import copies_text, losses_text
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks
from kraftops_terminal.tables import table_of, table_text


def plan_text(console: Console, plan: RecoveryPlan) -> str:
    """Return the logs, findings and changes of a plan."""
    partitions = plan.partitions
    losses = "".join(losses_text(console, plan.loss_total, plan.losses)) + "\n"
    comparison = partitions.comparison
    copies = "".join(copies_text(console, comparison)) + "\n" if comparison.differing else ""
    findings = "".join(finding_blocks(console, plan.findings))
    elections = ""
    if partitions.elections:
        title = "Elections:" if partitions.is_elected else "Elections by --elect-newest:"
        elections = table_text(console, table_of(ELECTION, partitions.elections, title))
    asked = ["Other controllers: none answers.", ""] if plan.answers == () else []
    logs, writes = _text([*asked, *_logs(plan)]), _text([*_writes(plan)])
    return losses + copies + logs + findings + elections + writes


def done_text(plan: RecoveryPlan, backup: str | None, *, is_dry: bool) -> str:
    """Return the outcome."""
    if not plan.steps:
        return "Nothing to change: the log says so already.\n"
    if is_dry:
        return "Nothing was written.\n"
    kept = f"; the copy of what was there is in {backup}" if backup else ""
    undo = ["Before a server is started, this puts it back:"] if backup else []
    if backup:
        undo.append(f"       {_undo_command(plan, backup)}")
    return _text([f"Written{kept}.", *undo])


def _undo_command(plan: RecoveryPlan, backup: str) -> str:
    command = ["kafka-storage", "recover", "-c", plan.config.path, "--undo"]
    parent = os.path.dirname(backup)
    return shlex.join([*command, "--backup", parent] if parent != plan.own.folder else command)


def undone_text(backup: str, *, changed: bool, is_dry: bool) -> str:
    """Return the outcome of undoing a recovery with a backup."""
    if not changed:
        return _text([f"nothing to undo: the metadata log is as in {backup}"])
    if is_dry:
        return _text([f"Would restore the metadata log from {backup}. Nothing was written."])
    return _text([f"the metadata log is as it was before; the copy stays in {backup}"])


def next_text(steps: Sequence[WorkStep]) -> str:
    """Return the next steps in order."""
    lines = ["Next:"]
    for number, step in enumerate(steps, 1):
        lines.append(f"{number:>3}. {step.text}")
        if step.command:
            lines.append(f"       {step.command}")
        if step.check:
            lines.append(f"     check: {step.check}")
    return _text(lines)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{escaped(line)}\n" for line in lines)


def _logs(plan: RecoveryPlan) -> Iterator[str]:
    yield "Logs, the chosen one first:" if plan.is_named else "Logs, the best first:"
    for number, compared in enumerate(plan.logs, 1):
        log = compared.log
        node = "" if log.owner.node_id is None else f" (node {log.owner.node_id})"
        yield (
            f"{number:>3}. {log.name}{node}: epoch {log.epoch}, end offset {log.end}"
            f"{_age(log.time)}: {_comparison(plan, compared)}"
        )


def _age(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    utc = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(milliseconds / 1000))
    return f", last record {utc} UTC"


def _comparison(plan: RecoveryPlan, compared: ComparedLog) -> str:
    """Return how a log compares with the chosen one."""
    if compared.is_chosen:
        return "this one goes on"
    if compared.log.is_empty:
        return "empty"
    if compared.ahead:
        return f"{many(len(compared.ahead), 'offset')} that the chosen one lacks"
    if compared.log.end == plan.chosen.end:
        return "the same"
    return f"{many(plan.chosen.end - compared.log.end, 'offset')} behind"


def _writes(plan: RecoveryPlan) -> Iterator[str]:
    old_voters = "those of the configuration"
    if plan.old_voters is not None:
        old_voters = ", ".join(map(str, plan.old_voters)) or "none"
    yield f"Voters: {old_voters}"
    yield f"    ->  {', '.join(map(str, plan.new_voters))}"
    if plan.offset is not None:
        yield f"in epoch {plan.epoch} from offset {plan.offset}, in {plan.own.folder}:"
    for step in plan.steps:
        done = f"write {step.size} bytes" if isinstance(step, WriteFile) else "remove"
        yield f"     {step.name}: {done}"
