"""The request of a run of the metadata shell: its source, command and options."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.image.load.loader import Progress
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage, NewImage
from kraftops.memory import USUAL, Budget
from kraftops.server.nearby import directory_paths_near
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory
from kraftops.tree.view import Form
from kraftops_cli.version import KAFKA_VERSION, VERSION
from kraftops_shell.grammar.moments import read_moment
from kraftops_terminal.descriptors import is_terminal

if TYPE_CHECKING:
    from kraftops_cli.live.options import QuorumOptions  # it needs click, which workers may lack

_AT_MOMENT = 2
"""The words before the command in `at MOMENT COMMAND`."""


@dataclass(frozen=True, slots=True)
class ShellRequest:
    """A run of the metadata shell; without *words* it is interactive."""

    source: str
    words: tuple[str, ...]
    is_kafka: bool
    quorum: QuorumOptions | None
    """Options for a running quorum; the source is then the addresses of its controllers."""
    at_offset: int | None
    at_time: int | None
    dialect: str
    show_secrets: bool
    follow: bool
    keeps_history: bool
    budget: Budget = USUAL

    @property
    def new_image(self) -> NewImage:
        return partial(MetadataImage, self.dialect, self.budget)

    def read_at_once(self, now: int) -> ShellRequest:
        """Return the request that reads only the state of its `at MOMENT COMMAND`, for files.

        Another request, or one with a bad moment, is the same. *now* is in ms since the epoch.
        """
        is_limited = self.follow or self.is_of_past
        is_at = self.words[:1] == ("at",) and len(self.words) > _AT_MOMENT
        if self.is_kafka or self.quorum or is_limited or not is_at:
            return self
        try:
            moment = read_moment(self.words[1], now)
        except UsageError:
            return self  # the command says what is wrong
        words = self.words[_AT_MOMENT:]
        return replace(self, words=words, at_offset=moment.offset, at_time=moment.time)

    @property
    def is_of_past(self) -> bool:
        """Whether it is about an earlier state, which does not change."""
        return (self.at_offset, self.at_time) != (None, None)

    @property
    def is_browsed(self) -> bool:
        """Whether the command is a screen, which shows changes by itself."""
        return self.words[:1] == ("browse",)

    @property
    def is_kept_current(self) -> bool:
        """Whether the state follows its log: with --follow, or where a person looks at it.

        Scripts have one state of files, whatever is written meanwhile, and so has Kafka's form.
        """
        if self.follow or self.is_of_past:
            return self.follow
        is_session = self.is_browsed or not self.words
        is_grown = not self.is_kafka and is_terminal(0) and os.path.exists(self.source)
        return is_session and (self.quorum is not None or is_grown)

    def load(self, progress: Progress | None = None) -> MetadataImage:
        """Return the state of the files that it asks for; errors as `load`."""
        return load(
            self.source,
            at_offset=self.at_offset,
            at_time=self.at_time,
            new_image=self.new_image,
            progress=progress,
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The source, if it is not a running quorum."""
        return () if self.quorum else (self.source,)

    def tree(self, image: MetadataImage) -> Directory:
        """Return the tree of an image; log directories near its files are named by their paths."""
        return tree_of(
            image,
            form=Form.KAFKA if self.is_kafka else Form.OURS,
            show_secrets=self.show_secrets,
            version=self.version,
            directory_paths=partial(directory_paths_near, self.files),
        )

    @property
    def version(self) -> str:
        """The version that the tree shows."""
        return KAFKA_VERSION if self.is_kafka else VERSION
