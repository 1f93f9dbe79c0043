"""Warnings of a recovery: facts to know before it, beside what would be lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftops.image.state.findings import OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.java.hosts import host_text
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.refusal import NOTES
from kraftops.storage.bootstrap.voters import Voter
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs import quorum_state


@dataclass(frozen=True, slots=True)
class RecoveryWarning:
    """A fact to know before a recovery; *code* is one of `NOTES`."""

    code: str
    text: str
    hint: str

    def __post_init__(self) -> None:
        assert self.code in NOTES


def warnings(
    config: ServerConfig,
    image: MetadataImage,
    logs: Sequence[LogCopy],
    chosen: LogCopy,
    voters: Sequence[Voter],
) -> Iterator[RecoveryWarning]:
    """Yield the warnings of a recovery.

    Args:
        config: the configuration of this node.
        image: the state at the end of the chosen log.
        logs: all logs.
        chosen: the log that goes on.
        voters: the voters after the recovery.
    """
    for finding in image.findings:
        if finding.code == OPEN_TRANSACTION:
            hint = "the next leader aborts it, as it would have without a recovery"
            yield RecoveryWarning("open-transaction", f"{chosen.name}: {finding.text}", hint)
    for log in logs:
        yield from _log_warnings(log, chosen)
    yield from _address_warnings(config, voters)
    known = {log.owner.node_id for log in logs}
    if missing := sorted(image.brokers.keys() - known):
        shown = ", ".join(map(str, missing))
        yield RecoveryWarning(
            "brokers-not-given",
            f"how far the brokers {shown} have read is not known: their logs were not given",
            "give their __cluster_metadata-0 with --from; or move it away before they start, they "
            "fetch it anew",
        )


def _address_warnings(config: ServerConfig, voters: Sequence[Voter]) -> Iterator[RecoveryWarning]:
    own = next(voter for voter in voters if voter.node_id == config.node_id)
    listener = config.controller_listener
    has_host = config.advertised_controllers[0].host is not None
    host = host_text(listener.host) if has_host else own.host
    if (own.host, own.port) != (host, listener.port):
        text = f"this node will be the voter {own}, and listens at {host}:{listener.port}"
        yield RecoveryWarning("other-listener", text, "the other nodes must reach it as that voter")
    elif own.host == listener.host and not has_host:
        text = f"this node will be the voter {own}, since its listener has no host"
        hint = "if there are other nodes, set advertised.listeners, or name it with --voters"
        yield RecoveryWarning("no-host", text, hint)


def _log_warnings(log: LogCopy, chosen: LogCopy) -> Iterator[RecoveryWarning]:
    if log.damage:
        hint = "it is not chosen; what lies behind the damage nobody knows"
        if log is chosen:
            hint = "it goes on from the batches before the damage; the others would be lost"
        yield RecoveryWarning("damaged", f"{log.name}: {log.damage}", hint)
    if log.tail and not log.tail.batches:
        text = f"{log.name}: {log.tail.rest} bytes at its end are no whole batch"
        yield RecoveryWarning("unfinished-end", text, "a server cuts them off, and so does this")
    if log.has_bad_state:
        text = f"{log.name}: its {quorum_state.FILE_NAME} has no epoch that can be read"
        hint = (
            "remove it, or the server does not start; its epoch may be higher than all known ones"
        )
        yield RecoveryWarning("bad-quorum-state", text, hint)
    if log.owner.cluster_id is None:
        text = f"{log.name} has no meta.properties beside it that names its cluster"
        yield RecoveryWarning("unknown-cluster", text, "make sure that it is this one")
