"""Live logs of fake controllers, and their events in short."""

from collections.abc import Iterator

from kraftops.log.batch import records
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.quorum.live_log import CaughtUp, Event, LiveBatch, LiveLog, Started
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.wire.quorums import Controllers, Log

SETTINGS = Settings(timeout=4.0, connect_timeout=2.0)


def live(
    controllers: Controllers,
    *nodes: int,
    notes: list[str] | None = None,
    settings: Settings = SETTINGS,
) -> LiveLog:
    """Return the live log of some controllers, or of all."""
    known = [Bootstrap(controllers.address(node)) for node in nodes or controllers.peers]
    return LiveLog(Endpoints(known, settings), note=(notes if notes is not None else []).append)


def in_short(events: Iterator[Event]) -> list[str]:
    """Return the events in short: `+N` for a record of the log, `=…` for a record of a snapshot."""
    found = []
    for event in events:
        match event:
            case Started(snapshot=snapshot):
                found.append(f"begin {snapshot}" if snapshot else "begin")
            case LiveBatch(batch=each, is_of_snapshot=is_of_snapshot):
                sign = "=" if is_of_snapshot else "+"
                found += [f"{sign}{(r.value or b'').decode()}" for r in records(each)]
            case CaughtUp(offset=offset):
                found.append(f"end {offset}")
    return found


def filled(*counts: int) -> Log:
    """Return a log with batches of so many records."""
    log = Log()
    for count in counts:
        log.append(count)
    return log
