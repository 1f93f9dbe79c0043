"""Commands about the whole cluster and its log."""

from __future__ import annotations

from kraftops_shell.grammar.command import (
    TEXT_OR_JSON,
    TEXT_OR_ROWS,
    Argument,
    Command,
    Flag,
    Task,
    Values,
)

ROWS: tuple[Command, ...] = (
    Command(
        "export",
        "Write nodes as JSON.",
        "export:export",
        (Argument("path", "?", "The node, written with all nodes below it."),),
        flags=(
            Flag(
                "--format",
                "json|ndjson",
                "One JSON value, or a line of path and value for each leaf.",
                ("json", "ndjson"),
            ),
            Flag(
                "--output",
                "FILE",
                "Write to a file, as a whole or not at all.",
                values=Values.FILES,
            ),
            Flag("--overwrite", None, "Replace the file if it exists."),
        ),
        task=Task.CHECK,
    ),
    Command(
        "summary",
        "Show the health of the cluster and its metadata log.",
        "summary:summary",
        flags=(TEXT_OR_JSON,),
        task=Task.CLUSTER,
    ),
    Command(
        "verify",
        "Check the log for what a server would refuse.",
        "verify:verify_command",
        (Argument("sources", "*", "Other sources: replicas of one log.", values=Values.FILES),),
        flags=(
            Flag("--upgrade", "RELEASE", "Also find registrations that block an upgrade."),
            Flag("--for", "RELEASE", "Also find records and features that a release cannot read."),
            Flag(
                "--log-dirs",
                "DIR",
                "Also find partitions in log directories that do not belong there.",
                is_list=True,
                values=Values.DIRECTORIES,
            ),
            TEXT_OR_ROWS,
        ),
        task=Task.CHECK,
    ),
)
