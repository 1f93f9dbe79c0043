"""Write the list of the segments below a directory: workers count the new and changed ones."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import scan_batches
from kraftops.dump.sources.names import Source
from kraftops.dump.summary.file_counter import Counting
from kraftops.dump.summary.summarise import summarise
from kraftops.errors import SourceError
from kraftops.fileio.atomic import write_file
from kraftops.log.ranges import ByteRange
from kraftops.log.remote import filesystem, reading
from kraftops.memory import Budget
from kraftops.query.query import Query
from kraftops.records.internal_topics import USER
from kraftops.spark.jobs.planning import Split, plan_splits
from kraftops.spark.jobs.run import run_by_range
from kraftops.spark.session.job_progress import Show
from kraftops.spark.session.session import Session
from kraftops.spark.source.segment_list import (
    ListedSegment,
    changed_files,
    directory_of,
    identities,
    list_schema,
    path_of_list,
    read_list,
    tail_crc,
)
from kraftops.uris import is_remote


def write_list(
    session: Session, base: str, sources: Sequence[Source], budget: Budget, show: Show
) -> int:
    """Write the list of the files below *base*, of which only new and changed ones are read.

    Returns:
        how many were read.

    Raises:
        SourceError: a file cannot be read.
        SparkError: the job failed.
    """
    listed = read_list(base)
    kept = {source.path: listed.get(source.path) for source in sources}
    kept |= dict.fromkeys(changed_files(kept))
    changed = [source for source in sources if kept[source.path] is None]
    splits = plan_splits(
        changed,
        session.cores,
        size=session.settings.split_bytes,
        cut=lambda path, *_: [ByteRange(path)],
    )
    work = ListWork(base, budget)
    counted = [segment for part in run_by_range(session, splits, work, show) for segment in part]
    by_file = {f"{directory_of(base)}/{segment.file}": segment for segment in counted}
    _write(base, [kept[source.path] or by_file[source.path] for source in sources])
    return len(changed)


@dataclass(frozen=True, slots=True)
class ListWork:
    """Task that counts whole files."""

    base: str
    budget: Budget

    def __call__(self, splits: Iterable[Split]) -> Iterator[list[ListedSegment]]:
        for split in splits:
            yield [
                self._segment(labelled.range.path, labelled.topic, labelled.partition)
                for labelled in split.ranges
            ]

    def _segment(self, path: str, topic: str | None, partition: int | None) -> ListedSegment:
        identity, crc = identities([path])[path], tail_crc(path)
        if identity is None or crc is None:
            raise SourceError(f"{path}: it is gone, or cannot be read")
        query = Query(salvage=True, budget=self.budget)
        summary = summarise(path, query, counting=Counting(details=False))
        return ListedSegment(
            file=path[len(directory_of(self.base)) + 1 :],
            topic=topic,
            partition=partition,
            size=identity[0],
            modified=identity[1],
            tailCrc=crc,
            firstOffset=None if summary.offsets.backward else summary.offsets.first,
            lastOffset=summary.offsets.last,
            minTimestamp=_least_time(path, self.budget),
            maxTimestamp=summary.last_time,
            batches=summary.batches.count,
            records=summary.records.count,
            damagedBytes=summary.damage.size,
        )


def _least_time(path: str, budget: Budget) -> int | None:
    """Return the least time of a record, in ms; headers have only the first and the largest."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = frozenset({"timestamp"})
    query = Query(decoder=USER, budget=budget, salvage=True, columns=columns)
    schema = pa.schema([("timestamp", pa.int64())])
    batches = scan_batches(ByteRange(path), query, Report(), schema)
    least = (pc.min(batch.column(0)).as_py() for batch in batches)
    return min((time for time in least if time is not None), default=None)


def _write(base: str, segments: Iterable[ListedSegment]) -> None:
    from pyarrow import BufferOutputStream, Table, parquet

    out = BufferOutputStream()
    parquet.write_table(Table.from_pylist([asdict(row) for row in segments], list_schema()), out)
    path, content = path_of_list(base), out.getvalue().to_pybytes()
    if not is_remote(path):
        write_file(path, f"{path}.{os.getpid()}.tmp", [content])
        return
    system, place = filesystem(path)
    with reading(path), system.open_output_stream(place) as file:
        file.write(content)
