"""Words of a session: its help, its lines, its end."""

from __future__ import annotations

from kraftops_shell.grammar.command import Argument, Command, Task, Values

ROWS: tuple[Command, ...] = (
    Command(
        "exit",
        "Exit the metadata shell.",
        "control:leave",
        is_one_shot=False,
        is_kafkas=True,
        task=Task.SESSION,
        phrase="Leave the shell.",
        examples=(("exit", "leave, as Ctrl-D does"),),
    ),
    Command(
        "help",
        "Display this help message.",
        "manual:show_help",
        is_kafkas=True,
        task=Task.SESSION,
        phrase="Show commands by task, or explain one.",
        examples=(("help time", "the commands of a task"),),
    ),
    Command(
        "history",
        "Print command history.",
        "control:history",
        (Argument("numEntriesToShow", "?", "The number of entries to show.", values=Values.TEXT),),
        is_one_shot=False,
        is_kafkas=True,
        task=Task.SESSION,
        phrase="Show the lines that were entered.",
        examples=(("history 20", "the last 20 lines"),),
    ),
    Command(
        "man",
        "Show the help text for a specific command.",
        "manual:man",
        (Argument("cmd", "", "The command to get help text for.", values=Values.COMMANDS),),
        is_kafkas=True,
        task=Task.SESSION,
        phrase="Explain a command.",
        examples=(("man find", "all about find"),),
    ),
)
