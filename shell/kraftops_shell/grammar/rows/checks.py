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
        examples=(
            ("export /image/configs --output configs.json", "configurations to a file"),
            ("export /image --format ndjson", "all leaves, for tools like jq"),
        ),
        task=Task.CHECK,
    ),
    Command(
        "summary",
        "Show the health of the cluster and its metadata log.",
        "summary:summary",
        flags=(TEXT_OR_JSON,),
        details="""\
Cluster id and metadata version, brokers by state, topics, partitions, under-replicated and
leaderless partitions, the size of the log, and age and lag of the newest snapshot.""",
        examples=(("summary --format json", "values for monitoring"),),
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
        details="""\
A line for each finding: severity, file, offset, position of the batch, what is wrong, a cure where
there is one, and its code, which kafka-storage(1) and kafka-dump-log(1) explain.
The checks find records that cannot apply or be read, damage, gaps, epochs that go back, and open
transactions; and in the state impossible replicas, ISRs, leaders and directories, and unknown
features. Several sources are also compared with each other, batch by batch: the first offset, epoch
and CRC that differ are named. Exit code: 2 if there are findings that are worse than notes.""",
        examples=(
            ("verify", "check the browsed log"),
            ("verify c1/data c2/data c3/data", "check and compare three controllers"),
            ("verify --upgrade 4.3", "check for an upgrade to 4.3"),
            ("verify --log-dirs /data1 /data2", "find stray partitions on disk"),
        ),
        task=Task.CHECK,
    ),
)
