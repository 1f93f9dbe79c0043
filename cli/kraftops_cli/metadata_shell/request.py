"""The request of a run of the metadata shell: its source, command and options."""

from __future__ import annotations

from dataclasses import dataclass

from kraftops_cli.live.options import QuorumOptions
from kraftops_cli.version import KAFKA_VERSION, VERSION


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

    @property
    def is_browsed(self) -> bool:
        """Whether the command is a screen, which shows changes by itself."""
        return self.words[:1] == ("browse",)

    @property
    def is_kept_current(self) -> bool:
        """Whether the state follows its log; a screen of a running quorum does."""
        is_newest = (self.at_offset, self.at_time) == (None, None)
        return self.follow or (self.is_browsed and self.quorum is not None and is_newest)

    @property
    def version(self) -> str:
        """The version that the tree shows."""
        return KAFKA_VERSION if self.is_kafka else VERSION
