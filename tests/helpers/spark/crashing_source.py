"""A data source whose workers die of a file."""

import os
import signal
from typing import Self

from pyspark.sql.types import StructType

from kraftops.log.log_file import LogFile
from kraftops.log.streams import OpenName
from kraftops.spark.datasource import KraftopsDataSource, Reader, SplitPartition
from kraftops.spark.jobs.planning import Split
from kraftops.spark.sql.options import source_options
from tests.helpers.spark.crash_folder import CRASH_FOLDER


class CrashingName(OpenName):
    """The name of a file that kills whoever opens it."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Make one that looks like a file's."""
        return super().__new__(cls, name, name, crash)


def crash(_: str) -> LogFile:
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class CrashingReader(Reader):
    """Kills whatever process opens the crashing."""

    def partitions(self) -> list[SplitPartition]:
        return [SplitPartition(with_crash(one.split)) for one in super().partitions()]


def with_crash(split: Split | None) -> Split:
    assert split
    ranges = [
        labelled._replace(range=labelled.range._replace(path=CrashingName(labelled.range.path)))
        if CRASH_FOLDER in labelled.range.path
        else labelled
        for labelled in split.ranges
    ]
    return split._replace(ranges=tuple(ranges))


class CrashingSource(KraftopsDataSource):
    """One whose workers die."""

    @classmethod
    def name(cls) -> str:
        return "crashing"

    def reader(self, schema: StructType) -> Reader:
        return CrashingReader(source_options(self.options), schema)
