"""The question that a dump answers, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kraftops.errors import UsageError
from kraftops.log.files import partition_of
from kraftops.memory import USUAL, Budget
from kraftops.query.filters import Filter
from kraftops.query.formats import FORMATS, Format
from kraftops.records.decoder import Decoder, DecoderOptions
from kraftops.records.decoders import decoder_named, refuse_unknown_decoder
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.internal_topics import DEFAULT_CLASS, USER

NO_LIMIT = 0x7FFFFFFF
"""Kafka's default of `--max-bytes`, which it takes for none."""


@dataclass(frozen=True, slots=True)
class Query:
    """The decoder, filters, limits and output format of a dump, for every file.

    *decoder* is a name in `kraftops.records.internal_topics`; with None, Kafka's text has no keys
    and values. *dialect* is the dialect of the metadata log, *form* a name in
    `kraftops.query.formats`. *columns* are the columns that are read; None is all.
    *budget* is what each source may cost.
    With *skip_invalid*, batches whose checksum does not match are left out. With *is_one_line*,
    ends of lines in the keys and values of Kafka's text are shown as escapes, as a terminal needs
    it.
    """

    decoder: str | None = None
    key_decoder: str = DEFAULT_CLASS
    value_decoder: str = DEFAULT_CLASS
    dialect: str = KAFKA_DIALECT
    deep_iteration: bool = False
    skip_record_metadata: bool = False
    max_bytes: int = NO_LIMIT
    max_message_size: int = 5 * 1024 * 1024
    budget: Budget = USUAL
    verify_index_only: bool = False
    index_sanity_check: bool = False
    form: str = "text"
    show_secrets: bool = False
    salvage: bool = False
    skip_invalid: bool = False
    check: bool = False
    is_one_line: bool = False
    filter: Filter = field(default_factory=Filter)
    columns: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Refuse names of no decoder and no format.

        Raises:
            UsageError: the hint has all names.
        """
        if self.decoder is not None:
            refuse_unknown_decoder(self.decoder)
        if self.form not in FORMATS:
            raise UsageError(
                f"{self.form!r} is not a format", hint=f"there are {', '.join(FORMATS)}"
            )

    @property
    def record_decoder(self) -> Decoder:
        """The decoder of the records; without a name, the decoder of user topics.

        Raises `UsageError` for an unknown dialect.
        """
        options = DecoderOptions(self.dialect, self.key_decoder, self.value_decoder)
        return decoder_named(self.decoder or USER, options)

    @property
    def output_format(self) -> Format:
        return FORMATS[self.form]

    def shown(self, text: str) -> str:
        """Return a text from data as Kafka's text has it: with *is_one_line*, on one line."""
        return text.replace("\n", "\\n") if self.is_one_line else text

    @property
    def notes_crc(self) -> bool:
        """Whether a batch whose checksum does not match is noted; Kafka's text only shows it."""
        return self.check or self.skip_invalid or not self.output_format.is_text

    def decoders(self, of_sources: Iterable[str | None]) -> frozenset[str]:
        """Return the names of the decoders that read sources with these default decoders."""
        return frozenset(self.decoder or decoder or USER for decoder in of_sources)

    def for_source(self, decoder: str | None, path: str | None = None) -> Query:
        """Return the query of a source: *decoder*, of its directory, is the default decoder.

        All records of a topic's own log are about the topic. Of the metadata log some are.
        """
        query = self
        if self.decoder is None and decoder is not None:
            query = replace(self, decoder=decoder, deep_iteration=True)
        topics = query.filter.topics
        if not topics or path is None or query.record_decoder.has_topics:
            return query
        log = partition_of(path)
        if log is None or log[0] not in topics:
            return query
        rest = replace(query.filter, topics=frozenset(), topic_ids=frozenset())
        return replace(query, filter=rest)
