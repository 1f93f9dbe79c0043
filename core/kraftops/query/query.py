"""What is asked of a dump, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftops.log.codecs import MAX_INFLATED_BYTES, MAX_INFLATED_METADATA_BYTES
from kraftops.query.filters import Filter
from kraftops.records.decoders.user import DEFAULT_DECODER

NO_LIMIT = 0x7FFFFFFF
"""Kafka's default of `--max-bytes`, which it takes for none."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to show of each file.

    *decoder* is `metadata`, `offsets`, `transaction`, `remote`, `share`, `user`, or None for the
    metadata of records alone; *dialect* is that of the metadata log. *form* is `text`, `json`,
    `csv` or `parquet`. *columns* are those of rows that anybody looks at; None is all.
    *inflation_limit* is how many bytes a batch may inflate to; None is the limit of the decoder.
    """

    decoder: str | None = None
    key_decoder: str = DEFAULT_DECODER
    value_decoder: str = DEFAULT_DECODER
    dialect: str = "kafka"
    deep_iteration: bool = False
    skip_record_metadata: bool = False
    max_bytes: int = NO_LIMIT
    inflation_limit: int | None = None
    max_message_size: int = 5 * 1024 * 1024
    verify_index_only: bool = False
    index_sanity_check: bool = False
    form: str = "text"
    show_secrets: bool = False
    salvage: bool = False
    check: bool = False
    filter: Filter = field(default_factory=Filter)
    columns: frozenset[str] | None = None

    @property
    def max_inflated_bytes(self) -> int:
        """How many bytes a batch may inflate to."""
        limit = self.inflation_limit
        return inflation_limit(self.decoder) if limit is None else limit


def inflation_limit(decoder: str | None) -> int:
    """Return how many bytes a batch of a log with this decoder may inflate to, if nobody says."""
    return MAX_INFLATED_METADATA_BYTES if decoder == "metadata" else MAX_INFLATED_BYTES
