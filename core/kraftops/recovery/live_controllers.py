"""Answers of controllers that run: a leader or most voters forbid a recovery, one voter does not.

Who asks passes a function, since connections are made by packages after this one.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kraftops.errors import ConfigError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.storage.config.server_config import ServerConfig

Addresses = Mapping[tuple[str, int], int | None]
"""Node ids by host and port; None where only a configuration has the address."""
_OFFLINE = "--offline skips the question: use it only if you know that no other controller runs"


@dataclass(frozen=True, slots=True)
class ControllerAnswer:
    """Answer of a controller of this cluster.

    Attributes:
        address: host and port at which it answers.
        node_id: the voter that the logs have at this address; None if they have none.
        leader: the id of the leader, as the controller names it; None without one.
        epoch: the epoch of the quorum.
        voters: the voters, if the leader tells them.
        refusal: why it does not say who leads; empty if it does.
    """

    address: str
    node_id: int | None
    leader: int | None = None
    epoch: int = 0
    voters: tuple[str, ...] = ()
    refusal: str = ""


AskControllers = Callable[[str, Addresses, str], Sequence[ControllerAnswer]]
"""Function of the path of a server.properties with the login, addresses and the cluster id.

It raises ConfigError without a login."""


def ask_controllers(
    config: ServerConfig,
    cluster_id: str,
    logs: Sequence[LogCopy],
    image: MetadataImage,
    ask: AskControllers | None,
) -> tuple[ControllerAnswer, ...] | None:
    """Return the answers of all known controllers, None if none is to be asked.

    *image* has the controllers that have registered: in a static quorum, only they and the
    configuration have addresses.

    Raises:
        RecoveryRefused: a leader answers, most voters, or a controller that does not say whether it
            leads.
    """
    if ask is None:
        return None
    try:
        answers = tuple(ask(config.path, _addresses(config, logs, image), cluster_id))
    except ConfigError as error:
        raise RecoveryRefused("cannot-ask", error.message, _OFFLINE) from None
    if leading := [answer for answer in answers if answer.leader is not None]:
        # The leader itself knows its voters; a follower may be all that this host can reach.
        answer = max(leading, key=lambda answer: (bool(answer.voters), answer.epoch))
        voters = f" of the voters {', '.join(answer.voters)}" if answer.voters else ""
        raise _alive(
            f"{answer.address} answers: controller {answer.leader} leads this cluster in epoch "
            f"{answer.epoch}{voters}",
            "let this node join that quorum: format it with --no-initial-controllers, start it, "
            "then kafka-cluster controllers add. If that leader must not go on, stop it and give "
            "its log with --from",
            answer,
        )
    if silent := [answer for answer in answers if answer.refusal]:
        text = f"a controller does not say whether it leads: {silent[0].refusal}"
        raise RecoveryRefused("cannot-ask", text, _OFFLINE, address=silent[0].address)
    running = {answer.node_id for answer in answers if answer.node_id is not None}
    for ids in {log.voter_ids(config) for log in logs}:
        if 2 * len(running & ids) > len(ids):
            raise _electing(running & ids, ids, answers)
    return answers


def _electing(
    running: Collection[int], voters: Collection[int], answers: Sequence[ControllerAnswer]
) -> RecoveryRefused:
    """Return the refusal if most voters of a log run: they can elect a leader."""
    alive, all_voters = (", ".join(map(str, sorted(ids))) for ids in (running, voters))
    return _alive(
        f"voters {alive} of {all_voters} run without a leader, and are enough to elect one",
        "wait for their leader. If they must not go on, stop them and give their logs with --from",
        replace(
            max(answers, key=lambda answer: answer.epoch),
            address=", ".join(sorted(answer.address for answer in answers)),
            voters=tuple(map(str, sorted(voters))),
        ),
    )


def _alive(message: str, hint: str, answer: ControllerAnswer) -> RecoveryRefused:
    known = {"address": answer.address, "leader": answer.leader, "epoch": answer.epoch}
    return RecoveryRefused("quorum-alive", message, hint, **known, voters=[*answer.voters])


def _addresses(config: ServerConfig, logs: Sequence[LogCopy], image: MetadataImage) -> Addresses:
    addresses: dict[tuple[str, int], int | None] = {}
    for node_id, record in image.controllers.items():
        endpoints: Any = image.read(record)[1]["endPoints"]
        addresses |= {(endpoint["host"], endpoint["port"]): node_id for endpoint in endpoints}
    for log in logs:
        for voter in log.quorum.voters or ():
            addresses[voter.host, voter.port] = voter.node_id
    for node_id, address in config.voters.items():
        addresses.setdefault(address, node_id)
    for server in config.bootstrap_servers:
        host, _, port = server.rpartition(":")
        addresses.setdefault((host.strip("[]"), int(port)), None)
    return {(host, port): node_id for (host, port), node_id in addresses.items() if host and port}


def live_findings(answers: Sequence[ControllerAnswer] | None) -> Iterator[Finding]:
    """Yield the controllers that run without a leader; or that none was asked."""
    if answers is None:
        yield Finding(
            "not-asked",
            Severity.NOTE,
            "no other controller was asked whether it leads this cluster",
            cure="make sure that none runs, or leave --offline out",
            consequence="with two leaders there are two clusters with the same id",
        )
    for answer in answers or ():
        name = "a controller" if answer.node_id is None else f"voter {answer.node_id}"
        yield Finding(
            "voter-alive",
            Severity.RISK,
            f"{name} is alive at {answer.address}, without a leader: it need not be lost",
            Place(node=answer.node_id),
            cure="stop it, give its log with --from, and name it in --voters; or stop it for good",
            consequence="if most of the old voters run again, they elect a leader of their own",
        )
