"""Commands about states and changes over time."""

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

_CHANGE_FLAGS = (
    Flag("--path", "PATH", "Only changes of nodes and what is below them.", values=Values.NODES),
    Flag("--type", "TYPE", "Only changes by records of a type.", values=Values.RECORD_TYPES),
    TEXT_OR_ROWS,
)
_STEPS = Argument("number", "?", "How many changes to go.", Values.TEXT)

ROWS: tuple[Command, ...] = (
    Command(
        "at",
        "Move to a moment, or show where you stand.",
        "time.moves:at",
        (
            Argument("moment", "?", "An offset, a time, -1h for an hour ago, or now.", Values.TEXT),
            Argument("command", "*", "A command to run there, without moving.", Values.LINE),
        ),
        flags=(TEXT_OR_JSON,),
        details="""\
@OFFSET is the state after a record, a time (ISO 8601, UTC) the state before the first later record.
14:02 is that time on the last day of the log, yesterday 14:02 the day before.
The records of a metadata transaction count together, at its end, as in Kafka. Without a moment, the
place in the log is shown: offset, time, epoch, and a line of the log's events (elections, changes
of ISRs, brokers, topics, configurations) with a mark. The working directory stays if it exists.
Now returns to the newest state, which a session on a terminal follows.""",
        examples=(
            ("at @300", "the state after the record at offset 300"),
            ("at -1h", "the state an hour ago"),
            ("at @300 ls /image/topics/byName", "a command there, and back"),
            ("at now", "the newest state"),
        ),
        task=Task.TIME,
    ),
    Command(
        "next",
        "Move to the next change.",
        "time.moves:next_change",
        (_STEPS,),
        flags=_CHANGE_FLAGS,
        details="""\
A change is a record that changes the state, or a metadata transaction at its end. What the changes
on the way did is printed as by history-of; of many, the last 100.""",
        examples=(
            ("next", "the next change, and what it is"),
            ("next 10", "the next ten changes"),
            ("next --path /image/cluster/brokers/2", "the next change of a broker"),
            ("next --type PARTITION_CHANGE", "the next record of a type"),
        ),
        task=Task.TIME,
    ),
    Command(
        "prev",
        "Move to the change before.",
        "time.moves:previous_change",
        (_STEPS,),
        flags=_CHANGE_FLAGS,
        details="""\
A change is a record that changes the state, as for next. Of several, those on the way are printed,
oldest first.""",
        examples=(
            ("prev", "the change before this one"),
            ("prev --path /image/configs/TOPIC:orders", "the last change of a configuration"),
        ),
        task=Task.TIME,
    ),
    Command(
        "changes",
        "Show what changed, and what changed it.",
        "time.changes:changes",
        flags=(
            Flag("--since", "MOMENT", "Only changes from an offset or a time on."),
            Flag("--until", "MOMENT", "Only changes up to an offset, or before a time."),
            Flag(
                "--kind",
                "KIND",
                "Only broker, leader, isr, topic, config, acl, quota, user, feature, quorum.",
            ),
            Flag("--broker", "ID", "Only changes about a broker: it leads, led, or is in the ISR."),
            Flag("--topic", "GLOB", "Only changes of topics, as 'orders*'."),
            Flag("--where", "CONDITION", "Only changes for which a condition is true."),
            Flag("--group-by", "cause", "A line for each cause, with its changes.", ("cause",)),
            Flag(
                "--authorizer-log",
                "FILE",
                "Show principals by this log of Kafka's authorizer.",
                values=Values.FILES,
            ),
            TEXT_OR_ROWS,
        ),
        details="""\
A line for each change: time, offset, kind, what was changed, its old and new value, and the cause
as far as the log tells: a broker that stops, is fenced, starts or is unfenced, the leader of a
partition, a reassignment, or a client: no record says which person. --authorizer-log adds who
likely asked for it, by time and topic; kraftops-changes(1) says how. What a snapshot has is no
change. The columns for --where are time, offset, kind, what, old, new, cause, likelyPrincipals,
topic, partition and brokers.
Several values of a flag are separated by commas.""",
        examples=(
            ("changes --since 14:00 --until 14:10", "ten minutes of the last day of the log"),
            ("changes --broker 3 --group-by cause", "what a broker did, by cause"),
            ("changes --kind config,acl --topic 'orders*'", "what people changed"),
            ("changes --where \"new ~ 'unclean'\"", "elections that may have lost records"),
        ),
        task=Task.TIME,
    ),
    Command(
        "incidents",
        "Show what happened, by cause.",
        "time.changes:incidents",
        flags=(
            Flag("--since", "MOMENT", "Only what happened from an offset or a time on."),
            Flag("--until", "MOMENT", "Only what happened up to an offset, or before a time."),
            TEXT_OR_ROWS,
        ),
        details="""\
A line for each incident: begin, end or "still", cause, and in words what it did: partitions without
a leader and under min ISR, unclean elections, who led instead, and how long until all was in sync.
The start of a cluster is not an incident. kraftops-incidents(1) has the rules by which causes are
told apart.""",
        examples=(
            ("incidents", "all of the log"),
            ("incidents --since 14:00", "since two o'clock of its last day"),
        ),
        task=Task.TIME,
    ),
    Command(
        "blame",
        "Show the last change of each field.",
        "time.blame:blame",
        (Argument("paths", "+", "The leaves."),),
        flags=(TEXT_OR_ROWS,),
        details="""\
A line for each field: offset, time and epoch of its last change, type of the record, name and
value. The log knows no person. <= stands before an offset where only a snapshot has the value.""",
        examples=(
            (
                "blame /image/topics/byName/orders/0",
                "who last set leader, ISR and epochs, and when",
            ),
        ),
        task=Task.TIME,
    ),
    Command(
        "diff",
        "Show the differences between two states, or two nodes.",
        "diff:diff_command",
        (
            Argument(
                "A",
                "",
                "The older: @OFFSET, @TIME, source:PATH, or a path of the tree.",
                Values.STATES,
            ),
            Argument("B", "", "The newer, in the same form.", Values.STATES),
            Argument("path", "?", "Compare only this path of two states."),
        ),
        flags=(TEXT_OR_ROWS,),
        details="""\
A line for each difference: + for a node that only B has, - for a node that only A has, ~ for values
that differ, with the fields that differ. @OFFSET is the state after a record, @TIME the state at a
time (ISO 8601, @2h for two hours ago, or @now), source:PATH the state of other files. In whole
states, topics are compared by name, and the provenance is left out. The earliest state of a running
quorum is its newest snapshot. Exit code: 2 if there is a difference.""",
        examples=(
            ("diff @4000 @4200", "the changes by the records up to 4200"),
            ("diff @1d /image/configs", "configurations of a day ago and of now"),
            ("diff source:/backup/kafka @4200 /image/topics", "topics of a copy and of this log"),
        ),
        task=Task.TIME,
    ),
    Command(
        "history-of",
        "Show the changes of a node.",
        "history_of:history_of",
        (Argument("path", "", "The node or directory; it may be deleted."),),
        flags=(
            Flag("--limit", "N", "Show the last N changes only, without reading the whole log."),
            TEXT_OR_ROWS,
        ),
        details="""\
A line for each change, oldest first: offset, time, type of the record, path, and fields. A pattern
also means nodes that are deleted; their changes are told in one order. The log is
read from its beginning or its oldest snapshot, and in a running quorum from its newest snapshot. A
change that only the snapshot has is shown with <= and the last offset before the log. Of /image,
/image/topics and other directories of many nodes, the last 100 changes are shown.""",
        examples=(
            ("history-of /image/topics/byName/orders/0", "leaders and ISR of a partition"),
            ("history-of /image/cluster/brokers/3", "registrations and fencing of a broker"),
            ("history-of /image/configs/TOPIC:orders", "changes of a topic's configuration"),
            ("history-of /image --limit 20", "the last 20 changes of all"),
        ),
        task=Task.TIME,
    ),
)
