"""The states that a browser moves through: the present one, and others at offsets of the log."""

from collections.abc import Callable

from kraftops.display.times import shown_time
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.travel import Travel
from kraftops.tree.node import Directory
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.moving import travel_of
from kraftops_shell.session.session import Session


class Moments:
    """The moment that is shown: the session's own state, or one at an earlier offset."""

    def __init__(self, session: Session) -> None:
        """Begin with the session's state."""
        self._session = session
        self._moment: int | None = None
        self._image: MetadataImage | None = None
        self.root: Directory = session.root

    @property
    def is_present(self) -> bool:
        """Whether the session's own state is shown."""
        return self._moment is None

    @property
    def image(self) -> MetadataImage | None:
        """The image that is shown; None for a tree without one."""
        source = self._session.image_source
        return self._image or (source.image if source else None)

    @property
    def log(self) -> Travel:
        """The states of the log.

        Raises:
            KraftopsError: it cannot be read again.
        """
        return travel_of(self._session)

    def refresh(self) -> bool:
        """Update the session's state, if it is shown; tell whether the tree is another.

        Raises:
            KraftopsError: the source can no longer be read.
        """
        if not self.is_present:
            return False
        self._session.refresh()
        has_changed = self._session.root is not self.root
        self.root = self._session.root
        return has_changed

    def move(self, count: int) -> bool:
        """Move by *count* changes of the state; tell whether there was one.

        Behind the last change is the session's own state.

        Raises:
            KraftopsError: the source cannot be read, or not at that offset.
        """
        source = self._session.source
        last = source.image.offset
        here = last if self._moment is None else self._moment
        travel = travel_of(self._session)
        if count < 0:
            # The last of these made the state that is shown.
            before = travel.before(here + 1, number=1 - count)[:-1]
            if before:
                self._show(source, travel, before[0].offset)
            return bool(before)
        if self.is_present:
            return False
        after = travel.after(here, number=count)
        if len(after) == count and after[-1].offset < last:
            self._show(source, travel, after[-1].offset)
        else:
            self.to_present()
        return True

    def to_present(self) -> None:
        """Show the session's own state."""
        self._moment, self._image, self.root = None, None, self._session.root

    def line(self, escape: Callable[[str], str]) -> str:
        """Return the offset, the time and the source of what is shown."""
        source, image = self._session.image_source, self.image
        if source is None or image is None:
            return ""
        offset = (
            str(image.offset) if self.is_present else f"{self._moment} of {source.image.offset}"
        )
        parts = [f"offset {offset}", shown_time(image.provenance.timestamp)]
        return "  ".join([*parts, *map(escape, source.sources[:1])])

    def _show(self, source: ImageSource, travel: Travel, offset: int) -> None:
        image = travel.at(offset=offset)
        self._moment, self._image, self.root = offset, image, source.tree(image)
