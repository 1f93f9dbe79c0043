"""The image that is browsed and its source, for commands that read it again at another time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from kraftops.display.times import shown_time
from kraftops.errors import UsageError
from kraftops.image.load.loading import load
from kraftops.image.load.log_size import newest_time
from kraftops.image.state.image import MetadataImage
from kraftops.server.nearby import directory_paths_near
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory


class LiveQuorum(Protocol):
    """A copy of a running quorum's log."""

    @property
    def names(self) -> tuple[str, ...]:
        """The files of its snapshot and log, as `kraftops.image.load.loading.load` takes them."""

    def state(self, *, at_offset: int | None = None, at_time: int | None = None) -> MetadataImage:
        """Return the state at another offset or time.

        Raises:
            KraftopsError: as `kraftops.image.load.loading.load`.
        """

    def complete(self, image: MetadataImage) -> None:
        """Add what the log does not tell of its leader to an image of it."""


def _now() -> int:
    return int(time.time() * 1000)


@dataclass(frozen=True)
class ImageSource:
    """The image that is browsed, and the source and options of its load."""

    image: MetadataImage
    sources: tuple[str, ...] = ()
    """Paths as `kraftops.image.load.loading.load` takes them; none for a running quorum."""
    quorum: LiveQuorum | None = None
    at_offset: int | None = None
    at_time: int | None = None
    is_limited: bool = False
    """Whether no more of a running quorum's log was read than for these."""
    show_secrets: bool = False
    version: str = ""
    now: Callable[[], int] = field(default=_now)
    """Returns the time in ms since the epoch."""

    @property
    def moment(self) -> str:
        """The time and the offset of the state, and whose log it is by."""
        of = f"the log of {', '.join(self.sources)}" if self.sources else "the running quorum"
        time = shown_time(self.image.provenance.timestamp)
        return f"State of {time}, offset {self.image.offset}, by {of}"

    def newest_time(self) -> int | None:
        """Return the newest time in the log in ms; None if there is none to read."""
        return newest_time(self.quorum.names if self.quorum else self.sources)

    @property
    def log(self) -> tuple[str, ...]:
        """The files of the image.

        Raises:
            UsageError: there are none.
        """
        if self.quorum:
            return self.quorum.names
        if not self.sources:
            raise UsageError(
                "this state comes from no files: it cannot be read again",
                hint="--snapshot with the files of a node can",
            )
        return self.sources

    def load(
        self,
        sources: Sequence[str] = (),
        *,
        at_offset: int | None = None,
        at_time: int | None = None,
    ) -> MetadataImage:
        """Load other sources, or the same source at another offset or time.

        Raises:
            KraftopsError: as `kraftops.image.load.loading.load`.
        """
        if self.quorum and not sources:
            self.refuse_if_limited()
            return self.quorum.state(at_offset=at_offset, at_time=at_time)
        names = sources or self.log
        return load(names, at_offset=at_offset, at_time=at_time, new_image=self.image.empty)

    def refuse_if_limited(self) -> None:
        """Refuse other states of a running quorum's log that was not read whole.

        Raises:
            UsageError: no more was read.
        """
        if self.quorum and self.is_limited:
            raise UsageError(
                "of the running quorum no more was read than for --at-offset or --at-time",
                hint="without these, diff @OFFSET @OFFSET shows any two states",
            )

    def tree(self, image: MetadataImage) -> Directory:
        return tree_of(
            image,
            show_secrets=self.show_secrets,
            version=self.version,
            directory_paths=partial(directory_paths_near, self.sources),
        )
