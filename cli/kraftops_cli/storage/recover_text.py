"""Text of recoveries and of `kafka-storage compare`: losses, copies, logs, changes, and steps."""

import os
import textwrap
from collections.abc import Iterator, Sequence

from kraftops.display import quoting
from kraftops.display.sizes import many
from kraftops.fileio.packaged import packaged_parts
from kraftops.recovery.answer import BROKER, COPY, ELECTION, LOG, LOSS
from kraftops.recovery.cluster_plan import ClusterPlan
from kraftops.recovery.file_steps import WriteFile
from kraftops.recovery.host_script import Role
from kraftops.recovery.partitions.comparison import Comparison
from kraftops.recovery.partitions.losses import LossTotal, PartitionLoss
from kraftops.recovery.partitions.start_order import NO_ORDER
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.procedure import WorkStep, work_steps
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks
from kraftops_terminal.tables import table_of, table_text


def losses_text(
    console: Console, loss_total: LossTotal, losses: Sequence[PartitionLoss]
) -> Iterator[str]:
    total = escaped(f"{loss_total}.")
    yield (console.painted(total, "bad") if losses else total) + "\n"
    yield table_text(console, table_of(LOSS, losses))


def copies_text(console: Console, comparison: Comparison) -> Iterator[str]:
    """Yield the tables of copies and brokers, and what is lost if a broker is gone for good."""
    yield table_text(console, table_of(COPY, comparison.differing, "Copies that differ"))
    if comparison.of_other_content:
        differing = ", ".join(sorted(comparison.of_other_content))
        yield escaped(f"Copy none of {differing} over another: their records differ.") + "\n"
    if read := comparison.equal_count - comparison.unread_count:
        yield (
            f"{read} other copies are equal, by epochs, ends, and the bytes of the first and last "
            "batch, or the only ones, whose batches were not read.\n"
        )
    if comparison.unread_count:
        yield (
            f"{comparison.unread_count} other copies, packed without logs, are equal by epochs and "
            "ends, or the only ones; whether they lack what is before is unknown.\n"
        )
    yield "\n"
    # A copy without logs that seems equal may lack its start: whoever leads, cuts the others' too.
    is_unsure = comparison.of_other_content or comparison.unread_count or comparison.is_partial
    is_ordered = comparison.has_order and not is_unsure
    title = "Brokers, in order of start" if is_ordered else "Brokers"
    yield table_text(console, table_of(BROKER, comparison.brokers, title))
    if comparison.replacements:
        cures = comparison.replacements
        texts = "; ".join(cure.text for cure in cures)
        yield escaped(f"{NO_ORDER.capitalize()}, {texts}.") + "\n"
        for cure in cures:
            yield from (escaped(f"   {command}") + "\n" for command in cure.commands)
    for broker in comparison.brokers:
        if broker.gone.partitions:
            names = ", ".join(broker.gone.partitions)
            text = f"Lost if broker {broker.broker} is gone for good: records of {names}"
            yield escaped(text) + "\n"
    if comparison.partly_read:
        partitions = many(comparison.partly_read, "partition")
        yield (
            f"Nothing is said about {partitions} with replicas in log directories that were not"
            " read.\n"
        )


def plan_text(console: Console, plan: RecoveryPlan) -> str:
    """Return the losses, copies, logs, findings, elections and voters of a plan."""
    partitions = plan.partitions
    parts = [*losses_text(console, plan.loss_total, plan.losses), "\n"]
    if partitions.comparison.differing:
        parts += [*copies_text(console, partitions.comparison), "\n"]
    if plan.answers == ():
        parts.append("Other controllers: none answers.\n\n")
    first = "chosen one" if plan.is_named else "best"
    logs = table_of(LOG, plan.logs, f"Logs, the {first} first: it is continued")
    parts += [table_text(console, logs), "\n"]
    parts += finding_blocks(console, plan.findings)
    if partitions.elections:
        title = "Elections:" if partitions.is_elected else "Elections by --elect-newest:"
        parts.append(table_text(console, table_of(ELECTION, partitions.elections, title)))
    old_voters = "those of the configuration"
    if plan.old_voters is not None:
        old_voters = ", ".join(map(str, plan.old_voters)) or "none"
    new_voters = ", ".join(map(str, plan.new_voters))
    return "".join([*parts, _text([f"Voters: {old_voters}", f"    ->  {new_voters}"])])


def writes_text(plan: RecoveryPlan) -> str:
    lines = []
    if plan.offset is not None:
        lines = [f"in epoch {plan.epoch} from offset {plan.offset}, in {plan.own.folder}:"]
    for step in plan.steps:
        done = f"write {step.size} bytes" if isinstance(step, WriteFile) else "remove"
        lines.append(f"     {step.name}: {done}")
    return _text(lines)


def done_text(plan: RecoveryPlan, backup: str | None, *, is_dry: bool) -> str:
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
    return quoting.join([*command, "--backup", parent] if parent != plan.own.folder else command)


def undone_text(backup: str, *, changed: bool, is_dry: bool) -> str:
    """Return the outcome of undoing a recovery with a backup."""
    if not changed:
        return _text([f"nothing to undo: the metadata log is as in {backup}"])
    if is_dry:
        return _text([f"Would restore the metadata log from {backup}. Nothing was written."])
    return _text([f"the metadata log is as it was before; the copy stays in {backup}"])


def steps_text(steps: Sequence[WorkStep]) -> str:
    """Return the steps in order, each with its command, which is not folded, and its check."""
    lines: list[str] = []
    for number, step in enumerate(steps, 1):
        text = f"{step.text[:1].upper()}{step.text[1:]}"
        lines += _folded(f"{number}. {text}{':' if step.command else '.'}")
        lines += [f"       {step.command}"] if step.command else []
        lines += _folded(f"   Check: {step.check}.") if step.check else []
    return _text(lines)


def page_text(plan: ClusterPlan) -> str:
    """Return the page of a plan: the work in its order, and what to check after each step."""
    texts = packaged_parts(__file__, "recover_page.txt", "# ")
    console = Console(lambda _: None, -1, is_terminal=False, color="never")
    recovery = plan.recovery
    nodes = ["", "Nodes:"]
    for host in plan.hosts:
        config = host.copy.config_path or "(give the path of its server.properties)"
        name = f"node {host.node_id}" + (f" on {host.copy.host}" if host.copy.host else "")
        nodes.append(f"- {name}: {_ROLES[host.role]}; {host.script_name}, {config}")
    missing = "no copy was given, so it has no script; see the steps"
    nodes += [f"- node {node_id}: {missing}" for node_id in plan.without_copy]
    return "\n".join(
        (
            f"Recovery of the cluster {escaped(recovery.cluster_id)}\n",
            plan_text(console, recovery) + _text(nodes),
            texts["rules"],
            steps_text(work_steps(recovery, {host.node_id: host for host in plan.hosts})),
            texts["end"],
        )
    )


_ROLES = {
    Role.VOTER: "votes, with the recovered log",
    Role.JOINS: "joins again, with an empty metadata log",
    Role.BROKER: "broker",
}


def _folded(text: str) -> list[str]:
    """Return a text in lines; addresses and paths stay whole."""
    return textwrap.wrap(
        text, 92, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False
    )


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{escaped(line)}\n" for line in lines)
