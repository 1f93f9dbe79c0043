"""The checks of a batch by `--check`."""

from __future__ import annotations

from kraftops.engine.reference.output import Output
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch

_NEWEST_MAGIC = 2


def check_crc(batch: Batch, output: Output) -> None:
    """Note a batch with a wrong checksum or an unknown magic.

    Raises:
        DecodeError: it has no whole header.
    """
    if batch.is_legacy:
        is_valid = legacy.is_valid(batch)
    else:
        header = batch.header
        is_valid = v2.is_valid(batch, header.crc)
        if header.magic > _NEWEST_MAGIC:  # the checksum does not cover it
            output.finding(batch.position, f"magic {header.magic} is not known")
    if not is_valid:
        output.finding(batch.position, "the CRC does not match")
