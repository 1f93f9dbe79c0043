"""Distribution on Spark, never decoding: the data source, and the jobs that dump and find.

`KraftopsDataSource` is the data source for sessions of Spark; it is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftops.spark.datasource import KraftopsDataSource

__all__ = ["KraftopsDataSource"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kraftops.spark import datasource

    return getattr(datasource, name)
