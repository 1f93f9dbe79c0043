"""Where what is browsed comes from, for commands that read it again: at another time, or whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kraftops.errors import UsageError
from kraftops.image.image import MetadataImage
from kraftops.image.loading import load
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory


def _now() -> int:
    return int(time.time() * 1000)


@dataclass(frozen=True)
class Origin:
    """The image that is browsed, and how it was loaded."""

    image: MetadataImage
    sources: tuple[str, ...] = ()
    """Paths as `kraftops.image.loading.load` takes them; none where it came another way."""
    at_offset: int | None = None
    at_time: int | None = None
    show_secrets: bool = False
    version: str = ""
    now: Callable[[], int] = field(default=_now)
    """Returns the time in ms since the epoch."""

    @property
    def files(self) -> tuple[str, ...]:
        """The sources.

        Raises:
            UsageError: there are none.
        """
        if not self.sources:
            raise UsageError("this state comes from no files: it cannot be read again")
        return self.sources

    def load(
        self,
        sources: Sequence[str] = (),
        *,
        at_offset: int | None = None,
        at_time: int | None = None,
    ) -> MetadataImage:
        """Load other sources, or the own ones at another moment.

        Raises:
            KraftopsError: as `kraftops.image.loading.load`.
        """
        names = sources or self.files
        return load(names, at_offset=at_offset, at_time=at_time, dialect=self.image.dialect)

    def tree(self, image: MetadataImage) -> Directory:
        """Return the tree of an image in our form."""
        return tree_of(image, show_secrets=self.show_secrets, version=self.version)
