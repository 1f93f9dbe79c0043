"""The question that a dump answers, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kraftops.query.filters import Filter
from kraftops.query.formats import FORMATS, Format
from kraftops.records.decoder import Decoder, DecoderOptions
from kraftops.records.decoders import decoder_named
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.kinds import DEFAULT_CLASS, USER

NO_LIMIT = 0x7FFFFFFF
"""Kafka's default of `--max-bytes`, which it takes for none."""


@dataclass(frozen=True, slots=True)
class Query:
    """The decoder, filters, limits and output format of a dump, for every file.

    *decoder* is a name of `kraftops.records.decoders`, or None for the metadata of records alone;
    *dialect* is that of the metadata log. *form* is a name of `kraftops.query.formats`. *columns*
    are the columns of rows that anybody looks at; None is all. *inflation_limit* is how many bytes
    a batch may inflate to; None is the limit of the decoder.
    """

    decoder: str | None = None
    key_decoder: str = DEFAULT_CLASS
    value_decoder: str = DEFAULT_CLASS
    dialect: str = KAFKA_DIALECT
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
    def reader(self) -> Decoder:
        """The decoder of the records; the user's where none is named.

        Raises `UsageError` where there is no such dialect.
        """
        options = DecoderOptions(self.dialect, self.key_decoder, self.value_decoder)
        return decoder_named(self.decoder or USER, options)

    @property
    def format(self) -> Format:
        """The format of the output."""
        return FORMATS[self.form]

    @property
    def max_inflated_bytes(self) -> int:
        """How many bytes a batch may inflate to."""
        limit = self.inflation_limit
        return self.reader.max_inflated_bytes if limit is None else limit

    def for_source(self, decoder: str | None) -> Query:
        """Return the query of a source: with the *decoder* of its directory, if it has one."""
        if self.decoder is not None or decoder is None:
            return self
        return replace(self, decoder=decoder, deep_iteration=True)
