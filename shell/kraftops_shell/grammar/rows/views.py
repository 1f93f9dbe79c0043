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
_DETAILS = """\
--where takes the conditions of dump-log on the columns: = != < <= > >=, ~ 'REGEX', in, is null,
and, or, not, len(LIST), LIST = [1, 2], only(LIST, 1, 2). help and the name of the command list the
columns. JSON and CSV have all columns; a table has the usual ones, and on a terminal 200 rows."""
_table = partial(
    Command, function="views.tables:table", flags=_FLAGS, details=_DETAILS, task=Task.CLUSTER
)

ROWS: tuple[Command, ...] = (
    _table(
        "acls",
        "List access control entries.",
        examples=(
            ("acls --where \"principal = 'User:alice'\"", "what alice may do"),
            ("acls --where \"operation in ('ALL', 'WRITE')\" --format csv", "who may write"),
        ),
    ),
    _table(
        "brokers",
        "List brokers with their states and loads.",
        examples=(
            ("brokers --sort -leaders", "the brokers that lead most first"),
            ("brokers --where \"state != 'active'\"", "brokers that are fenced or stopping"),
        ),
    ),
    _table(
        "configs",
        "List configurations of topics, brokers and others.",
        examples=(
            ("configs --where \"key = 'retention.ms'\"", "the retention of all topics"),
            ("configs --sort -lastOffset --limit 10", "the last ten that were set"),
        ),
    ),
    Command(
        "groups",
        "List groups, of a broker's __consumer_offsets.",
        "views.tables:groups",
        flags=_FLAGS,
        details=f"""\
Groups are not in the metadata log: those of partitions of __consumer_offsets in the same log
directory are listed, as of the end of these logs, wherever the session stands.

{_DETAILS}""",
        examples=(("groups --where \"state = 'Empty'\"", "groups without members"),),
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
        details="""\
The last record is the newest of the state that is shown. A table has the newest 100 records, and a
line tells how many there are before them; JSON and CSV have all, with the columns of dump-log. A
time is ISO 8601, a time of day on the last day of the log (14:02, 'yesterday 14:02'), 2h for
two hours ago, or -2h for two hours before the end of the log.""",
        examples=(
            ("log --limit 20", "the last 20 changes"),
            ("log /image/topics/byName/orders --since -1h", "changes of a topic in the last hour"),
            ('log --where "value.leader = -1"', "partitions that lost their leaders"),
            (
                "log --where \"type = 'CONFIG_RECORD'\" --format csv",
                "all changes of configurations",
            ),
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
        details=_DETAILS,
        examples=(
            ("partitions --broker 103 --leader", "what broker 103 leads"),
            (
                'partitions --where "leader = 101 and len(isr) < len(replicas)"',
                "what 101 leads with replicas out of sync",
            ),
            (
                "partitions --where \"state = 'offline'\" --format json",
                "partitions without a leader",
            ),
            ("partitions --where 'len(isr) = 1' --sort leader", "one in-sync replica is left"),
        ),
        task=Task.CLUSTER,
    ),
    _table(
        "quotas",
        "List quotas of clients.",
        examples=(("quotas --where \"user = 'bob'\"", "the quotas of a user"),),
    ),
    Command(
        "skew",
        "Show leaders and replicas of brokers and racks.",
        "views.risk:skew",
        flags=_FORMS,
        details="""\
A line for each broker with replicas or a registration, and for each rack: partitions that it leads,
partitions whose first replica it is, and replicas. The longest bar is the highest number.""",
        examples=(("skew", "which brokers lead more than others"),),
        task=Task.RISK,
    ),
    _table(
        "topics",
        "List topics with sizes, replication and troubles.",
        examples=(
            ("topics --where 'replication < 3'", "topics with too few replicas"),
            ("topics --where 'offline > 0' --sort -offline", "topics that cannot be used"),
            ("topics --sort -lastOffset --limit 5", "what changed last"),
        ),
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
        details="""\
All of them are lost at once, and nothing else changes. A partition goes offline if none of its
replicas in sync is left, and none of the eligible leader replicas can lead (last-in-sync);
no-replica says that none at all is left, so that its records are gone with the disks. A partition
below its min ISR takes no records of acks=all. The log tells min.insync.replicas of topics and of
the whole cluster, but not those in the files of brokers, which are taken for 1.""",
        examples=(
            ("what-if --lose 103", "partitions that need broker 103"),
            ("what-if --lose 103,104 --format json", "two brokers, for a program"),
            ("what-if --lose-rack a", "topics that would lose data if rack a went"),
        ),
        task=Task.RISK,
    ),
)
