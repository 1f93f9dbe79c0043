"""Find the columns that an SQL statement names: Spark asks a Python source for all of them."""

import re
from collections.abc import Sequence

_COUNT = re.compile(r"\bcount\s*\(\s*\*\s*\)", re.IGNORECASE)
_UNNAMED = re.compile(r"[*|]|\b(?:natural|pivot|table|identifier)\b", re.IGNORECASE)
"""What reads columns that it does not name: a star, `NATURAL JOIN`, `TABLE log`, `|>` …"""
_LEAST = "crcValid"  # of a table that is only counted; headers of batches tell it


def named_columns(sql: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the columns *names* that a statement may read; () if these may be all.

    Each word counts, also one that is an alias or in a text: a column too many is only slower.
    """
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    if "select" not in words or _UNNAMED.search(_COUNT.sub("", sql)):
        return ()
    return tuple(name for name in names if name.lower() in words) or (_LEAST,)
