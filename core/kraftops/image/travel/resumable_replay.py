"""A replay of the files of a log that stands between two batches: it can be copied, and go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kraftops.errors import DecodeError
from kraftops.image.load.loader import Listener, Loader
from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.limits import Limits, span_within
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import inflated_batch
from kraftops.log.batch import Batch
from kraftops.log.log_file import LogFile
from kraftops.log.streams import open_log


@dataclass
class ResumableReplay:
    """A loader between two batches; next is byte *position* of the file of this *number*."""

    loader: Loader
    number: int = 0
    position: int = 0
    is_ended: bool = False
    """Whether damage hides all that follows."""
    is_broken: bool = False
    """Whether the snapshot at the start is not whole."""
    following: Batch | None = None
    """The next batch, if a reading has met it."""
    size: int = 0
    """About the number of bytes of the state, once it is kept."""

    @property
    def image(self) -> MetadataImage:
        """The state here; do not change it."""
        return self.loader.image

    @property
    def last_offset(self) -> int:
        """The last offset that was read, -1 before the first."""
        return (self.loader.order.next_offset or 0) - 1

    @property
    def place(self) -> tuple[int, int]:
        return self.number, self.position

    def is_within(self, limits: Limits) -> bool:
        """Tell whether everything read so far is within limits."""
        return self.last_offset <= limits.until and self.loader.newest <= limits.time

    def next_is_beyond(self, limits: Limits) -> bool:
        """Tell whether the next batch is known, and is beyond limits."""
        return self.following is not None and _is_beyond(
            self.following, limits, self.loader.covered
        )

    def copy(self) -> ResumableReplay:
        return replace(self, loader=self.loader.copy(), following=None, size=0)

    def is_still_there(self) -> bool:
        """Tell whether the last batch is still where it was read."""
        tail = self.loader.tail
        if tail is None or tail.last is None:
            return True
        with open_log(tail.path) as log:
            if not isinstance(log, LogFile):
                return True
            return log.read_at(tail.last.position, tail.last.size) == tail.last.data

    def read(
        self,
        files: Sequence[SourceFile],
        limits: Limits,
        *,
        rest: Callable[[], bool] = lambda: False,
        listen: Listener | None = None,
    ) -> Batch | None:
        """Read on up to the first batch that is not all within limits; return that batch.

        Args:
            files: the files of the log; a whole one is not read again.
            limits: of the records that count.
            rest: is called after batches, where this can be copied; it tells whether to stop.
            listen: is called with each event of the replay.

        Returns:
            The batch beyond the limits; None where *rest* stopped, and at the end of what there is.

        Raises:
            SourceError: a file cannot be read.
        """
        beyond: Batch | None = None
        is_at_rest = False
        loader = self.loader

        def stop(batch: Batch) -> bool:
            nonlocal beyond
            beyond = batch if _is_beyond(batch, limits, loader.covered) else None
            return beyond is not None

        def pause() -> bool:
            nonlocal is_at_rest
            self._note_place()
            is_at_rest = rest()
            return is_at_rest

        loader.set_limits(limits, stop=stop, pause=pause, listen=listen)
        while not self.is_ended and self.number < len(files):
            file, is_last = files[self.number], self.number == len(files) - 1
            can_follow = loader.read_small(file, self.position, is_last=is_last)
            self._note_place()
            if beyond is not None or is_at_rest:
                break
            self.is_ended = not can_follow
            self.is_broken = file.is_snapshot and not can_follow
            if is_last and not file.is_snapshot:
                break  # it may grow
            if can_follow:
                self.number, self.position = self.number + 1, 0
        self.following = beyond
        return beyond

    def cut(self, files: Sequence[SourceFile], limits: Limits, batch: Batch) -> ResumableReplay:
        """Return the state with the records of the next batch that are within limits.

        A reading cannot go on from it. Where none of them counts, and the batch says nothing
        else, it is this state.
        """
        if self._adds_nothing(batch, limits):
            return self
        replay = self.copy()
        replay.read_cut(files, limits)
        return replay

    def read_cut(
        self, files: Sequence[SourceFile], limits: Limits, listen: Listener | None = None
    ) -> None:
        """Read up to the last record within limits, also inside a batch; nothing can follow."""
        self.loader.set_limits(limits, listen=listen)
        position = self.position
        for number in range(self.number, len(files)):
            is_last = number == len(files) - 1
            can_follow = self.loader.read_small(files[number], position, is_last=is_last)
            if self.loader.is_over or not can_follow:
                break
            position = 0

    def ended(self) -> ResumableReplay:
        """Return the state at the end of the log; an open transaction is a finding."""
        if not self.loader.has_open_transaction:
            return self
        replay = self.copy()
        replay.loader.finish()
        return replay

    def _adds_nothing(self, batch: Batch, limits: Limits) -> bool:
        if any(self.loader.order.copy().follow(batch.header, "")):
            return False
        try:
            limits = limits._replace(after=self.loader.covered)
            meter = self.loader.image.store.budget.meter()
            span, _ = span_within(inflated_batch(batch, meter), limits)
        except DecodeError:
            return False
        return span.first == span.stop

    def _note_place(self) -> None:
        tail = self.loader.tail
        self.position = tail.position if tail is not None else 0


def _is_beyond(batch: Batch, limits: Limits, covered: int) -> bool:
    """Tell whether a batch has records beyond limits, by its header, as a replay does."""
    header = batch.header
    is_covered = header.last_offset <= covered
    return not is_covered and (
        header.last_offset > limits.until or header.max_timestamp > limits.time
    )
