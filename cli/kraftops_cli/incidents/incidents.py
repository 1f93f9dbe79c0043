"""`kraftops incidents`: what happened in a cluster, by cause."""

from __future__ import annotations

from kraftops.timeline.answer import INCIDENT, INCIDENTS
from kraftops.timeline.incidents import incidents_of
from kraftops.timeline.rules import RULES
from kraftops_cli.incidents.sources import LogOptions, changes_of, opened
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.exit_status import exit_status
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.tables import table_of, table_text

EXAMPLES = {
    "what happened": "kraftops incidents /var/kafka/meta",
    "since yesterday afternoon": "kraftops incidents DIR --since 'yesterday 14:00'",
    "what goes on in a running cluster": "kraftops incidents -C localhost:9093 --since 1h",
}
SECTIONS = {
    "Causes": (
        "The log does not say why. It shows what follows, by these rules:\n\n"
        + "\n\n".join(f"{rule.cause}: {rule.words}. {rule.reason}." for rule in RULES)
    ),
    **exit_status({2: "done; damage hides a part of the log."}),
}


@tool_command(
    Argparse4j(expands_files=False),
    name="incidents",
    examples=EXAMPLES,
    sections=SECTIONS,
    options=LogOptions,
    answer="kraftops.timeline.answer:INCIDENTS",
    help="Show what happened: incidents by cause, from begin to end, and what they did.",
)
def incidents(terminal: Terminal, options: LogOptions) -> int:
    """Print the incidents of a log; return the exit code."""
    with opened(options, terminal) as opened_log:
        log, code = changes_of(opened_log, terminal, is_for_incidents=True)
        rows = incidents_of(log)
    print_answer(
        terminal,
        options.form,
        INCIDENTS.fields,
        rows,
        lambda: table_text(terminal.console, table_of(INCIDENT, rows)),
    )
    if options.form == "text" and not rows:
        terminal.error("note: no incident")
    return code
