"""Column charts of counts in plain text."""

from collections.abc import Sequence

_BLOCKS = " ▁▂▃▄▅▆▇█"


def chart(counts: Sequence[int], height: int) -> list[str]:
    """Return *height* lines that show counts, not all zero, as columns.

    The highest count fills all lines, and each count above zero is visible.
    """
    steps = len(_BLOCKS) - 1
    highest = max(counts)
    levels = [-(-count * height * steps // highest) for count in counts]
    return [
        "".join(_BLOCKS[min(max(level - row * steps, 0), steps)] for level in levels).rstrip()
        for row in reversed(range(height))
    ]


def merged(counts: Sequence[int], most: int) -> tuple[list[int], int]:
    """Sum adjacent counts into at most *most* columns; return also how many are in each."""
    together = max(-(-len(counts) // max(most, 1)), 1)
    return [
        sum(counts[start : start + together]) for start in range(0, len(counts), together)
    ], together


def sparkline(counts: Sequence[int | None], width: int) -> str:
    """Return the last *width* counts as one line: the highest fills it, 0 is the lowest block.

    A count above zero is higher than that; a count that is not known, None, is a blank.
    """
    columns = counts[-width:] if width > 0 else ()
    highest = max((count for count in columns if count is not None), default=0)
    above = len(_BLOCKS) - 2
    return "".join(
        " " if count is None else _BLOCKS[1 + -(-count * above // highest) if count else 1]
        for count in columns
    )


def bar(count: int, highest: int, width: int) -> str:
    """Return a bar for a count: *highest* fills the width, and each count above zero is visible."""
    if count <= 0 or highest <= 0:
        return ""
    return _BLOCKS[-1] * max(1, round(count * width / highest))
