"""A data source whose workers die of a file."""

import os
import signal
from typing import Self

from pyspark.sql.types import StructType

from kraftops.log.reader import LogFile
from kraftops.log.streams import OpenName
from kraftops.spark.datasource import KraftopsDataSource, Reader, SplitPartition
from kraftops.spark.jobs.planning import Split
from kraftops.spark.sql.options import source_options
from tests.helpers.spark.victim import VICTIM_NAME


class Bomb(OpenName):
    """The name of a file that kills whoever opens it."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Make one that looks like a file's."""
        return super().__new__(cls, name, name, explode)


def explode(_: str) -> LogFile:
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class DyingReader(Reader):
    """Kills whatever process opens the victim."""

    def partitions(self) -> list[SplitPartition]:
        return [SplitPartition(with_bomb(one.split)) for one in super().partitions()]


def with_bomb(split: Split | None) -> Split:
    assert split
    pieces = [
        piece._replace(part=piece.part._replace(path=Bomb(piece.part.path)))
        if VICTIM_NAME in piece.part.path
        else piece
        for piece in split.pieces
    ]
    return split._replace(pieces=tuple(pieces))


class DyingSource(KraftopsDataSource):
    """One whose workers die."""

    @classmethod
    def name(cls) -> str:
        return "dying"

    def reader(self, schema: StructType) -> Reader:
        return DyingReader(source_options(self.options), schema)
