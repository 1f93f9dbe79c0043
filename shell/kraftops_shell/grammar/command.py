"""A command of the registry: a command with its arguments, flags, examples and task."""

import re
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from kraftops.fileio.packaged import packaged_parts

_EXAMPLE = re.compile(r"^    (\S.*)\n        (.*)$", re.MULTILINE)
_COUNTS = {"": "{0}", "?": "[{0}]", "*": "[{0} [{0} ...]]", "+": "{0} [{0} ...]"}


class Values(Enum):
    """The values of an argument or flag, for completion."""

    NODES = auto()
    """Paths of the tree."""
    STATES = auto()
    """Paths of the tree, or `source:` and a file."""
    COMMANDS = auto()
    HELP = auto()
    """Commands, tasks and operators, as `help` explains them."""
    FILES = auto()
    DIRECTORIES = auto()
    TOPICS = auto()
    """Names of topics."""
    BROKERS = auto()
    """Ids of brokers."""
    RACKS = auto()
    RECORD_TYPES = auto()
    """Types of metadata records, as `PARTITION_CHANGE_RECORD`."""
    COLUMNS = auto()
    """Columns of the command, separated by commas."""
    CONDITION = auto()
    """A condition on columns of the command, as of `--where`."""
    ALIASES = auto()
    SETTINGS = auto()
    """Settings and their values."""
    LINE = auto()
    """A command with its arguments."""
    TEXT = auto()
    """Nothing to complete, or the choices of a flag."""


class Task(Enum):
    """The task that a command is for; `help` has a part for each, in this order."""

    LOOK = ("look", "Look around")
    CLUSTER = ("cluster", "Ask the cluster")
    RISK = ("risk", "See what could go wrong")
    SEARCH = ("search", "Search")
    TIME = ("time", "Go back in time")
    CHECK = ("check", "Check and export")
    SESSION = ("session", "The session")

    def __init__(self, word: str, title: str) -> None:
        """Name a task: *word* is for `help WORD`."""
        self.word = word
        self.title = title


class Argument(NamedTuple):
    """A positional argument: *nargs* is `?`, `*`, `+`, or empty for one, as in argparse4j.

    *is_ours* says that Kafka's form does not have it.
    """

    name: str
    nargs: str
    help: str
    values: Values = Values.NODES
    is_ours: bool = False


class Flag(NamedTuple):
    """An option of a command in our form; *help* is also its phrase in the menu.

    *value* is the placeholder of its value in the help, None for an option without a value. If
    *is_list*, all words up to the next option are values.
    """

    name: str
    value: str | None
    help: str
    choices: tuple[str, ...] = ()
    is_list: bool = False
    values: Values = Values.TEXT

    @property
    def label(self) -> str:
        """The flag with its value, as usage and help have it."""
        return self.name if self.value is None else f"{self.name} {self.value}"


class Command(NamedTuple):
    """A command; *function* is `module:function` in `kraftops_shell.commands`.

    The function takes the session and the call, and returns an exit code or None. *help* is a line
    for `help`.
    """

    name: str
    help: str
    function: str
    arguments: tuple[Argument, ...] = ()
    flags: tuple[Flag, ...] = ()
    is_one_shot: bool = True
    """Whether it makes sense as the only command of a process."""
    is_kafkas: bool = False
    """Whether Kafka's shell has it; its help and the help of its arguments are Kafka's."""
    task: Task = Task.LOOK
    phrase: str = ""
    """A line for our menu and help where that of Kafka's shell, *help*, is another."""
    is_word: bool = False
    """Whether Kafka's form takes it on a terminal, too."""

    @property
    def details(self) -> str:
        """What `man` says of it beyond its arguments; it is in `manuals.txt`."""
        return _manuals()[self.name].split("\n    ", 1)[0].strip("\n")

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """Lines of the command with their meanings; `help` has the first."""
        return tuple(_EXAMPLE.findall(_manuals()[self.name]))

    @property
    def line(self) -> str:
        """A line about the command, in our form."""
        return self.phrase or self.help

    def usage_words(self, *, with_flags: bool) -> list[str]:
        flags = [f"[{flag.label}]" for flag in self.flags] if with_flags else []
        return flags + [
            _COUNTS[argument.nargs].format(argument.name) for argument in self.arguments
        ]

    @property
    def usage(self) -> str:
        """The usage in our form."""
        return " ".join(["usage:", self.name, *self.usage_words(with_flags=True)])


@cache
def _manuals() -> dict[str, str]:
    """Return details and examples by the name of the command."""
    texts = packaged_parts(__file__, "manuals.txt", "# ")
    columns = texts.pop("COLUMNS").strip("\n")  # of all tables
    return {name: text.replace("{COLUMNS}", columns) for name, text in texts.items()}
