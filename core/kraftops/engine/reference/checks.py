"""The checks of a batch as a whole."""

from __future__ import annotations

from kraftops.engine.reference.output import Output
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch
from kraftops.query.query import Query

_NEWEST_MAGIC = 2  # `RecordBatch.CURRENT_MAGIC_VALUE`


def check_batch(batch: Batch, query: Query, output: Output) -> bool:
    """Return whether the checksum of a batch matches; note it if it does not, and another magic.

    Kafka's text without `--check` shows both itself.

    Raises:
        DecodeError: it has no whole header.
    """
    is_valid = crc_is_valid(batch)
    if query.check and not batch.is_legacy and batch.header.magic > _NEWEST_MAGIC:
        # The checksum does not cover it.
        output.finding(batch.position, f"magic {batch.header.magic} is not known")
    if not is_valid and query.notes_crc:
        left_out = "; it is left out" if query.skip_invalid else ""
        output.finding(batch.position, f"the CRC does not match{left_out}")
    return is_valid


def crc_is_valid(batch: Batch) -> bool:
    """Tell whether the checksum of a batch of any magic matches.

    Raises:
        DecodeError: it has no whole header.
    """
    return legacy.is_valid(batch) if batch.is_legacy else v2.is_valid(batch, batch.header.crc)
