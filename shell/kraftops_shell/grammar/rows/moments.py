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
        task=Task.TIME,
    ),
    Command(
        "next",
        "Move to the next change.",
        "time.moves:next_change",
        (_STEPS,),
        flags=_CHANGE_FLAGS,
        task=Task.TIME,
    ),
    Command(
        "prev",
        "Move to the change before.",
        "time.moves:previous_change",
        (_STEPS,),
        flags=_CHANGE_FLAGS,
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
        task=Task.TIME,
    ),
    Command(
        "blame",
        "Show the last change of each field.",
        "time.blame:blame",
        (Argument("paths", "+", "The leaves."),),
        flags=(TEXT_OR_ROWS,),
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
        task=Task.TIME,
    ),
)
