"""`kafka-storage recover-plan`: scripts for all hosts of a cluster that has lost its quorum."""

from __future__ import annotations

import time
from dataclasses import dataclass

import click

from kraftops_cli.storage.compare import losses_text
from kraftops_cli.storage.options import ELECT_NEWEST, UNSEEN_BROKER
from kraftops_cli.storage.recover import broker_ids
from kraftops_cli.storage.recover_asking import asking
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.exit_status import exit_status
from kraftops_cli.syntax.renamed import RenamedOption
from kraftops_cli.terminal.answer import FORM, print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks

EXAMPLES = (
    (
        "a controller and a broker are left",
        "kafka-storage recover-plan --from n1.tgz --from n101.tgz --voters 1 --output plan",
    ),
)
SECTIONS = (
    (
        "How recover-plan works",
        """\
Pack every node that is left, while it is stopped, with the paths of its host: find /var/lib/kafka
-type f \\( -path '/var/lib/kafka/__cluster_metadata-0/*' -o ! -name '*.log' ! -name '*index' \\) |
tar -czf node-1.tar.gz /etc/hostname /etc/kafka/server.properties -T -. Of a lost controller that is
to join again, the server.properties is enough. If all controllers are lost, format one with
--no-initial-controllers and the old --cluster-id, and pack it, too.

A leader of this cluster that answers forbids it, as do most voters that run without one. The best
log is chosen as by recover, and recovered here for the voters, in a copy: all of them get the same
bytes. The new directory has the log, a script for each node, and README.txt: the work in
its order, with what to check after each step. A script refuses another host, another disk, another
node and a running server, and can be repeated. Nothing else is written: the copies stay as they
are.""",
    ),
    exit_status({0: "the plan is written; it says what is lost."}),
)


@dataclass(frozen=True, kw_only=True)
class RecoverPlanOptions:
    """The values of the options."""

    copies: tuple[str, ...]
    voters: str
    output_dir: str
    choice: str | None = None
    elect_newest: bool = False
    unseen_brokers: str = ""
    offline: bool = False
    form: str = "text"


@click.command(
    cls=ToolCommand,
    syntax=Argparse4j(kafkas=frozenset()),
    name="recover-plan",
    answer="kraftops.recovery.answer:RECOVER_PLAN",
    options=RecoverPlanOptions,
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Write scripts for all hosts of a cluster that has lost its quorum, and a page.",
)
@click.option(
    "--from",
    "copies",
    metavar="COPY",
    type=click.Path(),
    multiple=True,
    required=True,
    help="A node: an archive of its server.properties, meta.properties and __cluster_metadata-0; "
    "the server.properties of a node on this host; or a directory with a log. May be given more "
    "than once.",
)
@click.option(
    "--voters",
    metavar="VOTERS",
    required=True,
    help="The new voters: ID,… of copies, or ID@HOST:PORT:DIRECTORY_ID,…",
)
@click.option(
    "--choose",
    "choice",
    metavar="COPY",
    type=click.Path(),
    help="The log that goes on, if it is not to be the best: a COPY of --from.",
)
@click.option(
    "--output",
    "output_dir",
    cls=RenamedOption,
    former=("--output-dir",),
    metavar="DIR",
    type=click.Path(),
    required=True,
    help="Write to this directory, which is new.",
)
@ELECT_NEWEST
@UNSEEN_BROKER
@click.option(
    "--offline", is_flag=True, help="Ask no controller whether it leads or can be elected."
)
@FORM
@click.pass_obj
def recover_plan(terminal: Terminal, options: RecoverPlanOptions) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.answers.fields import json_of
    from kraftops.recovery.answer import RECOVER_PLAN
    from kraftops.recovery.node_copies import node_copies
    from kraftops.recovery.plan import RecoveryRequest
    from kraftops.recovery.plan_files import PAGE, write_cluster_plan

    now = time.time_ns() // 1_000_000
    request = RecoveryRequest(
        voters=options.voters,
        choice=options.choice,
        elects_newest=options.elect_newest,
        unseen_brokers=broker_ids(options.unseen_brokers),
    )
    ask = None if options.offline else asking
    with node_copies(options.copies) as nodes:
        plan = write_cluster_plan(nodes, request, ask, now, options.output_dir)
    if options.form == "text":
        console, recovery = terminal.console, plan.recovery
        terminal.write("".join(losses_text(console, recovery.loss_total, recovery.losses)) + "\n")
        terminal.write("".join(finding_blocks(console, recovery.findings)))
    scripts = ", ".join(host.script_name for host in plan.hosts)
    print_answer(
        terminal,
        options.form,
        "recover-plan",
        lambda: json_of(RECOVER_PLAN.fields, plan),
        lambda: escaped(f"Written to {options.output_dir}: {scripts}. Begin with {PAGE}.") + "\n",
    )
    return 0
