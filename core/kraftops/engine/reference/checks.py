"""What `--check` looks at besides what is printed anyway."""

from __future__ import annotations

from kraftops.engine.reference.output import Output
from kraftops.log import batch as v2
from kraftops.log.batch import Batch

_NEWEST_MAGIC = 2


def check_crc(batch: Batch, output: Output) -> None:
    """Note a batch whose checksum is not that of its bytes, or whose magic is not known.

    Raises:
        DecodeError: it has no whole header.
    """
    if batch.is_legacy:
        from kraftops.log import legacy

        is_right = legacy.is_valid(batch)
    else:
        header = batch.header
        is_right = v2.is_valid(batch, header.crc)
        if header.magic > _NEWEST_MAGIC:  # it is not in the checksum
            output.finding(batch.position, f"magic {header.magic} is not known")
    if not is_right:
        output.finding(batch.position, "the CRC does not match")
