"""The generated pages of the site: commands, codes, columns, schemas, clients, shell, library."""

import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import click

import kraftops
from answer_schemas import manual_of
from command_tree import REPOSITORY, Tool, names, programs, summary
from generate import answer_of, found_by
from kraftops.checkup.codes import INCIDENT, CodePage
from kraftops.checkup.codes import pages as code_pages
from kraftops.wire.config.client_properties import HONOURED, SECURITY
from kraftops_cli.root import root
from kraftops_cli.syntax.chapters import EXIT_CODES
from kraftops_cli.syntax.command import paragraphs
from kraftops_cli.syntax.common_options import COMMON_OPTIONS
from kraftops_shell.commands.manual import manual_text
from kraftops_shell.grammar.registry import COMMANDS

SCHEMAS = "core/kraftops/json_schemas"
_COLUMNS = 76  # of texts of the shell
_CODES = {page.code for page in code_pages()}
_FINDERS = {
    "check": "kafka-dump-log --check",
    "verify": "kafka-storage verify",
    "shell": "kraftops metadata-shell verify",
    "report": "kraftops report",
    "recover": "kafka-storage recover",
    "doctor": "kraftops doctor",
    "incidents": "kraftops incidents",
    "operations": "kafka-cluster operations",
    "repair": "kafka-cluster repair",
    "unregister": "kafka-cluster unregister",
}
"""Commands by the tools of the catalogue and of other codes."""


def pages() -> dict[str, str]:
    """Return the Markdown of all pages, by path."""
    texts = {
        **_commands(),
        **_codes(),
        "reference/columns.md": _columns(),
        "reference/clients.md": _clients(),
        "reference/exit-codes.md": _exit_codes(),
        "reference/shell.md": _shell(),
        "reference/library.md": _library(),
        "reference/schemas.md": _schemas(),
    }
    for path in sorted((REPOSITORY / SCHEMAS).glob("*.json")):
        texts[f"reference/schemas/{path.name}"] = path.read_text("utf-8")
    return texts


def words() -> dict[str, str]:
    """Return the pages that texts are linked to: by codes in brackets, and by commands."""
    return {f"[{code}]": f"reference/codes/{code}" for code in _CODES} | {
        " ".join(spelled): _name(tool).removesuffix(".md")
        for tool in _tools()
        for spelled in (tool.words, _drop_in(tool))
        if spelled
    }


def _tools() -> list[Tool]:
    return [*next(tool for tool in programs() if tool.command is root).walk()]


def _drop_in(tool: Tool) -> tuple[str, ...]:
    """Return the words of a command under Kafka's name; none where there is none."""
    installed = {program.words[0] for program in programs()}
    own = tool.words[1:]
    return (f"kafka-{own[0]}", *own[1:]) if own and f"kafka-{own[0]}" in installed else ()


def _name(tool: Tool) -> str:
    return f"reference/commands/{'-'.join(tool.words[1:]) or 'kraftops'}.md"


def _commands() -> dict[str, str]:
    tools = _tools()
    lines = [
        "# Commands and options",
        "",
        "Kafka's names and `kraftops` run the same commands.",
        "",
    ]
    for tool in tools:
        link = _name(tool).rpartition("/")[2]
        title = " ".join(_drop_in(tool) or tool.words)
        lines.append(f"- [{title}]({link}): {text_of(summary(tool.command.help))}.")
    texts = {_name(tool): "\n".join(_command(tool)) + "\n" for tool in tools}
    return {**texts, "reference/commands/index.md": "\n".join(lines) + "\n"}


def _command(tool: Tool) -> Iterator[str]:
    command, kafkas = tool.command, " ".join(_drop_in(tool))
    yield from (f"# {kafkas or ' '.join(tool.words)}", "")
    yield from _section(f"{command.help}\n\n{command.epilog or ''}")
    yield ""
    usage = " ".join(command.collect_usage_pieces(tool.context))
    spelled = [f"{name} {usage}" for name in (kafkas, " ".join(tool.words)) if name]
    yield from ("```text", *spelled, "```", "")
    yield from _examples(getattr(command, "examples", {}))
    if tool.subtools:
        yield from ("## Commands", "")
        for sub in tool.subtools:
            link = _name(sub).rpartition("/")[2]
            yield f"- [{sub.words[-1]}]({link}): {text_of(summary(sub.command.help))}."
        yield ""
    yield from ("## Options", "")
    yield from (_option(option, tool.context) for option in tool.options)
    yield ""
    if tool.command is not root:
        common = ", ".join(f"`{option.opts[0]}`" for option in COMMON_OPTIONS)
        yield from (
            (
                f"Every command takes {common} too, and knows the environment variables of "
                "[kraftops](kraftops.md#environment)."
            ),
            "",
        )
    for title, text in getattr(command, "sections", {}).items():
        yield from (f"## {title}", "", *_section(text), "")
    yield from _findings(command)
    if answer := answer_of(command):
        yield from ("## JSON fields", "")
        if answer.help:
            yield from (text_of(answer.help), "")
        yield from (
            f"- `{path}`: {text_of(meaning)}." for path, meaning in manual_of(answer.fields)
        )


def _examples(examples: Mapping[str, str]) -> Iterator[str]:
    if examples:
        yield from ("## Examples", "", "```sh")
        for what, example in examples.items():
            yield from (f"# {what}", example)
        yield from ("```", "")


def _option(option: click.Option, context: click.Context) -> str:
    metavar = "" if option.is_flag else f" {option.make_metavar(context)}"
    _, text = option.get_help_record(context) or ("", "")
    return f"- `{', '.join(names(option))}{metavar}`: {text_of(' '.join(text.split()))}"


def _section(text: str) -> Iterator[str]:
    for tag, paragraph in paragraphs(text):
        if tag:
            yield f"- `{tag}`: {text_of(paragraph)}"
        else:
            yield from ("", text_of(paragraph))


def _findings(command: click.Command) -> Iterator[str]:
    rows = found_by(command)
    if rows:
        yield from ("", "## Codes of findings", "")
    yield from (f"- `[{row.code}]` ({row.severity}): {text_of(row.title)}" for row in rows)


def _codes() -> dict[str, str]:
    by_code: dict[str, list[CodePage]] = defaultdict(list)
    for page in code_pages():
        by_code[page.code].append(page)
    texts = {
        f"reference/codes/{code}.md": "\n".join(_code(code, group)) + "\n"
        for code, group in by_code.items()
    }
    lines = [
        "# Codes of findings and errors", "",
        ("Each finding and each error has a code that never changes its meaning. It stands in "
        "brackets after the text, and in JSON as `code` or `error`. `kraftops explain CODE` prints "
        "its page."), "",
        ("**Severity** of findings: *loss*: records or metadata are gone, or the next start loses "
        "them. *stops*: a server will not start or join. *risk*: it hurts at the next failure or "
        "start. *note*: good to know."), "",
    ]  # fmt: skip
    for kind in dict.fromkeys(page.kind for page in code_pages()):
        lines += [f"## Kind: {kind}", ""]
        lines += [
            f"- [{page.code}]({page.code}.md) ({_scale(page)}): {text_of(page.title)}"
            for page in code_pages()
            if page.kind == kind
        ]
        lines.append("")
    return {**texts, "reference/codes/index.md": "\n".join(lines)}


def _scale(page: CodePage) -> str:
    if page.severity:
        return f"severity: {page.severity}"
    return "cause" if page.exit_code is None else f"exit code {page.exit_code}"


def _code(code: str, group: list[CodePage]) -> Iterator[str]:
    yield from (f"# {code}", "")
    for page in group:
        title = text_of(page.title[0].upper() + page.title[1:])
        yield from (f"**{title}** ({page.kind}, {_scale(page)})", "")
        sections = {
            "What to do": page.action,
            "What it means": page.meaning,
            "How the log shows it" if page.kind == INCIDENT else "What Kafka does": page.kafka,
            "How to be sure": page.proof,
        }
        for heading, text in sections.items():
            if text:
                yield from (f"## {heading}", "", text_of(text), "")
        if page.tools:
            yield from (f"Found by {', '.join(f'`{_FINDERS[tool]}`' for tool in page.tools)}.", "")
        else:
            yield from ("The message says which file, node or option, and what to do.", "")


def _columns() -> str:
    schema = json.loads((REPOSITORY / SCHEMAS / "row.v1.json").read_text("utf-8"))
    arrow = REPOSITORY / "core/kraftops/arrow_schemas"
    tables = {
        path.name.partition(".")[0]: {
            field["name"]: field["type"] for field in json.loads(path.read_text("utf-8"))["fields"]
        }
        for path in sorted(arrow.glob("*.json"))
    }
    lines = [
        "# Columns of rows", "",
        ("`kafka-dump-log --format json|csv|parquet`, the library and the Spark source have the "
        "same columns in the same order. Arrow types are those of Parquet and Spark, by decoder "
        "where they differ."), "",
        "| column | Arrow type | meaning |", "|---|---|---|",
    ]  # fmt: skip
    for name, field in schema["properties"].items():
        kinds = {table.get(name, "-") for table in tables.values()}
        lines.append(
            f"| `{name}` | {', '.join(sorted(kinds))} | {text_of(field.get('description', ''))} |"
        )
    lines += ["", "## Arrow fields by decoder", ""]
    for decoder, table in tables.items():
        fields = ", ".join(f"`{name}` {kind}" for name, kind in table.items())
        lines.append(f"- **{decoder}**: {fields}")
    return "\n".join(lines) + "\n"


def _clients() -> str:
    lines = [
        "# Configuration of clients", "",
        ("`--command-config FILE` takes the `client.properties` of Kafka's own tools. These keys "
        "have an effect:"), "",
        *(f"- `{key}`" for key in sorted(HONOURED)), "",
        "## Keys that are refused", "",
        ("A key that decides about security is never ignored: one that kraftops cannot follow "
        "ends the command, unless it has one of the values named here."), "",
    ]  # fmt: skip
    for key, allowed in sorted(SECURITY.items()):
        lines.append(f"- `{key}`" + (f": {', '.join(sorted(allowed))}" if allowed else ""))
    return "\n".join(lines) + "\n"


def _exit_codes() -> str:
    lines = ["# Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {text_of(meaning)} |" for code, meaning in EXIT_CODES.items()]
    lines += [
        "", ("Under Kafka's names and without `--format json`, a case that Kafka's tool has keeps "
        "Kafka's exit code."), "",
    ]  # fmt: skip
    return "\n".join(lines)


def _shell() -> str:
    lines = ["# Commands of the metadata shell", "", "`help` in the shell lists them by task.", ""]
    for command in COMMANDS:
        text = manual_text(command, _COLUMNS, with_flags=True).rstrip()
        lines += [f"## {command.name}", "", "```text", text, "```", ""]
    return "\n".join(lines)


def _library() -> str:
    stub = (REPOSITORY / "core/kraftops/__init__.pyi").read_text("utf-8")
    lines = ["# The Python library", "", "All public names of `kraftops`:", ""]
    for name in sorted(re.findall(r" as (\w+)$", stub, re.MULTILINE)):
        thing = getattr(kraftops, name)
        called = thing if callable(thing) else type(thing)
        try:
            signature = f"{name}{inspect.signature(called)}"
        except (TypeError, ValueError):
            signature = name
        text = inspect.getdoc(thing) or ""
        lines += [
            f"## {name}",
            "",
            "```text",
            re.sub(r" at 0x\w+", "", signature),
            "",
            text,
            "```",
            "",
        ]
    return "\n".join(lines)


def _schemas() -> str:
    lines = ["# JSON schemas", "", "Each answer of `--format json` has a schema:", ""]
    for path in sorted((REPOSITORY / SCHEMAS).glob("*.json")):
        title = json.loads(path.read_text("utf-8")).get("title", "")
        lines.append(f"- [{path.name}](schemas/{path.name}): {text_of(title)}")
    return "\n".join(lines) + "\n"


def text_of(text: str) -> str:
    """Return text as Markdown shows it as it is, with codes in brackets as code."""
    pieces = re.split(r"(\[[a-z-]+\]|--?[a-z][\w-]*|<[^>\s]+>)", text)
    return "".join(_piece(piece) for piece in pieces)


def _piece(piece: str) -> str:
    is_code = piece.startswith("[") and piece[1:-1] in _CODES
    if is_code or re.fullmatch(r"--[a-z][\w-]*", piece):
        return f"`{piece}`"
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", piece)
