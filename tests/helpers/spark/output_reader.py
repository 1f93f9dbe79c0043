"""A reader who lists outputs in an object store all the time and reads whatever looks like data.

Where fsspec is installed, DuckDB lists and reads them, too.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from threading import Event, Thread

import pyarrow.parquet as pq

from kraftops.log.remote import filesystem, list_directory

Place = tuple[str, int]
"""A record by its file and offset."""


_NOTHING = ("No files found", "No such file", "does not exist", "FileNotFound", "NoSuchKey")
"""What DuckDB says where there is no data yet, or none any more."""
_TWICE = """
    SELECT parse_dirpath(filename) AS folder, file, "offset" FROM read_parquet('{}', filename = true)
    GROUP BY ALL HAVING count(*) > 1
"""


class OutputReader:
    """Reader of all Parquet files below a directory, and what was wrong with any of its listings."""

    def __init__(self, folder: str) -> None:
        """Read what is below *folder*, which another process writes."""
        self._folder = folder
        self._records: dict[str, list[Place]] = {}
        self.problems: list[str] = []
        self.listings = 0
        self.by_duckdb = 0
        self._ask = _duckdb()

    def look(self) -> dict[str, Counter[Place]]:
        """List once; return the records by the directories that they are in."""
        found: dict[str, Counter[Place]] = {}
        for entry in list_directory(self._folder, recursive=True) or ():
            if entry.size is not None and entry.name.endswith(".parquet"):
                with suppress(FileNotFoundError):  # deleted since
                    directory = entry.uri.rpartition("/")[0].removeprefix(f"{self._folder}/")
                    found.setdefault(directory, Counter()).update(self._read(entry.uri))
        self.listings += 1
        for directory, records in found.items():
            twice = [place for place, count in records.items() if count > 1]
            if twice:
                self.problems.append(f"{directory}: twice {twice[:3]}")
        return found

    def ask_duckdb(self) -> None:
        """Have DuckDB count the records that are there more than once."""
        if self._ask is None:
            return
        try:
            twice = self._ask(f"{self._folder}/**/*.parquet")
        except Exception as error:  # noqa: BLE001 - DuckDB passes those of Arrow on
            if not any(text in str(error) for text in _NOTHING):
                self.problems.append(f"DuckDB: {error}")
            return
        self.by_duckdb += 1
        if twice:
            self.problems.append(f"DuckDB: twice {twice[:3]}")

    def _read(self, uri: str) -> list[Place]:
        if uri not in self._records:
            system, path = filesystem(uri)
            with system.open_input_stream(path) as stream:
                data = bytes(stream.read())
            try:
                table = pq.read_table(BytesIO(data), columns=["file", "offset"])
            except (OSError, ValueError) as error:
                self.problems.append(f"{uri}: {error}")
                return []
            files, offsets = (table.column(name).to_pylist() for name in ("file", "offset"))
            self._records[uri] = list(zip(files, offsets, strict=True))
        return self._records[uri]


def _duckdb() -> Callable[[str], list[tuple[str, str, int]]] | None:
    """Return a function that finds records which are there twice; None without fsspec."""
    try:
        from fsspec.implementations.arrow import ArrowFSWrapper
    except ImportError:
        return None
    import duckdb

    class Store(ArrowFSWrapper):  # type: ignore[misc] # it has no types
        protocol = "s3"
        cachable = False

    connection = duckdb.connect()
    connection.register_filesystem(Store(filesystem("s3://any")[0]))
    return lambda pattern: connection.execute(_TWICE.format(pattern)).fetchall()


@contextmanager
def reading_all_the_time(folder: str) -> Iterator[OutputReader]:
    """Have a reader list a directory again and again while the block runs."""
    reader, is_over = OutputReader(folder), Event()

    def work() -> None:
        while not is_over.wait(0.02):
            reader.look()
            reader.ask_duckdb()

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        yield reader
    finally:
        is_over.set()
        thread.join()
