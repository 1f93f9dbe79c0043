"""Read a piece of a split in a process of its own, so that what kills that kills no more."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.errors import SourceError, UsageError
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.spark.jobs.lost import unreadable_row

if TYPE_CHECKING:
    import pyarrow as pa

_PROGRAM = "from kraftops.spark.jobs.piece_process import main; main()"


def piece_batches(part: ByteRange, query: Query, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part; of a file that cannot be read, one that says so."""
    from kraftops.dump.scan.arrow import arrow_batches, scan_batches

    try:
        yield from scan_batches(part, query, Report(), schema)
    except (SourceError, UsageError) as error:
        yield from arrow_batches([unreadable_row(part, error.message)], schema)


def spooled(part: ByteRange, query: Query, schema: pa.Schema) -> IO[bytes] | None:
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

    part, query, schema = pickle.load(sys.stdin.buffer)  # noqa: S301 - of a worker of ours
    with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
        for batch in piece_batches(part, query, schema):
            stream.write_batch(batch)
