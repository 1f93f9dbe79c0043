"""Beginning of a session: its console and settings, and what it says of its image."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from kraftops.display.sizes import many
from kraftops.display.times import shown_time
from kraftops.engine.metadata_state import PartitionCondition
from kraftops.image.state.image import MetadataImage
from kraftops_shell.run import run_line
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session
from kraftops_shell.session.settings_file import open_settings
from kraftops_terminal.widths import width_of_text

_LEAVE = "Tab completes, Ctrl-T searches paths, exit leaves."
_TRY = (
    f"Try summary, ls -l /image/topics/byName, help. {_LEAVE}",
    "Try summary, help; Tab completes, exit leaves.",
    "Try summary or help; exit leaves.",
)


class About(NamedTuple):
    """What is said of the image that is browsed, for a width in columns."""

    toolbar: Callable[[int], str]
    welcome: Callable[[int], Sequence[str]]


def begin(session: Session, console: Console) -> None:
    """Give a session its console, and on a terminal its settings."""
    session.console, session.err = console, console.error
    session.call = partial(run_line, session)
    session.is_on_terminal = console.is_input_terminal and console.is_output_terminal
    if session.is_on_terminal:
        opened = open_settings(console.environment)
        session.settings, session.settings_file, problem = opened
        if problem:
            console.error(problem)


def fitting(texts: Sequence[str], width: int) -> str:
    """Return the first text that fits into *width* columns, else the last, cut."""
    for text in texts:
        if width_of_text(text) <= width:
            return text
    text = texts[-1]
    while width_of_text(text) > width:
        text = text[:-1]
    return text


def toolbar_text(source: str, image: MetadataImage, width: int, newest: int | None = None) -> str:
    """Return offset, time and source of an image, in a line; long names lose their beginning.

    The *newest* offset is shown where the image is an earlier one.
    """
    if image.offset < 0:  # a state before the log
        return fitting([f" before the first record  {name}" for name in _shorter(source)], width)
    time = shown_time(image.provenance.timestamp)
    begin = f" offset {image.offset}"
    if newest is not None and newest > image.offset:  # a state that was loaded may be the earlier
        begin += f" of {newest}"
    names = _shorter(source)
    texts = [f"{begin}  {time}  {name}" for name in names]
    texts += [f"{begin}  {time[:19]}  {name}" for name in names]
    return fitting([*texts, f"{begin}  {time}", f"{begin}  {time[:19]}", begin], width)


def welcome_lines(source: str, image: MetadataImage, width: int) -> list[str]:
    """Return three lines: what was loaded, what it has, and what to try."""
    time = shown_time(image.provenance.timestamp)
    where = [f"at offset {image.offset}, {time}", f"at offset {image.offset}"]
    loaded = [f"{name} {text}" for text in where for name in _shorter(source)]
    return [
        fitting([*loaded, *where], width),
        fitting(_counted(image), width),
        fitting(_TRY, width),
    ]


def _shorter(source: str) -> list[str]:
    names = [source]
    while "/" in names[-1].strip("/"):
        names.append(names[-1].strip("/").partition("/")[2])
    return names


def _counted(image: MetadataImage) -> list[str]:
    """Return what there is, and how much of it is in trouble, in several lengths.

    No record is read again for it.
    """
    fold = image.fold
    partitions = many(fold.partition_count(), "partition")
    brokers, topics = many(len(image.brokers), "broker"), many(fold.topic_count(), "topic")
    there = f"{brokers}, {topics}, {partitions}"
    counts = [(fold.count_with(trouble), name) for trouble, name in _TROUBLES]
    trouble = ", ".join(f"{count} {name}" for count, name in counts if count) or "all in sync"
    return [f"{there}; {trouble}.", f"{partitions}; {trouble}.", f"{there}."]


_TROUBLES = (
    (PartitionCondition.LEADERLESS, "leaderless"),
    (PartitionCondition.UNDER_REPLICATED, "under-replicated"),
)
