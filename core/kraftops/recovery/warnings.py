"""What is to be known before a recovery, beside what would be lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftops.image.state.findings import FindingKind
from kraftops.image.state.image import MetadataImage
from kraftops.recovery.given import GivenLog
from kraftops.storage.bootstrap.voters import Voter, java_host
from kraftops.storage.config.server_config import ServerConfig


@dataclass(frozen=True, slots=True)
class Note:
    """Something to be known before; *code* stays the same."""

    code: str
    text: str
    hint: str


def notes(
    config: ServerConfig,
    image: MetadataImage,
    logs: Sequence[GivenLog],
    chosen: GivenLog,
    after: Sequence[Voter],
) -> Iterator[Note]:
    """Yield what is to be known.

    Args:
        config: of this node.
        image: the state at the end of the chosen log.
        logs: all that were given.
        chosen: the one that goes on.
        after: the voters that there will be.
    """
    for finding in image.findings:
        if finding.kind is FindingKind.TRANSACTION:
            hint = "the next leader aborts it, as it would have without a recovery"
            yield Note("open-transaction", f"{chosen.name}: {finding.reason}", hint)
    for log in logs:
        yield from _of_log(log, chosen)
    listener = config.controller_listener
    own = next(one for one in after if one.node_id == config.node_id)
    place = (java_host(listener.host), listener.port)
    if (own.host, own.port) != place:
        text = f"this node will be the voter {own}, and listens at {place[0]}:{place[1]}"
        yield Note("other-listener", text, "the other nodes must reach it as that voter")
    given = {log.owner.node_id for log in logs}
    if missing := sorted(image.brokers.keys() - given):
        shown = ", ".join(map(str, missing))
        yield Note(
            "brokers-not-given",
            f"how far the brokers {shown} have read is not known: their logs were not given",
            "give their __cluster_metadata-0 with --from; or move it away before they start, they "
            "fetch it anew",
        )


def _of_log(log: GivenLog, chosen: GivenLog) -> Iterator[Note]:
    if log is not chosen and log.damage:
        hint = "it is not chosen; what lies behind the damage nobody knows"
        yield Note("damaged", f"{log.name}: {log.damage}", hint)
    if log.tail and not log.tail.batches:
        text = f"{log.name}: {log.tail.rest} bytes at its end are no whole batch"
        yield Note("unfinished-end", text, "a server cuts them off, and so does this")
    if log.owner.cluster_id is None:
        text = f"{log.name} has no meta.properties beside it that names its cluster"
        yield Note("unknown-cluster", text, "make sure that it is this one")
