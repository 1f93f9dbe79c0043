"""`kafka-storage compare`: compare the copies of partitions on several brokers' disks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from kraftops.recovery.refusal import PACK, RecoveryRefused
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.terminal.answer import FORM, print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks

if TYPE_CHECKING:
    from kraftops.errors import KraftopsError
    from kraftops.findings.finding import Finding
    from kraftops.recovery.partitions.comparison import Comparison

_LEFT_OUT = frozenset({"no-archive", "no-log", "no-room", "not-found", "unreadable"})
"""Codes of refusals of one name, beside which the others can be compared."""


@tool_command(
    Argparse4j(kafkas=frozenset()),
    answer="kraftops.recovery.answer:COMPARE",
    **manual(__file__, PACK=PACK),
)
@click.argument(
    "names", metavar="DIR|ARCHIVE", nargs=-1, required=True, type=click.Path(readable=False)
)
@FORM
def compare(terminal: Terminal, /, names: tuple[str, ...]) -> int:
    from kraftops.checkup.examination import Examination
    from kraftops.findings.aside import typed
    from kraftops.findings.finding import HAS_FINDINGS, worst_first
    from kraftops.recovery.answer import COMPARE
    from kraftops.recovery.node_copies import opened_sources
    from kraftops.recovery.partitions.disk_comparison import compare_disks, left_out
    from kraftops.server.nearby import log_directories_in

    findings: list[Finding] = []

    def skip(error: KraftopsError) -> None:
        if isinstance(error, RecoveryRefused):
            findings.append(left_out(error))
        else:
            terminal.failure(error)

    paths = [path for name in names for path in log_directories_in(name)]
    with opened_sources(paths, skip, left_out=_LEFT_OUT) as sources:
        identities = Examination(sources=sources).identities
        foreign = [mistake.directory.path for mistake in identities.mistakes]
        sound = [source for source in sources if source.folder not in foreign]
        for finding in identities.findings if not sound else ():
            raise RecoveryRefused("no-identity", str(finding), finding.remedy)
        answered = compare_disks(sound)
        findings += map(typed, (*identities.findings, *answered.findings))
    answered = replace(answered, findings=worst_first(findings))
    print_answer(terminal, COMPARE.fields, answered, lambda: _text(terminal.console, answered))
    return 0 if answered.is_safe else HAS_FINDINGS


def _text(console: Console, comparison: Comparison) -> Iterator[str]:
    from kraftops_cli.storage.recover_text import copies_text, losses_text

    yield from losses_text(console, comparison.loss_total, comparison.losses)
    if comparison.metadata_log:
        yield escaped(f"By the metadata log of {comparison.metadata_log}.") + "\n"
    yield "\n"
    yield from finding_blocks(console, comparison.findings)
    yield from copies_text(console, comparison)
