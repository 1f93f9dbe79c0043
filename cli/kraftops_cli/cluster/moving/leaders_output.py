"""Output of drain and undrain."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.display.columns import Cell, Column, Styled, folded
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.placement.placement import TopicPartition
from kraftops_cli.cluster.moving.access import Work
from kraftops_terminal.tables import Table, table_text

_PARTITIONS = (folded("PARTITION"), Column("LEADER"))


def print_leaders(
    work: Work, command: str, moved: Sequence[TopicPartition], stay: Sequence[TopicPartition]
) -> int:
    """Print the partitions that were changed, and those that are led as before; return the code."""
    if work.is_json:
        fields = {
            "changed": bool(moved),
            "movedPartitions": [*map(str, moved)],
            "stayingPartitions": [*map(str, stay)],
        }
        work.terminal.answer(command, fields)
    else:
        work.terminal.write(f"partitions with another order: {len(moved)}\n")
        rows: list[list[Cell]] = [
            [str(partition), Styled("led as before", "warning")] for partition in stay
        ]
        work.terminal.write(table_text(work.terminal.console, Table(_PARTITIONS, rows)))
    return HAS_FINDINGS if stay else 0
