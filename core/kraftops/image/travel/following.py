"""An image that follows a growing log, without reading it all again."""

import os
from contextlib import suppress

from kraftops.image.load.sources import files_of
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.travel import Travel


class LogFollower:
    """Follows a log by its states; *image* is another object after each change."""

    def __init__(self, travel: Travel) -> None:
        """Read the newest state; errors as `Travel.at`."""
        self._travel = travel
        self._files = self._look()
        self.image: MetadataImage = travel.at()

    def update(self) -> bool:
        """Read the new part of the log; tell whether the image has changed.

        A log that a change of the leader has truncated is read again from a state before that.

        Raises:
            SourceError: the log cannot be read any more.
        """
        files = self._look()
        if files == self._files:
            return False
        before, self.image, self._files = self.image, self._travel.at(), files
        return self.image.provenance != before.provenance

    def _look(self) -> tuple[object, ...]:
        """Return what tells whether files have changed; a prompt asks for that at each key."""
        files = files_of(self._travel.names)
        for segment in files.segments[-1:]:
            with suppress(OSError):  # to read it says why it cannot be read
                stat = os.stat(segment.path)
                return files, stat.st_ino, stat.st_size, stat.st_mtime_ns
        return (files,)
