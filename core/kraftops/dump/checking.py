"""What `--check` looks at besides what is printed anyway."""

from __future__ import annotations

from kraftops.dump.report import Report
from kraftops.log import batch as v2
from kraftops.log.batch import Batch


def check_crc(path: str, batch: Batch, report: Report) -> None:
    """Note a batch whose checksum is not that of its bytes."""
    if batch.is_legacy:
        from kraftops.log import legacy

        is_right = legacy.is_valid(batch)
    else:
        is_right = v2.is_valid(batch, batch.header.crc)
    if not is_right:
        report.finding(path, batch.position, "the CRC does not match")
