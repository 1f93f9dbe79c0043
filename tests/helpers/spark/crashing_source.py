"""Data source that kills its workers at one file."""

import os
import signal
from typing import Self

from pyspark.sql.types import StructType

from kraftops.log.log_file import LogFile
from kraftops.log.streams import OpenName
from kraftops.spark.datasource import KraftopsDataSource
from kraftops.spark.jobs.planning import Split
from kraftops.spark.source.options import source_options
from kraftops.spark.source.reader import Reader, SplitPartition
from kraftops.spark.source.shape import shape
from tests.helpers.spark.crash_folder import CRASH_FOLDER


class CrashingName(OpenName):
    """Name of a file that kills the process that opens it."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Make a name that looks like the name of a file."""
        return super().__new__(cls, name, name, crash)


def crash(_: str) -> LogFile:
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class CrashingReader(Reader):
    """Reader that kills its process at a file in `CRASH_FOLDER`."""

    def partitions(self) -> list[SplitPartition]:
        return [SplitPartition(with_crash(one.split)) for one in super().partitions()]


def with_crash(split: Split | None) -> Split:
    """Return a split that kills its reader at the files in `CRASH_FOLDER`."""
    assert split
    ranges = [
        labelled._replace(range=labelled.range._replace(path=CrashingName(labelled.range.path)))
        if CRASH_FOLDER in labelled.range.path
        else labelled
        for labelled in split.ranges
    ]
    return split._replace(ranges=tuple(ranges))


class CrashingSource(KraftopsDataSource):
    """Data source with `CrashingReader`."""

    @classmethod
    def name(cls) -> str:
        return "crashing"

    def reader(self, schema: StructType) -> Reader:
        options = source_options(self.options)
        table = shape(options, schema)
        return CrashingReader(options, table, options.sources())
