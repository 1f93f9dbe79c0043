"""Load the image of a metadata log from its files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import count

from kraftops.errors import SourceError, UsageError
from kraftops.image.load.loader import Loader, Progress, VanishedFileError
from kraftops.image.load.prior_state import prior_state_of
from kraftops.image.load.sources import files_of, read_plans
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage, NewImage
from kraftops.log.files import STANDARD_INPUT
from kraftops.memory import LEAST
from kraftops.query.times import Time, time_ms
from kraftops.uris import Paths, path_texts

TRIES = 5  # a running server deletes files between listing and opening


def load(
    source: Paths,
    *,
    at_offset: int | None = None,
    at_time: Time | None = None,
    new_image: NewImage = MetadataImage,
    progress: Progress | None = None,
) -> MetadataImage:
    """Return the metadata state of *source*.

    Reading locks and changes no file. The log of a running server is read up to its last whole
    batch. The image's `findings` have damage, gaps and records that cannot apply.

    Args:
        source: a snapshot, a segment, the directory of the metadata partition or its parent;
            several of these are one log. Of a directory, the newest whole snapshot and the
            segments after it are read, or bootstrap.checkpoint if it is the only file.
        at_offset: show the state after the record of this offset.
        at_time: show the state before the first record later than this: a datetime, ms since the
            epoch, or a text as for `--at-time`.
        new_image: makes an image without state: of a dialect, with the budget of the reading.
        progress: is called with the number of bytes read.

    Raises:
        SourceError: the source cannot be read, or has no metadata records.
        UsageError: it does not reach back to that offset or time, or the dialect is unknown.
    """
    names = path_texts(source)
    if not (at_offset is None or isinstance(at_offset, int)):
        raise UsageError(f"{at_offset!r} is not an offset")
    now = int(time.time() * 1000)
    limits = limits_of(at_offset, None if at_time is None else time_ms(at_time, now))
    for attempt in count(1):
        try:
            return _loaded(names, limits, new_image, progress)
        except VanishedFileError as error:
            if attempt == TRIES:
                raise SourceError(error.message) from None
    raise AssertionError


def load_node_log(source: str) -> MetadataImage:
    """Return the state in the metadata log on the disk of a node; errors as for `load`."""
    return load(source, new_image=partial(MetadataImage, budget=LEAST))


def limits_of(at_offset: int | None, at_time: int | None) -> Limits:
    """Return the limits of the state after the record of an offset, or at a time."""
    return Limits(
        until=Limits().until if at_offset is None else at_offset,
        time=Limits().time if at_time is None else at_time,
    )


def _loaded(
    names: list[str], limits: Limits, new_image: NewImage, progress: Progress | None
) -> MetadataImage:
    files = files_of(names)
    first = loader = None
    for plan, findings in read_plans(files, limits):
        replay = Replay(new_image(), limits)
        loader = Loader(replay, progress, may_grow=files.is_directory)
        loader.image.log_findings += findings
        first = first or loader
        if loader.read(plan):
            break
    else:
        loader = first  # no snapshot is whole: what the newest has
    if loader is None:
        raise no_log(names)
    check(loader, names, is_over=loader.is_over)
    image = loader.image
    sources = map(image.store.source, image.store.sources())
    ends = [end for _, end in sources if end is not None]
    if ends and STANDARD_INPUT not in names:
        image.offer_prior_state(partial(prior_state_of, files, ends[0], new_image))
    return image


def no_log(names: Sequence[str]) -> SourceError:
    return SourceError(
        f"{', '.join(names)}: there is no metadata log",
        "name a snapshot, a segment, or a directory that holds __cluster_metadata-0",
    )


def check(loader: Loader, names: Sequence[str], *, is_over: bool) -> None:
    """Raise an error where what was read is not a metadata log.

    Args:
        loader: has read it.
        names: of the files, for messages.
        is_over: whether a record beyond the limits was met.

    Raises:
        SourceError: there are no metadata records.
        UsageError: none is within the limits.
    """
    if not loader.has_records:
        if is_over:
            raise UsageError(f"{', '.join(names)}: it has nothing that old")
        for finding in loader.image.log_findings:
            raise SourceError(f"cannot read {finding}")
        raise SourceError(f"{', '.join(names)}: there are no metadata records in it")
    if loader.is_other_log and not is_over:
        raise SourceError(
            f"{', '.join(names)}: no record in it can be read as a metadata record",
            "is it the log of another topic, or of another dialect?",
        )
