"""What `--check` looks at besides what is printed anyway."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.log import batch as v2
from kraftops.log.batch import Batch
from kraftops.records.user import DEFAULT_DECODER

if TYPE_CHECKING:
    from kraftops.dump.recordlines import RecordLines

_NEWEST_MAGIC = 2


class RecordCheck:
    """Looks at the records of batches of which only the lines of batches are printed."""

    def __init__(self, path: str, query: Query, report: Report) -> None:
        """Look at batches of the file *path*; what is damaged goes to *report*."""
        self._report = report
        self._found = Report()
        self._unprinted: RecordLines | None = None
        if query.check and not query.deep_iteration:
            from kraftops.dump.recordlines import RecordLines

            asked = replace(
                query,
                decoder="user",
                key_decoder=DEFAULT_DECODER,
                value_decoder=DEFAULT_DECODER,
                skip_record_metadata=False,
            )
            self._unprinted = RecordLines(path, asked, self._found)

    def __call__(self, batch: Batch) -> None:
        """Note what is wrong with the records of a batch, if the query asks for it.

        Raises:
            DecodeError: they cannot be told apart.
        """
        if not self._unprinted:
            return
        try:
            if batch.is_legacy:
                for _ in self._unprinted.add_legacy(batch, _drop):
                    pass
            else:
                for _ in self._unprinted.add(batch, batch.header, _drop):
                    pass
        finally:
            self._found.forget_gaps()
            if self._found.has_lines:
                self._report.merge(self._found.take())


def check_crc(path: str, batch: Batch, report: Report) -> None:
    """Note a batch whose checksum is not that of its bytes, or whose magic is not known."""
    if batch.is_legacy:
        from kraftops.log import legacy

        is_right = legacy.is_valid(batch)
    else:
        header = batch.header
        is_right = v2.is_valid(batch, header.crc)
        if header.magic > _NEWEST_MAGIC:  # it is not in the checksum
            report.finding(path, batch.position, f"magic {header.magic} is not known")
    if not is_right:
        report.finding(path, batch.position, "the CRC does not match")


def _drop(_: str) -> None:
    """Stand for what prints lines."""
