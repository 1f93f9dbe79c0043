"""Read a byte range in a process of its own, which may crash without the worker."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import arrow_batches, scan_batches
from kraftops.errors import SourceError, UsageError
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.spark.jobs.worker_crashes import unreadable_row

if TYPE_CHECKING:
    import pyarrow as pa

_PROGRAM = "from kraftops.spark.jobs.range_process import main; main()"


def range_batches(
    part: ByteRange, query: Query, schema: pa.Schema, report: Report
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a byte range, or a row that says why the file cannot be read."""
    try:
        yield from scan_batches(part, query, report, schema)
    except (SourceError, UsageError) as error:
        yield from arrow_batches([unreadable_row(part, error.message)], schema)


def spooled(part: ByteRange, query: Query, schema: pa.Schema) -> IO[bytes] | None:
    """Return a file with the rows of a byte range, an Arrow stream; None if the process died."""
    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    done = subprocess.run(  # noqa: S603 - this module
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
    """Write the rows of the byte range on standard input to standard output."""
    import pyarrow as pa

    part, query, schema = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by `spooled`
    with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
        for batch in range_batches(part, query, schema, Report()):
            stream.write_batch(batch)
