"""Write all generated files, or `--check` that they are current.

Man pages and completions come from the commands, the fields of records from their tables, the Arrow
schemas from the columns of rows, JSON schemas from the fields of answers.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module

import click

import completions
import finding_schema
import record_types
from answer_schemas import manual_of, schema_of
from command_tree import REPOSITORY, Tool, names, programs, summary
from kraftops.answers.fields import Answer, Field, parts
from kraftops.answers.types import TEXT
from kraftops.answers.version import JSON_VERSION
from kraftops.dump.check.answer import CHECK
from kraftops.dump.scan.arrow import arrow_schema
from kraftops.dump.summary.answer import LOGS
from kraftops.findings.catalogue import CatalogueRow, catalogue
from kraftops.records.internal_topics import decoder_names
from kraftops.timeline.answer import CHANGES, INCIDENTS
from kraftops.views import skew
from kraftops.views.groups import GROUPS
from kraftops.views.registry import VIEWS
from kraftops_cli.cluster.moving.access import CHECK_PERMISSIONS
from kraftops_cli.metadata_shell.command import metadata_shell
from kraftops_cli.syntax.chapters import environment
from kraftops_cli.syntax.command import ToolCommand, ToolGroup, paragraphs
from kraftops_cli.syntax.common_options import COMMON_OPTIONS, COMMON_TITLE
from kraftops_cli.syntax.lazy_group import LazyGroup
from kraftops_cli.version import VERSION
from kraftops_shell.commands.manual import manual_text
from kraftops_shell.grammar.registry import COMMANDS
from report_schema import report_schema

_ROFF = {
    "\\": r"\e",
    "-": r"\-",
    "'": r"\(aq",
    '"': r"\(dq",
    "^": r"\(ha",
    "`": r"\(ga",
    "~": r"\(ti",
    "…": "...",
}
((_ENVIRONMENT, _COMMON_VARIABLES),) = environment().items()
_LONGEST_TITLE = 27  # it stands on both sides of the manual's name, in 78 columns
_SHELL_TERMINAL = 76  # columns: what man shows of a terminal of 80, without the indentation
_ARROW_SCHEMAS = "core/kraftops/arrow_schemas"
COPIES_OF_VERSION = {
    "core/native/Cargo.lock": r'"kraftops-engine"\nversion = "',
    "core/native/Cargo.toml": r'^version = "',
    "docs/guides/air-gapped.md": "kraftops-",
    "packaging/ansible/galaxy.yml": "^version: ",
    "packaging/kubernetes/debug.yaml": "kraftops:",
    "packaging/kubernetes/format.yaml": "kraftops:",
}
"""What is before the version in files of others' formats, which cannot read it elsewhere."""
_NAMES_OF_ROWS = {"broker", "group", "of", "partition", "topic"}
_CHOSEN = "--columns chooses fields of the rows. "
_LINES = "--format ndjson prints each row on a line of its own, without the object."
_FINDERS = {
    "kafka-dump-log": "check",
    "dump-log": "check",
    "verify": "verify",
    "recover": "recover",
    "report": "report",
    "doctor": "doctor",
    "metadata-shell": "shell",
    "kafka-metadata-shell": "shell",
}
"""The tools of the catalogue by the names of their commands."""


def generated() -> dict[str, str]:
    """Return the texts of all files, by path from the top of the repository."""
    texts = record_types.modules() | arrow_schemas() | json_schemas()
    texts |= finding_schema.schemas() | copies_of_version()
    by_command: dict[click.Command, list[Tool]] = {}
    for program in programs():
        name = program.words[0]
        texts[f"completions/bash/{name}"] = completions.bash(program)
        texts[f"completions/zsh/_{name}"] = completions.zsh(program)
        texts[f"completions/fish/{name}.fish"] = completions.fish(program)
        for tool in program.pages():
            by_command.setdefault(tool.command, []).append(tool)
    # A command is described under the name of its own, where it has one.
    groups = [sorted(tools, key=lambda tool: len(tool.words)) for tools in by_command.values()]
    for tool, *others in groups:
        also = [_page(first) for first, *_ in groups if first is not tool]
        texts[f"man/{_page(tool)}.1"] = man_page([tool, *others], also)
        for other in others:
            texts[f"man/{_page(other)}.1"] = f".so man1/{_page(tool)}.1\n"
    return texts


def copies_of_version() -> dict[str, str]:
    """Return the files that repeat the version, with the current one, by path."""
    return {
        path: re.sub(
            rf"(?m)({before})\d+\.\d+\.\d+",
            rf"\g<1>{VERSION}",
            (REPOSITORY / path).read_text("utf-8"),
        )
        for path, before in COPIES_OF_VERSION.items()
    }


def arrow_schemas() -> dict[str, str]:
    """Return the Arrow schemas of rows, for each decoder and for several, by path."""
    by_name = {name: [name] for name in decoder_names()} | {"several": list(decoder_names())}
    texts = {}
    for name, decoders in by_name.items():
        fields = [
            {"name": field.name, "type": str(field.type), "nullable": field.nullable}
            for field in arrow_schema(decoders)
        ]
        lines = ",\n".join(f"    {json.dumps(field)}" for field in fields)
        head = f'{{\n  "decoder": "{name}",\n  "formatVersion": 1,\n  "fields": [\n'
        texts[f"{_ARROW_SCHEMAS}/{name}.v1.json"] = f"{head}{lines}\n  ]\n}}\n"
    return texts


def json_schemas() -> dict[str, str]:
    """Return the schemas of answers that are defined by fields, by path."""
    texts = {}
    # A command has the name of Kafka's tool in its schema.
    for program in sorted(programs(), key=lambda program: program.words == ("kraftops",)):
        for tool in program.walk():
            answer = answer_of(tool.command)
            name = "-".join(tool.words).removeprefix("kraftops-").removeprefix("kafka-")
            path = f"core/kraftops/json_schemas/{name}.v{JSON_VERSION}.json"
            if answer and path not in texts:
                title = f"{' '.join(tool.words)} --format json"
                command = str(tool.command.name)
                schema = schema_of(answer, command, title=title, version=JSON_VERSION)
                texts[path] = (
                    json.dumps(finding_schema.with_codes(schema), indent=2, ensure_ascii=False)
                    + "\n"
                )
    of_shell = {"changes": CHANGES, "incidents": INCIDENTS, **_views()}
    others = (
        ("dump-log", "check", CHECK, "kafka-dump-log --check --format json"),
        ("dump-log", "summary", LOGS, "kafka-dump-log --summary --format json"),
        (
            "cluster",
            "check-permissions",
            CHECK_PERMISSIONS,
            "kafka-cluster COMMAND --check-permissions --format json",
        ),
        *(
            ("metadata-shell", name, answer, f"{name} --format json of the metadata shell")
            for name, answer in of_shell.items()
        ),
    )
    for tool, command, answer, title in others:
        schema = schema_of(answer, command, title=title, version=JSON_VERSION)
        path = f"core/kraftops/json_schemas/{tool}-{command}.v{JSON_VERSION}.json"
        texts[path] = (
            json.dumps(finding_schema.with_codes(schema), indent=2, ensure_ascii=False) + "\n"
        )
    report = json.dumps(finding_schema.with_codes(report_schema()), indent=2, ensure_ascii=False)
    texts[f"core/kraftops/json_schemas/report.v{JSON_VERSION}.json"] = f"{report}\n"
    return texts


def _views() -> dict[str, Answer]:
    """Return the answers of the shell's commands that print rows, by name.

    Only lists and what names a row are never null. A record may have values that are not known.
    """
    columns_by_name = {view.name: view.columns for view in (*VIEWS.values(), GROUPS)}
    answers = {}
    for name, columns in (*columns_by_name.items(), ("skew", skew.COLUMNS)):
        is_chosen = name != "skew"  # by --columns
        rows = [
            replace(
                field,
                type=replace(field.type, kinds=_kinds(field), values=frozenset()),
                may_be_null=field.name not in _NAMES_OF_ROWS and not field.type.items,
                may_be_missing=is_chosen,
            )
            for field in columns
        ]
        help_text = f"{_CHOSEN if is_chosen else ''}{_LINES}"
        list_name = "shares" if name == "skew" else name
        answers[name] = Answer((parts(list_name, "the rows", rows),), help_text)
    return answers


def _kinds(field: Field) -> frozenset[str]:
    """Return the kinds of its values in JSON, which has no numbers that are not finite."""
    return field.type.kinds | {TEXT} if field.numeral == "decimal" else field.type.kinds


def answer_of(command: click.Command) -> Answer | None:
    """Return the definition of a command's answer, if it has one."""
    module, _, name = getattr(command, "answer", "").partition(":")
    return getattr(import_module(module), name) if module else None


def stale() -> list[str]:
    """Return the paths of files that differ, are missing, or are no longer generated."""
    texts = generated()
    folders = ("completions", "man", _ARROW_SCHEMAS)
    paths = {path for folder in folders for path in (REPOSITORY / folder).rglob("*")}
    paths |= {REPOSITORY / name for name in texts}
    there = {
        path.relative_to(REPOSITORY).as_posix(): path.read_text("utf-8")
        for path in paths
        if path.is_file()
    }
    return sorted(path for path in texts | there if texts.get(path) != there.get(path))


def man_page(tools: list[Tool], also: list[str]) -> str:
    """Return the page of the command of *tools*; *also* are the pages under SEE ALSO."""
    tool = tools[0]
    about = summary(tool.command.help)
    source = f"kraftops {VERSION}"
    title = _page(tool) if len(_page(tool)) <= _LONGEST_TITLE else tool.words[-1]
    heading = f'.TH {roff(title).upper()} 1 "" "{source}" "KraftOps Manual"'
    lines = [heading, ".nh", ".SH NAME"]  # without .nh it breaks inside kafka-metadata-shell
    # whatis(1) wants this on one line.
    lines.append(f"{roff(', '.join(map(_page, tools)))} \\- {roff(about[:1].lower() + about[1:])}")
    lines.append(".SH SYNOPSIS")
    for number, spelled in enumerate(tools):
        lines += [".br"] if number else []
        lines.append(_usage(spelled))
    lines.append(".SH DESCRIPTION")
    lines += _text(f"{tool.command.help}\n\n{tool.command.epilog or ''}")
    is_tool = isinstance(tool.command, ToolGroup)
    if tool.subtools:
        lines.append(".SH COMMANDS")
        for sub in tool.subtools:
            lines += _subcommand(sub) if is_tool else _command(sub)
    lines.append(".SH OPTIONS")
    lines += _options(tool)
    if COMMON_OPTIONS[0] in tool.options or tool.words[0].startswith("kafka-"):
        lines += _section(COMMON_TITLE)
        if is_tool:
            lines += _text("Each command takes these options.")
        for option in COMMON_OPTIONS:
            lines += _option(option, tool.context)
    if tool.command is metadata_shell:
        lines += _shell_commands()
    lines += _extras(tool.command, _section)
    lines += _environment(tool.command)
    lines += [".SH SEE ALSO", ",\n".join(f"{_bold(page)}(1)" for page in also)]
    # A section begins a paragraph by itself.
    return re.sub(r"^(\.SH .*\n)\.PP\n", r"\1", "\n".join(lines) + "\n", flags=re.MULTILINE)


def _usage(tool: Tool) -> str:
    usage = " ".join(tool.command.collect_usage_pieces(tool.context))
    return f"{_bold(' '.join(tool.words))} {_italic(usage)}"


def _command(tool: Tool) -> Iterator[str]:
    """Yield a line about a command with a page of its own."""
    yield from (".TP", _bold(tool.words[-1]), roff(summary(tool.command.help)) + ".")


def _subcommand(tool: Tool) -> Iterator[str]:
    """Yield the section of a subcommand without a page of its own."""
    yield from (f".SS {roff(tool.words[-1])}", _usage(tool))
    yield from _text(f"{tool.command.help}\n\n{tool.command.epilog or ''}")
    yield from _options(tool, but=tool.command.get_help_option(tool.context))
    yield from _extras(tool.command, _part)


def _shell_commands() -> Iterator[str]:
    """Yield the manuals of the shell's commands, as its `man` prints them."""
    yield from _section("Shell commands")
    kafkas = [command.name for command in COMMANDS if command.is_kafkas]
    inside = [command.name for command in COMMANDS if not command.is_one_shot]
    yield from _text(
        f"Kafka's form has {_listed(kafkas)}, without options. For interactive use alone are "
        f"{_listed(inside)}."
    )
    for command in COMMANDS:
        yield f".SS {roff(command.name)}"
        yield from (".EX", roff(manual_text(command, _SHELL_TERMINAL, with_flags=True).rstrip()))
        yield ".EE"


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _options(tool: Tool, but: click.Option | None = None) -> Iterator[str]:
    for option in tool.options:
        if option is not but and option not in COMMON_OPTIONS:
            yield from _option(option, tool.context)


def _option(option: click.Option, context: click.Context) -> Iterator[str]:
    metavar = "" if option.is_flag else " " + _italic(option.make_metavar(context))
    _, text = option.get_help_record(context) or ("", "")
    yield ".TP"
    yield ", ".join(_bold(name) for name in names(option)) + metavar
    yield roff(" ".join(text.split()))


def _extras(command: click.Command, heading: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the examples, then the sections."""
    if not isinstance(command, ToolCommand | LazyGroup):
        return
    if command.examples:
        yield from heading("Examples")
    for what, example in command.examples.items():
        yield from (".PP", roff(what[:1].upper() + what[1:]) + ":")
        yield from (".RS 4", ".EX", roff(example), ".EE", ".RE")
    for title, text in command.sections.items():
        if title != _ENVIRONMENT:
            yield from heading(title)
            yield from _text(text)
    yield from _findings(command, heading)
    if answer := answer_of(command):
        yield from heading("JSON fields")
        if answer.help:
            yield from _text(answer.help)
        for path, meaning in manual_of(answer.fields):
            yield from (".TP", _bold(path), f"{roff(meaning)}.")


def _environment(command: click.Command) -> Iterator[str]:
    """Yield the section about variables: those of the command, then those of all."""
    own = getattr(command, "sections", {}).get(_ENVIRONMENT, _COMMON_VARIABLES)
    yield from _section(_ENVIRONMENT)
    yield from _text("\n".join(dict.fromkeys([own, _COMMON_VARIABLES])))


def _findings(command: click.Command, heading: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the codes of the findings of a command, as the catalogue has them."""
    rows = found_by(command)
    if rows:
        yield from heading("Codes of findings")
    for row in rows:
        yield from (
            ".TP",
            _bold(row.code),
            f"{roff(row.title)} ({row.severity}). {roff(row.action)}",
        )


def found_by(command: click.Command) -> list[CatalogueRow]:
    """Return the rows of the catalogue that a command finds."""
    tool = _FINDERS.get(command.name or "")
    return [row for row in catalogue().values() if tool in row.tools]


def _section(title: str) -> Iterator[str]:
    yield f".SH {roff(title.upper())}"


def _part(title: str) -> Iterator[str]:
    yield from (".PP", _bold(title))


def _text(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, and the items of its lists."""
    for tag, paragraph in paragraphs(text):
        yield from (".TP", _bold(tag)) if tag else (".PP",)
        yield roff(paragraph)


def roff(text: str) -> str:
    """Return *text* quoted for roff."""
    escaped = "".join(_ROFF.get(sign, sign) for sign in text)
    return re.sub(r"^\.", r"\\&.", escaped, flags=re.MULTILINE)


def _bold(text: str) -> str:
    return rf"\fB{roff(text)}\fR"


def _italic(text: str) -> str:
    return rf"\fI{roff(text)}\fR"


def _page(tool: Tool) -> str:
    return "-".join(tool.words)


def main(arguments: list[str]) -> int:
    """Write the files that differ, and print their names, or check; return the exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: generate.py [--check]\n")
        return 1
    differing = stale()
    if arguments:
        sys.stdout.writelines(f"{path} is stale: run scripts/generate.py\n" for path in differing)
        return 1 if differing else 0
    texts = generated()
    for name in differing:
        sys.stdout.write(f"{name}\n")
        path = REPOSITORY / name
        if name not in texts:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[name], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
