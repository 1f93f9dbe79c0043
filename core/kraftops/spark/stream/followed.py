"""Contract of what a stream follows: logs in directories, or that of a running quorum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from kraftops.spark.stream.marks import Marks

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition

OnLoss = Callable[[str], None]
"""Takes the reason of a loss; it may raise."""


class Followed(Protocol):
    """Logs that grow. All methods raise the errors of sources: files or controllers."""

    def first(self) -> Marks:
        """Return where a new stream begins."""

    def latest(self) -> Marks:
        """Return the ends of the logs."""

    def step(self, start: Marks, ends: Marks, most: int | None) -> Marks:
        """Return the end of the next batch: at the latest *ends*, after about *most* bytes.

        It equals *start* if there is nothing new.
        """

    def partitions(self, start: Marks, end: Marks, on_loss: OnLoss) -> Sequence[InputPartition]:
        """Return the partitions of a batch; losses between the marks go to *on_loss*."""

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, in a worker."""

    def close(self) -> None:
        """Close connections; the next call opens them again."""
