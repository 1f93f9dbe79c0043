"""The events of a log over time: elections, changes of ISRs, and of all entries but partitions."""

from collections.abc import Sequence
from typing import NamedTuple

from kraftops.engine.timeline_contract import Timeline, TimelineRequest
from kraftops.image.load.loader import Loader
from kraftops.image.load.sources import files_of, whole_log_plans
from kraftops.image.replay.events import Event, SnapshotEnded
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage, NewImage

_SERIES = ("elections", "isrShrinks", "isrExpands")
_LATEST = (1 << 63) - 1  # no time is impossible
_MOST_CHANGES = 100_000  # of each table: bounds the memory of a line of events


class LogEvents(NamedTuple):
    """The number of events in each *step* ms from *start* on, and the first and last offset.

    *start* and *step* are None where no record has a time.
    """

    first_offset: int
    last_offset: int
    start: int | None
    step: int | None
    counts: list[int]

    def bucket(self, time: int) -> int:
        """Return the index in `counts` of a time in ms; times outside go to the first or last."""
        if self.start is None or self.step is None:
            return 0
        return min(max((time - self.start) // self.step, 0), len(self.counts) - 1)


def log_events(
    names: Sequence[str], *, buckets: int, new_image: NewImage = MetadataImage
) -> LogEvents | None:
    """Return the events of as much of a log as exists; None without a whole one.

    Raises:
        SourceError: it cannot be read.
    """
    files = files_of(names)
    for plan in whole_log_plans(files):
        image = new_image()
        image.fold.keep_time(TimelineRequest(0, 0, _LATEST, buckets=buckets, kept=_MOST_CHANGES))
        if not plan[0].is_snapshot:
            image.fold.start_timeline(None)

        def listen(event: Event, image: MetadataImage = image) -> None:
            if isinstance(event, SnapshotEnded):
                time = image.provenance.timestamp
                image.fold.start_timeline(time if time >= 0 else None)

        replay = Replay(image)
        loader = Loader(replay, may_grow=files.is_directory, listen=listen, hears_windows=False)
        if loader.read(plan):
            timeline = image.fold.end_timeline()
            first = (plan[0].end_offset or 1) - 1
            return None if timeline is None else _events(timeline, first, image.offset, buckets)
    return None


def _events(timeline: Timeline, first: int, last: int, buckets: int) -> LogEvents:
    if timeline.start is None or timeline.step is None or timeline.end is None:
        return LogEvents(first_offset=first, last_offset=last, start=None, step=None, counts=[])
    size = min((timeline.end - timeline.start) // timeline.step + 1, buckets)
    counts = [0] * size
    for name in _SERIES:
        for place, count in enumerate(timeline.series.get((name, None), ())):
            counts[min(place, size - 1)] += count
    for change in timeline.changes:
        counts[min(max((change.time - timeline.start) // timeline.step, 0), size - 1)] += 1
    return LogEvents(
        first_offset=first,
        last_offset=last,
        start=timeline.start,
        step=timeline.step,
        counts=counts,
    )
