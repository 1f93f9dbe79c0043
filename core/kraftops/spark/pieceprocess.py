"""Read a piece of a split in a process of its own, so that what kills that kills no more."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.rows import Row
from kraftops.dump.splitting import Part
from kraftops.errors import SourceError, UsageError
from kraftops.spark.lost import unreadable_row

if TYPE_CHECKING:
    import pyarrow as pa

_PROGRAM = "from kraftops.spark.pieceprocess import main; main()"


def piece_rows(part: Part, query: Query) -> Iterator[Row]:
    """Yield the rows of a part; of a file that cannot be read, one that says so."""
    from kraftops.dump.rowchunks import scan

    try:
        yield from scan(part, query, Report())
    except (SourceError, UsageError) as error:
        yield unreadable_row(part, error.message)


def spooled(part: Part, query: Query, schema: pa.Schema) -> IO[bytes] | None:
    """Return a file with the rows of a part, an Arrow stream; None if the process died."""
    file = TemporaryFile()  # noqa: SIM115 - the caller's
    done = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-c", _PROGRAM],
        input=pickle.dumps((part, query, schema)),
        stdout=file,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    if done.returncode:
        file.close()
        return None
    file.seek(0)
    return file


def main() -> None:
    """Write the rows of the part that standard input describes to standard output."""
    import pyarrow as pa

    from kraftops.dump.columns import arrow_batches

    part, query, schema = pickle.load(sys.stdin.buffer)  # noqa: S301 - of a worker of ours
    with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
        for batch in arrow_batches(piece_rows(part, query), schema):
            stream.write_batch(batch)
