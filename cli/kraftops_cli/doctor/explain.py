"""`kraftops explain`: what a code of a finding or an error means, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.terminal.answer import FORM, print_answer
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.checkup.codes import CodePage
    from kraftops_terminal.console import Console


@tool_command(
    Argparse4j(expands_files=False),
    name="explain",
    answer="kraftops.checkup.codes:EXPLAIN",
    **manual(__file__),
)
@click.argument("codes", metavar="[CODE…]", nargs=-1)
@FORM
def explain(terminal: Terminal, /, codes: tuple[str, ...]) -> int:
    """Print the pages of codes, or all codes; return the exit code."""
    from kraftops.checkup.codes import EXPLAIN, PAGE, pages, pages_of
    from kraftops_terminal.tables import table_of, table_text

    listed = [page for code in codes for page in pages_of(code)] or pages()
    print_answer(
        terminal,
        EXPLAIN.fields,
        listed,
        lambda: (
            "\n".join("".join(_page(terminal.console, page)) for page in listed)
            if codes
            else table_text(terminal.console, table_of(PAGE, listed))
        ),
    )
    return 0


def _page(console: Console, page: CodePage) -> Iterator[str]:
    exit_code = "" if page.exit_code is None else f", exit code {page.exit_code}"
    kind = page.severity or f"{page.kind}{exit_code}"
    yield f"{console.painted(page.code, 'name')} ({kind}): {page.title}\n"
    if page.tools:
        yield f"  found by: {', '.join(page.tools)}\n"
    for title, sentence in (
        ("meaning", page.meaning),
        ("Kafka", page.kafka),
        ("what to do", page.action),
        ("how to be sure", page.proof),
    ):
        if sentence:
            yield f"  {title}: {sentence}\n"
