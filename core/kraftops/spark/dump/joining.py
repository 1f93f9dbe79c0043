"""Join parts into one file, in order."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from typing import BinaryIO

from kraftops.fileio.output import PLAIN, OutputFlags, open_output
from kraftops.query.formats import FORMATS
from kraftops.spark.dump.targets import ENDINGS, Target, publish_file

_BLOCK = 8 << 20


def join(
    target: Target, names: Sequence[str], form: str, path: str, flags: OutputFlags = PLAIN
) -> None:
    """Write the parts *names* to the file *path*, whole or not at all.

    Raises:
        OutputError: it cannot be written, or a part cannot be read.
    """
    if target.is_remote:
        name = target.attempt_name("joined", ENDINGS[form], 0)
        join_part(target, names, form, name)
        publish_file(target, name)
        return
    with open_output(path, flags=flags) as fd, open(fd, "wb", closefd=False) as file:
        _join(target, names, form, file)


def join_part(target: Target, names: Sequence[str], form: str, name: str) -> None:
    """Write the files *names*, which together are a part, to the file *name* of the target.

    Raises:
        OutputError: it cannot be written, or one of them cannot be read.
    """
    with target.writing(name) as file:
        _join(target, names, form, file)


def _join(target: Target, names: Sequence[str], form: str, file: BinaryIO) -> None:
    if FORMATS[form].is_columns:
        _join_parquet(target, names, file)
        return
    for number, name in enumerate(names):
        with target.reading(name) as part:
            if FORMATS[form].head and number:
                _pass_line(part)
            shutil.copyfileobj(part, file, _BLOCK)


def _join_parquet(target: Target, names: Sequence[str], file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    with ExitStack() as opened:
        writer = None
        for name in names:
            with target.reading(name) as part:
                table = pq.ParquetFile(part)
                if writer is None:
                    writer = opened.enter_context(
                        pq.ParquetWriter(file, table.schema_arrow, compression="zstd")
                    )
                for number in range(table.num_row_groups):
                    writer.write_table(table.read_row_group(number))


def _pass_line(part: BinaryIO) -> None:
    """Skip the header line of CSV, which has no quoted newlines."""
    while part.read(1) not in (b"\n", b""):
        pass
