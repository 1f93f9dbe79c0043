"""What the metadata shell browses: found, loaded, kept current, and described."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.image.load.loader import Progress
    from kraftops.image.state.image import MetadataImage
    from kraftops.wire.quorum.live_image import LiveImage


class Current(Protocol):
    """An image, and how it is brought up to date."""

    @property
    def image(self) -> MetadataImage:
        """The image as of the last update."""

    def update(self) -> bool:
        """Take in what has come since; tell whether the image has changed."""


@dataclass(frozen=True, slots=True)
class Still:
    """An image that stays as it is."""

    image: MetadataImage

    def update(self) -> bool:
        """Change nothing."""
        return False


class Opened(NamedTuple):
    """An image that is kept current, and the quorum that it is of, if it is of a running one."""

    current: Current
    quorum: LiveImage | None


def metadata_log(config: str) -> str:
    """Return the directory of the metadata log of the node with this configuration."""
    from kraftops.storage.config.server_config import load_config

    return load_config(config, environment=os.environ).metadata_log_dir


def opened(terminal: Terminal, source: str, options: Mapping[str, object]) -> Opened:
    """Return the image of a source, or of the quorum that the options name.

    What takes long shows how far it is.

    Raises:
        KraftopsError: it cannot be read, or the options make no sense.
    """
    from kraftops_cli.terminal.progress import Progress, is_wanted

    is_shown = is_wanted(-1)
    size = _size(source) if is_shown and options["controllers"] is None else 0
    with Progress(size, is_shown=is_shown) as progress:
        return _opened(terminal, source, options, progress.advance if is_shown else None)


def _opened(
    terminal: Terminal, source: str, options: Mapping[str, object], progress: Progress | None
) -> Opened:
    at_offset = cast("int | None", options["at_offset"])
    at_time = cast("int | None", options["at_time"])
    is_followed = bool(options["follow"])
    if options["controllers"] is not None:
        from kraftops.image.load.loading import limits_of
        from kraftops_cli.live.connect import QuorumOptions, live_image

        quorum = QuorumOptions(
            controllers=str(options["controllers"]),
            config=cast("str | None", options["config"]),
            command_config=cast("str | None", options["command_config"]),
            timeout=cast("float | None", options["timeout"]),
            expect_cluster_id=cast("str | None", options["expect_cluster_id"]),
        )
        live = live_image(terminal, quorum, limits_of(at_offset, at_time), progress)
        return Opened(live if is_followed else Still(live.image), live)
    dialect = str(options["dialect"])
    if is_followed:
        from kraftops.image.load.following import LogFollower

        return Opened(LogFollower([source], dialect, progress), None)
    from kraftops.image.load.loading import load

    image = load(source, at_offset=at_offset, at_time=at_time, dialect=dialect, progress=progress)
    return Opened(Still(image), None)


def _size(source: str) -> int:
    """Return how many bytes are read of a source, about; 0 where nobody knows."""
    from kraftops.errors import KraftopsError
    from kraftops.image.load.sources import files_of, read_plans
    from kraftops.image.replay.limits import Limits

    try:
        pieces, _ = next(read_plans(files_of([source]), Limits()))
        return sum(os.path.getsize(piece.path) for piece in pieces)
    except (KraftopsError, OSError, StopIteration):
        return 0  # whoever loads it says what is wrong


def tell_findings(terminal: Terminal, source: str, image: MetadataImage) -> int:
    """Say what is wrong with the log; return the exit code that this calls for."""
    from kraftops.image.state.findings import CUTS_SHORT

    code = 0
    for finding in image.log_findings:
        is_named = finding.source is not None and finding.source.startswith(source)
        terminal.line(str(finding) if is_named else f"{source}: {finding}")
        if finding.kind in CUTS_SHORT:
            code = 2
    if count := len(image.record_findings):
        terminal.line(f"{source}: {count} record{'s' * (count > 1)} could not be applied")
    return code


def about(source: str, image: MetadataImage) -> str:
    """Return what is browsed, in a line."""
    from kraftops.display.times import iso_time

    timestamp = image.provenance.timestamp
    time = iso_time(timestamp) if timestamp >= 0 else None
    return f" offset {image.offset}  {time or 'no time'}  {source}"
