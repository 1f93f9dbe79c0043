"""Tables of the cluster, and the questions that they answer."""

from __future__ import annotations

from functools import partial

from kraftops_shell.grammar.command import Argument, Command, Flag, Task, Values

_SAFE = Flag("--csv-safe", None, "With CSV: text in which spreadsheets find no formulas.")
_COLUMNS = Flag("--columns", "NAME[,NAME…]", "Show these columns.", values=Values.COLUMNS)
_FORMS = (
    Flag(
        "--format",
        "text|json|ndjson|csv",
        "Print a table, a JSON object, a line of JSON for each row, or CSV.",
        ("text", "json", "ndjson", "csv"),
    ),
    _SAFE,
)

_WHERE = Flag("--where", "CONDITION", "Only rows for which it is true.", values=Values.CONDITION)
_FLAGS = (
    _WHERE,
    Flag(
        "--sort",
        "NAME[,NAME…]",
        "Sort by these columns; -NAME has the highest first.",
        values=Values.COLUMNS,
    ),
    Flag("--limit", "N", "Show no more than N rows."),
    _COLUMNS,
    *_FORMS,
)
_table = partial(Command, function="views.tables:table", flags=_FLAGS, task=Task.CLUSTER)

ROWS: tuple[Command, ...] = (
    _table(
        "acls",
        "List access control entries.",
    ),
    _table(
        "brokers",
        "List brokers with their states and loads.",
    ),
    _table(
        "configs",
        "List configurations of topics, brokers and others.",
    ),
    Command(
        "groups",
        "List groups, of a broker's __consumer_offsets.",
        "views.tables:groups",
        flags=_FLAGS,
        task=Task.CLUSTER,
    ),
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
                "Only records for which it is true, as in dump-log.",
                values=Values.CONDITION,
            ),
            Flag("--all", None, "Show records that change nothing, too: those of idle time."),
            Flag("--limit", "N", "Show no more than the newest N records."),
            _COLUMNS,
            Flag(
                "--format",
                "text|json|ndjson|csv",
                "Print a table, lines of JSON as dump-log in either form, or CSV.",
                ("text", "json", "ndjson", "csv"),
            ),
            _SAFE,
        ),
        task=Task.TIME,
    ),
    Command(
        "partitions",
        "List partitions with leader, ISR and replicas.",
        "views.tables:partitions",
        flags=(
            Flag("--topic", "NAME[,NAME…]", "Only partitions of topics.", values=Values.TOPICS),
            Flag("--broker", "ID", "Only partitions on this broker.", values=Values.BROKERS),
            Flag("--leader", None, "Only those that the broker leads."),
            Flag("--follower", None, "Only those that the broker follows."),
            *_FLAGS,
        ),
        task=Task.CLUSTER,
    ),
    _table(
        "quotas",
        "List quotas of clients.",
    ),
    Command(
        "skew",
        "Show leaders and replicas of brokers and racks.",
        "views.risk:skew",
        flags=_FORMS,
        task=Task.RISK,
    ),
    _table(
        "topics",
        "List topics with sizes, replication and troubles.",
    ),
    Command(
        "what-if",
        "Show what the loss of brokers or racks would do.",
        "views.risk:what_if",
        flags=(
            Flag("--lose", "ID[,ID…]", "Lose these brokers.", values=Values.BROKERS),
            Flag("--lose-rack", "RACK[,RACK…]", "Lose all brokers of racks.", values=Values.RACKS),
            Flag("--limit", "N", "Show no more than N topics and N partitions."),
            Flag(
                "--format",
                "text|json|csv",
                "Print tables, a JSON object, or CSV of partitions.",
                ("text", "json", "csv"),
            ),
            _SAFE,
        ),
        task=Task.RISK,
    ),
)
