"""Columns of names for `ls` on a terminal (Kafka's `LsCommandHandler`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from kraftops_terminal.widths import padded, width_of_text

_GAP = 2
_NARROWEST = 4


def in_columns(names: Sequence[str], width: int) -> str:
    """Return names in lines, in as many columns as fit into *width*; 0 means no terminal.

    Names fill each column from the top. All columns but the last are padded, so that lines may end
    in blanks.
    """
    lengths = list(map(width_of_text, names))
    most = min(width // _NARROWEST, width // (min(lengths, default=0) + _GAP))
    rows, widths = len(names), [0]
    for count in range(2, most + 1):
        height = ceil(len(names) / count)
        sizes = [
            max(lengths[index * height : (index + 1) * height], default=0) + _GAP
            for index in range(count)
        ]
        if (count - 1) * height < len(names) and sum(sizes) <= width:
            rows, widths = height, sizes
    lines = []
    for row in range(rows):
        cells = names[row::rows] if rows else []
        last = len(widths) - 1
        lines.append(
            "".join(
                name if index == last else padded(name, widths[index])
                for index, name in enumerate(cells)
            )
        )
    return "".join(f"{line}\n" for line in lines)
