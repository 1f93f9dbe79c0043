"""What this install of kraftops is, and what it lacks."""

import platform
from collections.abc import Iterator

from kraftops.engine.choice import why_not_native
from kraftops.origin import extra_remedy, origin

_EXTRAS = {"arrow": ("pyarrow", "Parquet and remote files"), "spark": ("pyspark", "Spark")}
"""The extras: the package that each brings, and what it is for."""


def installed_lines() -> Iterator[str]:
    """Yield where it comes from, and a line for each thing that is missing."""
    from importlib.util import find_spec

    yield f"installed from {origin()}, on Python {platform.python_version()}"
    yield from engine_lines()
    for extra, (package, purpose) in _EXTRAS.items():
        if find_spec(package) is None:
            yield f"missing: {purpose}: {extra_remedy(extra)}"


def engine_lines() -> Iterator[str]:
    """Yield a line if the compiled engine is missing."""
    if reason := why_not_native():
        yield f"missing: the compiled engine ({reason}): {origin().engine_remedy()}"
