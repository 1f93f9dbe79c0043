"""`kraftops incidents`: what happened in a cluster, by cause."""

from kraftops.timeline.answer import INCIDENT, INCIDENTS
from kraftops.timeline.incidents import incidents_of
from kraftops.timeline.rules import RULES
from kraftops_cli.incidents.sources import LogOptions, changes_of, opened
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.tables import table_of, table_text


@tool_command(
    Argparse4j(expands_files=False),
    name="incidents",
    options=LogOptions,
    answer="kraftops.timeline.answer:INCIDENTS",
    **manual(
        __file__,
        more={
            "Causes": "The log does not say why. It shows what follows, by these rules:\n\n"
            + "\n\n".join(f"{rule.cause}: {rule.words}. {rule.reason}." for rule in RULES)
        },
    ),
)
def incidents(terminal: Terminal, options: LogOptions) -> int:
    """Print the incidents of a log; return the exit code."""
    with opened(options, terminal) as opened_log:
        log, code = changes_of(opened_log, terminal, is_for_incidents=True)
        rows = incidents_of(log)
    print_answer(
        terminal,
        INCIDENTS.fields,
        rows,
        lambda: table_text(terminal.console, table_of(INCIDENT, rows)),
    )
    if options.form == "text" and not rows:
        terminal.error("note: no incident")
    return code
