"""Tables of the cluster, and the questions that they answer."""

from __future__ import annotations

from kraftops.query.row import COLUMNS as ROW_COLUMNS
from kraftops_shell.grammar.command import Argument, Command, Flag, Task, Values

_OUTPUT = (
    Flag("--columns", "NAME[,NAME…]", "Show these columns.", values=Values.COLUMNS),
    Flag("--json", None, "Print lines of JSON."),
    Flag("--csv", None, "Print CSV."),
)

ROWS: tuple[Command, ...] = (
    Command(
        "log",
        "Show the newest records of the log.",
        "views.log:log",
        (Argument("path", "?", "Only records that changed this node; it may be deleted."),),
        flags=(
            Flag("--since", "OFFSET|TIME", "Begin with that record."),
            Flag("--until", "OFFSET|TIME", "End with that record, or before that time."),
            Flag(
                "--where",
                "CONDITION",
                "Only records of which it is true, as in dump-log.",
                values=Values.CONDITION,
            ),
            Flag("--all", None, "Show records that change nothing, too: those of idle time."),
            Flag("--limit", "N", "Show no more than the newest N records."),
            *_OUTPUT,
        ),
        details="""\
The last record is the newest of the state that is shown. A table has the newest 100 records, and a
line tells how many there are before them; JSON and CSV have all, with the columns of dump-log. A
time is ISO 8601, or a duration before now, for example 2h or -2h.""",
        examples=(
            ("log --limit 20", "the last 20 changes"),
            ("log /image/topics/byName/orders --since -1h", "changes of a topic in the last hour"),
            ('log --where "value.leader = -1"', "partitions that lost their leaders"),
            ("log --where \"type = 'CONFIG_RECORD'\" --csv", "all changes of configurations"),
        ),
        task=Task.TIME,
        columns=(*ROW_COLUMNS, "about"),
    ),
)
