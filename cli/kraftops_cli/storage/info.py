"""`kafka-storage info`: show the state of the log directories of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from kraftops_cli.storage.options import NodeOptions
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES, print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks
from kraftops_terminal.tables import table_of, table_text

if TYPE_CHECKING:
    from kraftops.server.log_directory import LogDirectory
    from kraftops.storage.logdirs.describe import NodeState


@dataclass(frozen=True, kw_only=True)
class InfoOptions(NodeOptions):
    """The values of the options."""

    form: str = option(
        "--format",
        **FORM_ATTRIBUTES
        | {
            "type": click.Choice(("text", "json", "table")),
            "help": "The form of the output; text is Kafka's, the others show all that is known.",
        },
    )


@tool_command(
    Argparse4j(kafkas=frozenset({"config"})),
    answer="kraftops.storage.logdirs.describe:INFO",
    options=InfoOptions,
)
def info(terminal: Terminal, options: InfoOptions) -> int:
    from kraftops.errors import StorageError
    from kraftops.storage.logdirs.describe import INFO, NodeState
    from kraftops.storage.logdirs.directories import distinct, read_directories
    from kraftops.storage.logdirs.inspector import findings, kafka_problems
    from kraftops.storage.logdirs.node import Node
    from kraftops.storage.verify.quorum import damage_finding

    loaded, form = options.load(), options.form
    directories = read_directories(loaded)
    disk = Node(loaded, directories)
    node = NodeState(
        loaded,
        directories,
        [*kafka_problems(directories)],
        [
            *findings(loaded, distinct(directories)),
            *(damage_finding(disk, damage) for damage in disk.log.damage),
        ],
    )
    if form == "text":
        for directory in directories:
            if directory.is_opaque and directory.status:
                raise StorageError(f"{directory.meta_path}: {directory.problem}")
    print_answer(
        terminal,
        INFO.fields,
        node,
        lambda: (
            _text(directories, node.problems, terminal.shown)
            if form == "text"
            else _table(terminal.console, node)
        ),
    )
    if form == "text":
        for finding in node.findings:
            terminal.error(str(finding), finding.remedy)
    return 1 if node.problems else 0


def _text(
    directories: Sequence[LogDirectory], problems: Sequence[str], escape: Callable[[str], str]
) -> str:
    """Return the text of Kafka's tool."""
    ordered = sorted(directories, key=lambda directory: directory.path)
    parts = []
    if paths := [escape(directory.java_path) for directory in ordered if directory.status]:
        parts.append(_listed("Found log director", "y", "ies", paths))
    if metas := [directory.meta for directory in ordered if directory.meta]:
        properties = ", ".join(f"{key}={value}" for key, value in sorted(metas[0].items()))
        parts.append(f"Found metadata: {{{escape(properties)}}}\n\n")
    if problems:
        parts.append(_listed("Found problem", "", "s", [*map(escape, problems)]))
    return "".join(parts)


def _listed(title: str, singular: str, plural: str, items: Sequence[str]) -> str:
    ending = singular if len(items) == 1 else plural
    return f"{title}{ending}:\n" + "".join(f"  {item}\n" for item in items) + "\n"


def _table(console: Console, node: NodeState) -> Iterator[str]:
    from kraftops.storage.logdirs.describe import DIRECTORY

    yield table_text(console, table_of(DIRECTORY, node.directories))
    for problem in node.problems:
        yield console.painted("problem:", "bad") + f" {escaped(problem)}\n"
    yield from finding_blocks(console, node.findings)
