"""An image that follows a growing log, without reading it all again."""

from __future__ import annotations

from kraftops.errors import SourceError
from kraftops.image.load.loader import Loader, Progress, Tail
from kraftops.image.load.loading import loaded
from kraftops.image.load.sources import files_of
from kraftops.image.replay.limits import Limits
from kraftops.image.state.findings import OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.log.files import FileKind, file_name
from kraftops.log.log_file import LogFile
from kraftops.records.dialects import KAFKA_DIALECT


class LogFollower:
    """Follows a log; `image` is another object after the log was truncated."""

    def __init__(
        self, names: list[str], dialect: str = KAFKA_DIALECT, progress: Progress | None = None
    ) -> None:
        """Load *names*; errors as `loading.load`."""
        self._names = names
        self._dialect = dialect
        self._loader = loaded(names, Limits(), dialect, progress)

    @property
    def image(self) -> MetadataImage:
        """The image; it changes with `update`."""
        return self._loader.image

    def update(self) -> bool:
        """Read the new part of the log; tell whether the image has changed.

        After a leader change has truncated the log, all of it is read again.

        Raises:
            SourceError: the log cannot be read any more.
        """
        before, provenance = self.image, self.image.provenance
        tail = self._loader.tail
        if tail is None or not self._read_on(self._loader, tail):
            self._loader = loaded(self._names, Limits(), self._dialect)
        return self.image is not before or self.image.provenance != provenance

    def _read_on(self, loader: Loader, tail: Tail) -> bool:
        """Read on after *tail*; false if the log does not continue there."""
        segments = [segment.path for segment in files_of(self._names).segments]
        if tail.path not in segments:
            # After a snapshot comes the segment with its end.
            return not segments and _is_snapshot(tail.path)
        if not (loader.has_open(tail.path) and _is_still_there(tail)):
            return False
        findings = loader.image.log_findings
        findings[:] = [finding for finding in findings if finding.code != OPEN_TRANSACTION]
        if not loader.read_on(tail.path, tail.position):
            return True
        later = segments[segments.index(tail.path) + 1 :]
        all(map(loader.read_on, later))
        return True


def _is_snapshot(path: str) -> bool:
    name = file_name(path)
    return name is not None and name.kind is FileKind.CHECKPOINT


def _is_still_there(tail: Tail) -> bool:
    """Tell whether the last batch that was read is still there."""
    if tail.last is None:
        return True
    try:
        with LogFile(tail.path) as log:
            return log.read_at(tail.last.position, tail.last.size) == tail.last.data
    except SourceError:
        return False
