"""The image of a metadata shell: loaded from its source, kept current, and described."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kraftops.errors import KraftopsError
from kraftops.image.load.loader import Progress
from kraftops.image.load.loading import limits_of
from kraftops.image.load.sources import files_of, read_plans
from kraftops.image.replay.limits import Limits
from kraftops.image.state.findings import CUTS_SHORT
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.travel import LogFollower, Travel
from kraftops_cli.live.connect import live_image
from kraftops_cli.metadata_shell.request import ShellRequest
from kraftops_cli.terminal.streams import Terminal
from kraftops_shell.grammar.arguments import asks_for_help
from kraftops_shell.grammar.registry import commands
from kraftops_terminal.progress import Progress as ProgressBar
from kraftops_terminal.progress import Task
from kraftops_terminal.status import is_seen

if TYPE_CHECKING:
    from kraftops.wire.quorum.live_image import LiveImage


class CurrentImage(Protocol):
    """An image that can be updated."""

    @property
    def image(self) -> MetadataImage:
        """The image as of the last update."""

    def update(self) -> bool:
        """Read the new part of the log; tell whether the image has changed."""


@dataclass(frozen=True, slots=True)
class FixedImage:
    """An image without updates."""

    image: MetadataImage

    def update(self) -> bool:
        """Change nothing."""
        return False


class OpenedImage(NamedTuple):
    """An image, the running quorum that it comes from, if it does, and states that were kept."""

    current: CurrentImage
    quorum: LiveImage | None
    travel: Travel | None = None


def open_image(terminal: Terminal, request: ShellRequest) -> OpenedImage:
    """Load the image of a request, with a progress bar.

    Raises:
        KraftopsError: it cannot be read, or the options contradict each other.
    """
    if not request.is_kafka and asks_for_help(request.words, commands(kafka=False, one_shot=True)):
        return OpenedImage(FixedImage(MetadataImage()), None)
    is_shown = is_seen(-1)
    size = _size(request.source) if is_shown and not request.quorum else 0
    with ProgressBar(terminal.status, is_shown=is_shown) as bar:
        task = bar.add(Task(size))
        return _open_image(terminal, request, partial(bar.advance, task) if is_shown else None)


def _open_image(
    terminal: Terminal, request: ShellRequest, progress: Progress | None
) -> OpenedImage:
    if request.quorum:
        limits = limits_of(request.at_offset, request.at_time)
        live = live_image(terminal, request.quorum, limits, progress)
        return OpenedImage(live if request.is_kept_current else FixedImage(live.image), live)
    if request.is_kept_current or not (request.words or request.is_kafka):
        # A person may go back: the states on the way cost little now.
        travel = Travel(request.source, new_image=request.new_image)
        travel.progress = progress
        current: CurrentImage
        if request.is_kept_current:
            current = LogFollower(travel)
        else:
            current = FixedImage(travel.at(offset=request.at_offset, time=request.at_time))
        travel.progress = None
        return OpenedImage(current, None, travel)
    return OpenedImage(FixedImage(request.load(progress)), None)


def _size(source: str) -> int:
    """Return about how many bytes of a source are read; 0 if that is unknown."""
    try:
        files, _ = next(read_plans(files_of([source]), Limits()))
        return sum(os.path.getsize(file.path) for file in files)
    except (KraftopsError, OSError, StopIteration):
        return 0  # loading reports the error


def print_findings(terminal: Terminal, source: str, image: MetadataImage) -> int:
    """Print the findings about a log; return the exit code for them."""
    code = 0
    for finding in image.log_findings:
        is_named = finding.place.path.startswith(source)
        terminal.line(str(finding) if is_named else f"{source}: {finding}")
        if finding.code in CUTS_SHORT:
            code = 2
    if count := len(image.record_findings):
        terminal.line(f"{source}: {count} record{'s' * (count > 1)} could not be applied")
    return code
