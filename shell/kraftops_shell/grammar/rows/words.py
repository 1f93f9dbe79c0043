"""Words of a session: its help, its lines, its end."""

from __future__ import annotations

from functools import partial

from kraftops_shell.grammar.command import Argument, Command, Flag, Task, Values
from kraftops_shell.grammar.rows import browsing

_word = partial(Command, task=Task.SESSION, is_word=True)
_LS = next(row for row in browsing.ROWS if row.name == "ls")

ROWS: tuple[Command, ...] = (
    _word(
        "?",
        "Show commands by task, or explain one: help.",
        "words.help:show_help",
        (Argument("topic", "?", "A command or a task.", Values.HELP),),
        is_one_shot=False,
    ),
    _word(
        "alias",
        "Show aliases, or name a line.",
        "words.settings:alias",
        (Argument("NAME=LINE", "*", "The name, and the line that it stands for.", Values.LINE),),
        is_one_shot=False,
    ),
    _word(
        "clear",
        "Clear the terminal.",
        "control:clear",
        is_one_shot=False,
    ),
    Command(
        "exit",
        "Exit the metadata shell.",
        "control:leave",
        is_one_shot=False,
        is_kafkas=True,
        task=Task.SESSION,
        phrase="Leave the shell.",
    ),
    Command(
        "help",
        "Display this help message.",
        "words.help:show_help",
        (Argument("topic", "?", "A command or a task.", Values.HELP, is_ours=True),),
        is_kafkas=True,
        task=Task.SESSION,
        phrase="Show commands by task, or explain one.",
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
    ),
    _LS._replace(
        name="ll",
        help="List nodes with details: ls -l.",
        function="ls:ll",
        flags=tuple(flag for flag in _LS.flags if flag.name != "-l"),
        is_one_shot=False,
        is_kafkas=False,
        phrase="",
        is_word=True,
    ),
    Command(
        "man",
        "Show the help text for a specific command.",
        "manual:man",
        (Argument("cmd", "", "The command to get help text for.", values=Values.COMMANDS),),
        is_kafkas=True,
        task=Task.SESSION,
        phrase="Explain a command.",
    ),
    _word(
        "quit",
        "Leave the shell: exit.",
        "control:leave",
        is_one_shot=False,
    ),
    _word(
        "set",
        "Show settings, or change one.",
        "words.settings:set_command",
        (
            Argument("NAME", "?", "The setting.", Values.SETTINGS),
            Argument("VALUE", "?", "Its value.", Values.SETTINGS),
        ),
        is_one_shot=False,
    ),
    _word(
        "source",
        "Run the lines of a file.",
        "words.scripts:source",
        (Argument("FILE", "", "The file; a line with # is a comment.", Values.FILES),),
        is_one_shot=False,
    ),
    _word(
        "unalias",
        "Remove an alias.",
        "words.settings:unalias",
        (Argument("NAME", "", "The alias.", Values.ALIASES),),
        is_one_shot=False,
    ),
    _word(
        "watch",
        "Run a command again and again.",
        "words.scripts:watch",
        (Argument("COMMAND", "+", "The command and its arguments.", Values.LINE),),
        (Flag("-n", "SECONDS", "Wait this long between two runs; 2 if it is not given."),),
        is_one_shot=False,
    ),
)
