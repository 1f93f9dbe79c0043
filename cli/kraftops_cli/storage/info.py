"""`kafka-storage info`: show the state of the log directories of a node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from kraftops.display.sizes import size_text
from kraftops_cli.storage.options import CONFIG, OVERRIDE
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.memory import MAX_MEMORY
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.options import COLOR, NO_ESCAPE
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks
from kraftops_terminal.tables import Column, Table, folded, number, table_text

if TYPE_CHECKING:
    from kraftops.findings.finding import Finding
    from kraftops.storage.logdirs.inspector import DirectoryState

EXAMPLES = (
    ("the text of Kafka's tool", "kafka-storage info -c server.properties"),
    ("a table of all that is known", "kafka-storage info -c server.properties --format table"),
    ("the cluster id, for a script", "kafka-storage info -c server.properties --format json"),
)


@click.command(
    cls=ToolCommand,
    syntax=Argparse4j(ours=frozenset({"overrides", "form", "color", "no_escape", "max_memory"})),
    name="info",
    examples=EXAMPLES,
    help="Show the state of the log directories of a node, also of a running server.",
)
@CONFIG
@OVERRIDE
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "table")),
    default="text",
    show_default=True,
    help="The form of the output; text is Kafka's, the others show all that is known.",
)
@MAX_MEMORY
@COLOR
@NO_ESCAPE
@click.pass_obj
def info(terminal: Terminal, /, config: str, overrides: tuple[str, ...], form: str) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.errors import StorageError
    from kraftops.storage.config.server_config import load_config
    from kraftops.storage.logdirs.describe import describe_state
    from kraftops.storage.logdirs.inspector import (
        damage_findings,
        findings,
        inspect,
        kafka_problems,
    )

    loaded = load_config(config, overrides, os.environ)
    states = inspect(loaded)
    problems = list(kafka_problems(states))
    found = [*findings(loaded, states), *damage_findings(states)]
    if form == "text":
        for state in states:
            if state.directory.is_opaque and state.status:
                raise StorageError(f"{state.directory.meta_path}: {state.directory.problem}")
    print_answer(
        terminal,
        form,
        "info",
        lambda: {
            "nodeId": loaded.node_id,
            "roles": sorted(loaded.roles),
            "directories": [describe_state(state) for state in states],
            "problems": problems,
            "findings": [finding.as_json() for finding in found],
        },
        lambda: (
            _text(states, problems, terminal.shown)
            if form == "text"
            else _table(terminal.console, states, problems, found)
        ),
    )
    if form == "text":
        for finding in found:
            terminal.error(str(finding), finding.remedy)
    return 1 if problems else 0


def _text(
    states: Sequence[DirectoryState], problems: Sequence[str], escape: Callable[[str], str]
) -> str:
    """Return the text of Kafka's tool."""
    ordered = sorted(states, key=lambda state: state.directory.path)
    parts = []
    if paths := [escape(state.path) for state in ordered if state.status]:
        parts.append(_listed("Found log director", "y", "ies", paths))
    if metas := [state.meta for state in ordered if state.meta]:
        shown = ", ".join(f"{key}={value}" for key, value in sorted(metas[0].items()))
        parts.append(f"Found metadata: {{{escape(shown)}}}\n\n")
    if problems:
        parts.append(_listed("Found problem", "", "s", [*map(escape, problems)]))
    return "".join(parts)


def _listed(title: str, singular: str, plural: str, items: Sequence[str]) -> str:
    ending = singular if len(items) == 1 else plural
    return f"{title}{ending}:\n" + "".join(f"  {item}\n" for item in items) + "\n"


_COLUMNS = (
    ("path", folded("DIRECTORY", style="name")),
    ("role", Column("ROLE")),
    ("clusterId", Column("CLUSTER ID", 3)),
    ("nodeId", number("NODE", 2)),
    ("directoryId", Column("DIRECTORY ID", 5)),
    ("version", number("VERSION", 9)),
    ("partitions", number("PARTITIONS", 4)),
    ("metadataLog", folded("METADATA LOG", 6)),
    ("free", number("FREE", 1)),
    ("owner", Column("OWNER", 8)),
    ("mode", Column("MODE", 10)),
    ("lockHolder", folded("IN USE BY", 7)),
)


def _table(
    console: Console,
    states: Sequence[DirectoryState],
    problems: Sequence[str],
    found: Sequence[Finding],
) -> Iterator[str]:
    from kraftops.storage.logdirs.describe import describe_state

    texts = [_texts(describe_state(state)) for state in states]
    rows = ([each.get(name) for name, _ in _COLUMNS] for each in texts)
    yield table_text(console, Table([column for _, column in _COLUMNS], rows))
    for problem in problems:
        yield console.painted("problem:", "bad") + f" {escaped(problem)}\n"
    yield from finding_blocks(console, found)


def _texts(data: dict[str, object]) -> dict[str, str]:
    """Return the fields of a directory as short texts."""
    shown = {name: str(value) for name, value in data.items() if value is not None}
    shown["role"] = "metadata" if data["isMetadata"] else "data"
    if data.get("freeBytes") is not None:
        shown["free"] = size_text(int(str(data["freeBytes"])))
        shown["owner"] = f"{data['user']}:{data['group']}"
    log = data.get("metadataLog")
    if isinstance(log, dict):
        count = f"{len(log['snapshots'])} snapshots, {len(log['segments'])} segments"
        shown["metadataLog"] = f"{count}, to offset {log['endOffset']}"
    holder = data.get("lockHolder")
    if isinstance(holder, dict):
        shown["lockHolder"] = str(holder["text"])
    return shown
