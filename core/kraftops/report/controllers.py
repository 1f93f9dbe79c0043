"""The states of controllers over time, as far as the metadata log tells them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kraftops.engine.timeline_contract import TimedChange
from kraftops.image.state.image import MetadataImage
from kraftops.report.changes import offset_of
from kraftops.report.commands import MetadataCommands
from kraftops.report.document import Band, BandState, Leadership, NodeBands
from kraftops.timeline.tracking import ROLLING


class _Registration(NamedTuple):
    """A start of a controller's process, which registers again (KIP-919)."""

    time: int
    offset: int | None
    is_first: bool


def controller_bands(
    image: MetadataImage,
    kept: Iterable[TimedChange],
    leadership: Sequence[Leadership],
    span: tuple[int, int],
    commands: MetadataCommands,
) -> tuple[NodeBands, ...]:
    """Return the bands of all controllers that registered or led between the times of *span*.

    Nothing tells when a follower stops: its next registration is a band without length. A leader
    was down from the end of its leadership to its registration, if that came within minutes.
    """
    registrations: dict[int, list[_Registration]] = defaultdict(list)
    for change in kept:
        if change.change.table == "controllers" and change.change.after is not None:
            controller: object = change.change.key[0]
            assert isinstance(controller, int)
            registrations[controller].append(
                _Registration(
                    change.time,
                    offset_of(image, change.address),
                    is_first=change.change.before is None,
                )
            )
    leaders = {change.leader for change in leadership if change.leader >= 0}
    nodes = []
    for controller in sorted({*image.controllers, *registrations, *leaders}):
        led = [change for change in leadership if change.leader == controller]
        bands = _bands(registrations[controller], led, span, commands)
        nodes.append(NodeBands(controller, None, tuple(bands)))
    return tuple(nodes)


def _bands(
    registrations: Sequence[_Registration],
    leadership: Sequence[Leadership],
    span: tuple[int, int],
    commands: MetadataCommands,
) -> list[Band]:
    begin, end = span
    points: dict[int, tuple[BandState, int | None]] = {}
    starts: list[Band] = []
    offset: int | None = None
    if registrations and registrations[0].is_first:
        begin, offset = registrations[0][:2]
        begin = min(begin, *(led.start for led in leadership), end)
    points[begin] = "follower", offset
    for led in leadership:
        points[led.start] = "leader", led.offset
        points[led.end] = "follower", None
    for time, offset, is_first in registrations:
        if is_first or any(led.start <= time < led.end for led in leadership):
            continue
        stop = max((led.end for led in leadership if led.end <= time), default=None)
        if stop is not None and time - stop <= ROLLING and points[stop][0] == "follower":
            points[stop] = "down", None
            points[time] = "follower", offset
        else:
            starts.append(
                Band(
                    state="down",
                    start=time,
                    end=time,
                    offset=offset,
                    command=commands.record(offset),
                )
            )
    times = sorted(points)
    bands = [
        Band(
            state=points[time][0],
            start=time,
            end=until,
            offset=points[time][1],
            command=commands.record(points[time][1]),
        )
        for time, until in zip(times, [*times[1:], end], strict=True)
        if until > time
    ]
    return [*bands, *starts]  # those without length are drawn upon the others
