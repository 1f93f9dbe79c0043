"""The formats of a dump's output: Kafka's text, and rows as JSON, CSV or columns."""

from dataclasses import dataclass

from kraftops.query.row import COLUMNS


@dataclass(frozen=True, slots=True)
class Format:
    """A format of output.

    *layout* is its name in the compiled engine, *head* the first line of a file. With
    *has_objects*, small files of a log directory and summaries can be written as objects.
    `kraftops.query.row_lines` makes the lines of rows.
    """

    name: str
    layout: str
    head: str = ""
    has_objects: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is Kafka's text, with lines of batches; all other formats have rows."""
        return self.layout == "text"

    @property
    def is_columns(self) -> bool:
        """Whether it has columns instead of lines."""
        return self.layout == "columns"


TEXT = Format("text", "text")
JSON = Format("json", "json", has_objects=True)
CSV = Format("csv", "csv", head=",".join(COLUMNS) + "\n")
CSV_SAFE = Format("csv-safe", "csv-safe", head=CSV.head)
"""CSV with an apostrophe before texts that spreadsheets would take for formulas."""
PARQUET = Format("parquet", "columns")
FORMATS = {row_format.name: row_format for row_format in (TEXT, JSON, CSV, CSV_SAFE, PARQUET)}
"""By name."""
CHOICES = tuple(name for name in FORMATS if name != CSV_SAFE.name)
"""The names that people choose from; an option of its own makes CSV safe."""
