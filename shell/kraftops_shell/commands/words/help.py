"""The command help: commands by task, with examples, and what combines them."""

from collections.abc import Iterable, Iterator

from kraftops_shell.commands.manual import print_commands, print_manual
from kraftops_shell.commands.views.columns import column_words, columns_of
from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.grammar.command import Command, Task
from kraftops_shell.grammar.nearest import meant
from kraftops_shell.session.session import Session
from kraftops_terminal.widths import width_of_text

_GAP = 2
_WIDEST = 44
"""Examples that are wider have their meaning on the next line."""
_NARROWEST = 24
"""Least width of a meaning beside its example."""
COMBINE = "combine"
KEYS = "keys"
_PARTS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    COMBINE: (
        "Combine",
        (
            ("ls /image | wc -l", "| hands the output to a program"),
            ("export /image > all.json", "> writes it to a file, >> adds to one"),
            ("diff @4000 @2h", "@ is the state at an offset, a time, or a time ago"),
            ("cd /image; ls", "; separates commands"),
            ("ls '/image/topics/byName/a;b'", "quotes and \\ keep signs and blanks as they are"),
            ("ls /image/topics/byName/orders*", "* any text, ? one character, {a,b} either"),
        ),
    ),
    KEYS: (
        "Keys",
        (
            ("Tab", "complete; the menu shows what may follow"),
            ("Right, End", "take the grey suggestion, an earlier line"),
            ("Up, Ctrl-R", "earlier lines, and search in them"),
            ("Ctrl-T", "search a path by some of its letters"),
            ("Ctrl-C, Ctrl-D", "leave the line, leave the shell"),
            ("set editing-mode vi", "keys of vi instead of emacs"),
        ),
    ),
}


def topics() -> tuple[str, ...]:
    return (*(task.word for task in Task), *_PARTS)


def show_help(session: Session, call: Call) -> None:
    """Print an overview, a task, or a manual; in Kafka's form, the list of Kafka's shell."""
    if not call.words:
        if session.is_kafka:
            print_commands(session)
        else:
            _print_overview(session)
        return
    topic = call.words[0]
    commands = {**session.commands, **session.words}
    task = next((candidate for candidate in Task if candidate.word == topic), None)
    if topic in commands:
        print_manual(session, commands[topic])
        _print_columns(session, topic)
    elif task:
        _print_task(session, task)
    elif topic in _PARTS:
        _print(session, *_PARTS[topic])
    else:
        near = meant(topic, {**commands, **dict.fromkeys(topics())})
        hint = f": did you mean {' or '.join(near)}?" if near else f" ({', '.join(topics())})"
        raise BadLineError(f"help: there is no command or task {topic}{hint}")


def _print_columns(session: Session, name: str) -> None:
    """Print the columns of a view, with their types and meanings."""
    columns = columns_of(name)
    if columns:
        session.out("\n")
        _print(session, "columns:", [(column.name, column_words(column)) for column in columns])


def _print_overview(session: Session) -> None:
    for task in Task:
        rows = [command.examples[0] for command in _of(session, task)]
        _print(session, f"{task.title} (help {task.word})", rows)
    for part, (title, parts) in _PARTS.items():
        _print(session, f"{title} (help {part})", parts)
    session.out("help COMMAND explains one of them.\n")


def _print_task(session: Session, task: Task) -> None:
    _print(session, task.title, [(command.name, command.line) for command in _of(session, task)])
    _print(session, "Examples", [row for command in _of(session, task) for row in command.examples])
    session.out("help COMMAND explains one of them.\n")


def _of(session: Session, task: Task) -> Iterator[Command]:
    commands = {**session.commands, **session.words}
    return (commands[name] for name in sorted(commands) if commands[name].task is task)


def _print(session: Session, title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Print a title and rows of an example and its meaning, beside it or below."""
    rows = list(rows)
    if not rows:
        return
    widths = [width for line, _ in rows if (width := width_of_text(line)) <= _WIDEST]
    column = max(widths, default=0) + 2 * _GAP
    if session.text_width - column < _NARROWEST:
        column = 0
    session.out(f"{title}\n")
    for line, meaning in rows:
        below = " " * (column or 3 * _GAP)
        room = session.text_width - len(below) - 1
        first, *others = _folded(meaning, room)
        begin = f"{'':{_GAP}}{line}"
        if column and len(begin) + _GAP <= column:
            session.out(f"{begin:<{column}}{first}\n")
        else:
            session.out(f"{begin}\n{below}{first}\n")
        session.out("".join(f"{below}{other}\n" for other in others))
    session.out("\n")


def _folded(text: str, room: int) -> list[str]:
    """Wrap a text; words that are wider than *room* stay whole."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines
