"""Read a byte range in a process of its own, which may crash without the worker."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import arrow_batches, scan_batches
from kraftops.errors import KraftopsError, SourceError, UsageError
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.query.record_rows import damage_row

if TYPE_CHECKING:
    import pyarrow as pa

_PROGRAM = "from kraftops.spark.jobs.range_process import main; main()"
_FAILED = 3
"""Exit code of a process that has not died, but says why it cannot read or write."""

Batches = Callable[["ByteRange", "Query", "Report", "pa.Schema"], "Iterator[pa.RecordBatch]"]


def range_batches(
    part: ByteRange, query: Query, report: Report, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a byte range, or a row that says why the file cannot be read."""
    try:
        yield from scan_batches(part, query, report, schema)
    except (SourceError, UsageError) as error:
        yield from arrow_batches([damage_row(part.path, part.start, error.message)], schema)


def spooled(
    part: ByteRange, query: Query, report: Report, schema: pa.Schema, read: Batches = range_batches
) -> IO[bytes] | None:
    """Return a file with the rows of a byte range, an Arrow stream; None if the process died.

    Raises:
        SourceError: the process says why it cannot read the range, or write the file.
    """
    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    done = subprocess.run(  # noqa: S603 - this module
        [sys.executable, "-c", _PROGRAM],
        input=pickle.dumps((part, query, report, schema, read)),
        stdout=file,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    if done.returncode:
        file.close()
        if done.returncode == _FAILED:
            raise SourceError(done.stderr.decode("utf-8", "replace").splitlines()[-1])
        return None
    file.seek(0)
    return file


def main() -> None:
    """Write the rows of the byte range on standard input to standard output."""
    import pyarrow as pa

    part, query, report, schema, read = pickle.load(sys.stdin.buffer)  # noqa: S301 - of `spooled`
    try:
        with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
            for batch in read(part, query, report, schema):
                stream.write_batch(batch)
        sys.stdout.buffer.flush()
    except (KraftopsError, OSError) as error:
        reason = error.message if isinstance(error, KraftopsError) else f"{part.path}: {error}"
        os.write(2, f"\n{' '.join(reason.splitlines())}".encode("utf-8", "replace"))
        os._exit(_FAILED)  # what is left of the output is not written
