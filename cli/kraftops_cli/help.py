"""`kraftops help`: the help of a command, or a chapter of the manual."""

from collections.abc import Iterator

import click

from kraftops.errors import UsageError
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import ToolCommand, paragraphs
from kraftops_cli.syntax.nearest import nearest
from kraftops_cli.terminal.streams import Terminal

_MOST_PLACES = 3
"""Command lines in a hint: it stays a line."""
_OF_TITLE = 99
"""A title counts more than any text, which has a word at most some ten times."""


@click.command(
    cls=ToolCommand,
    syntax=Argparse4j(expands_files=False),
    name="help",
    **manual(__file__),
)
@click.argument("topic", metavar="[TOPIC…]", nargs=-1)
@click.pass_context
def help_(ctx: click.Context, /, topic: tuple[str, ...]) -> int:
    """Print the help of a command, chapters of the manual, or the list of both."""
    terminal: Terminal = ctx.obj
    root = ctx.find_root()
    if not topic:
        titles = dict.fromkeys(title for _, title, _ in _chapters(root))
        listed = "".join(f"  {title.lower()}\n" for title in titles)
        terminal.write(f"{root.get_help()}\n\nTopics of kraftops help:\n{listed}")
    elif of_command := _context_of(root, topic):
        terminal.write(f"{of_command.get_help()}\n")
    else:
        terminal.write(_chapters_text(root, " ".join(topic)))
    return 0


def _context_of(root: click.Context, words: tuple[str, ...]) -> click.Context | None:
    context = root
    for word in words:
        command = context.command
        below = command.get_command(context, word) if isinstance(command, click.Group) else None
        if below is None:
            return None
        context = command.context_class(below, parent=context, info_name=word)
    return context


def _commands(
    context: click.Context, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the command of a context and all its subcommands, with the words that run them."""
    command = context.command
    yield words, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (part := command.get_command(context, name)) is not None:
                yield from _commands(click.Context(part, parent=context), (*words, name))


def _chapters(root: click.Context) -> Iterator[tuple[str, str, str]]:
    """Yield each chapter: the words of its command, the title and the text."""
    for words, command in _commands(root):
        for title, text in getattr(command, "sections", {}).items():
            yield " ".join(words) or "kraftops", title, text


def _places_of(root: click.Context, words: str) -> list[str]:
    """Return command lines for *words*: titles and examples first, then the most mentions."""
    counts = {
        f"kraftops help {title.lower()}": _OF_TITLE * title.lower().count(words)
        + text.lower().count(words)
        for _, title, text in _chapters(root)
    }
    for path, command in _commands(root):
        if not isinstance(command, click.Group):
            options = (f"{param.opts} {getattr(param, 'help', '')}" for param in command.params)
            text = "\n".join((command.help or "", *options))
            counts[f"kraftops {' '.join(path)} --help"] = text.lower().count(words)
        for what, line in getattr(command, "examples", {}).items():
            if all(word in what.lower() for word in words.split()):
                counts[line] = 2 * _OF_TITLE
    return sorted(filter(counts.get, counts), key=lambda line: -counts[line])[:_MOST_PLACES]


def _plain(title: str) -> str:
    """Return a title as people may type it: `exit codes` is the exit status."""
    words = title.lower().replace("-", " ")
    return "exit status" if words in ("exit code", "exit codes") else words


def _code_named(topic: str) -> str | None:
    """Return the code of a finding, error or outcome that a topic is, if it is one."""
    from kraftops.checkup.codes import pages_of

    try:
        return pages_of(topic)[0].code
    except UsageError:
        return None


def _chapters_text(root: click.Context, topic: str) -> str:
    """Return the chapters with a title; the exit status of all commands is that of `kraftops`.

    Raises:
        UsageError: there is none.
    """
    words = _plain(topic)
    chapters = list(_chapters(root))
    texts: dict[str, str] = {}
    for tool, title, text in chapters:
        if _plain(title) == words:
            texts.setdefault(text, f"{tool}: {title}")
    if words == "exit status":
        texts = dict([next(iter(texts.items()))])
    if not texts:
        titles = [_plain(title) for _, title, _ in chapters]
        near = nearest(words, [*titles, *root.command.list_commands(root)])  # type: ignore[attr-defined]
        hint = f"perhaps {near} is meant" if near else "kraftops help lists them"
        places = _places_of(root, words)
        if code := _code_named(topic):
            places.insert(0, f"kraftops explain {code}")
        raise UsageError(
            f"there is no command and no topic {topic!r}",
            hint=f"see {', or '.join(places)}" if places else hint,
        )
    formatter = root.make_formatter()
    for text, heading in texts.items():
        with formatter.section(heading):
            for tag, paragraph in paragraphs(text):
                formatter.write_text(f"{tag}: {paragraph}" if tag else paragraph)
                formatter.write_paragraph()
    return formatter.getvalue()
