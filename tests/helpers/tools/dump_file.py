"""Dump a file without a command line, and split the output."""

from dataclasses import dataclass
from pathlib import Path

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import text_chunks
from kraftops.query.query import Query
from kraftops.records.internal_topics import decoder_names

LOG_NAME = "00000000000000000000.log"
QUERIES = {
    "batches": Query(),
    "records": Query(deep_iteration=True),
    "text": Query(decoder="user", deep_iteration=True),
    "text without metadata": Query(decoder="user", deep_iteration=True, skip_record_metadata=True),
    **{
        name: Query(decoder=name, deep_iteration=True)
        for name in sorted({*decoder_names()} - {"user"})
    },
    "metadata without metadata": Query(
        decoder="metadata", deep_iteration=True, skip_record_metadata=True
    ),
    "kip-631": Query(decoder="metadata", deep_iteration=True, dialect="kip-631"),
    "kip-631-draft": Query(decoder="metadata", deep_iteration=True, dialect="kip-631-draft"),
    "numbers": Query(
        decoder="user",
        deep_iteration=True,
        key_decoder="org.apache.kafka.tools.api.IntegerDecoder",
        value_decoder="org.apache.kafka.tools.api.LongDecoder",
    ),
}
"""Queries by a readable name."""


@dataclass(frozen=True, slots=True)
class Dump:
    """The text of a file and its report."""

    text: str
    notes: list[str]
    summary: list[str]
    has_failed: bool

    @property
    def lines(self) -> list[str]:
        """The lines after the two lines about the file."""
        return self.text.splitlines()[2:]


def dump(path: Path | str, query: Query = QUERIES["batches"]) -> Dump:
    """Dump one file."""
    report = Report()
    text = b"".join(text_chunks(str(path), query, report)).decode("utf-8", "surrogateescape")
    return Dump(text, report.take_lines(), list(report.summary()), report.has_failed)


def dump_bytes(data: bytes, directory: Path, query: Query = QUERIES["records"]) -> Dump:
    """Dump a log that holds *data*."""
    path = directory / LOG_NAME
    path.write_bytes(data)
    return dump(path, query)
