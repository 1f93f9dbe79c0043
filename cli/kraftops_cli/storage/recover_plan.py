"""`kafka-storage recover-plan`: scripts for all hosts of a cluster that has lost its quorum."""

import time
from dataclasses import dataclass

import click

from kraftops.recovery.refusal import PACK
from kraftops_cli.storage.recover import QuorumOptions
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES, print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped


@dataclass(frozen=True, kw_only=True)
class RecoverPlanOptions(QuorumOptions):
    """The values of the options."""

    copies: tuple[str, ...] = option(
        "--from COPY",
        type=click.Path(),
        multiple=True,
        required=True,
        help="A node: an archive of its server.properties, meta.properties and "
        "__cluster_metadata-0, also of several nodes; the server.properties of a node on this "
        "host; or a directory with a log. May be given more than once.",
    )
    voters: str = option(
        "--voters VOTERS",
        required=True,
        help="The new voters: ID,… of copies, or ID@HOST:PORT:DIRECTORY_ID,…",
    )
    output_dir: str = option(
        "--output DIR",
        former=("--output-dir",),
        type=click.Path(),
        required=True,
        help="Write to this directory, which is new.",
    )
    form: str = option("--format", **FORM_ATTRIBUTES)


@tool_command(
    Argparse4j(kafkas=frozenset()),
    answer="kraftops.recovery.answer:RECOVER_PLAN",
    options=RecoverPlanOptions,
    **manual(__file__, PACK=PACK),
)
def recover_plan(terminal: Terminal, options: RecoverPlanOptions) -> int:
    from kraftops.findings.finding import HAS_FINDINGS
    from kraftops.recovery.answer import RECOVER_PLAN
    from kraftops.recovery.cluster_plan import PAGE, write_cluster_plan
    from kraftops.recovery.node_copies import node_copies
    from kraftops_cli.storage.recover_text import page_text, plan_text

    now = time.time_ns() // 1_000_000
    request = options.request(options.voters)
    with node_copies(options.copies, terminal.failure) as nodes:
        plan = write_cluster_plan(nodes, request, page_text, now, options.output_dir)
    if options.form == "text":
        terminal.write(plan_text(terminal.console, plan.recovery))
    scripts = ", ".join(host.script_name for host in plan.hosts)
    print_answer(
        terminal,
        RECOVER_PLAN.fields,
        plan,
        lambda: escaped(f"Written to {options.output_dir}: {scripts}. Begin with {PAGE}.") + "\n",
    )
    return HAS_FINDINGS if plan.recovery.partitions.cuts_needlessly else 0
