"""Commands about states and changes over time."""

from __future__ import annotations

from kraftops_shell.grammar.command import TEXT_OR_JSON, Argument, Command, Task, Values

ROWS: tuple[Command, ...] = (
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
        flags=(TEXT_OR_JSON,),
        details="""\
A line for each difference: + for a node that only B has, - for a node that only A has, ~ for values
that differ, with the fields that differ. @OFFSET is the state after a record, @TIME the state at a
time (ISO 8601, or 2h for two hours ago), source:PATH the state of other files. In whole states,
topics are compared by name, and the provenance is left out. The earliest state of a running quorum
is its newest snapshot. Exit code: 2 if there is a difference.""",
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
        (Argument("path", "", "The node; it may be deleted."),),
        flags=(TEXT_OR_JSON,),
        details="""\
A line for each change, oldest first: offset, time, type of the record, path, and fields. The log is
read from its beginning or its oldest snapshot, and in a running quorum from its newest snapshot. A
change that only the snapshot has is shown with <= and the last offset before the log.""",
        examples=(
            ("history-of /image/topics/byName/orders/0", "leaders and ISR of a partition"),
            ("history-of /image/cluster/brokers/3", "registrations and fencing of a broker"),
            ("history-of /image/configs/TOPIC:orders", "changes of a topic's configuration"),
        ),
        task=Task.TIME,
    ),
)
