"""The voters that there are to be: this node alone, those that are named, or the same elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kraftops.errors import UsageError
from kraftops.recovery.given import GivenLog, Quorum
from kraftops.recovery.refusal import Refused
from kraftops.storage.bootstrap.records import voters_record
from kraftops.storage.bootstrap.voters import Voter, java_host, parse_initial_controllers
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.log_recovery import voters_of
from kraftops.uuids import to_text

SELF = "self"
_PLACE = re.compile(r"(?:\[([^\]=]+)\]|([^\[\]:=]+))(?::([0-9]{1,5}))?")


class Place(NamedTuple):
    """A host, and a port if it is not any."""

    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def parse_moves(text: str) -> dict[Place, Place]:
    """Return the places of `OLD=NEW,…`, each a host or HOST:PORT.

    Raises:
        UsageError: it is of another form.
    """
    moves: dict[Place, Place] = {}
    for item in filter(None, map(str.strip, text.split(","))):
        old, _, new = item.partition("=")
        ends = [_place(old), _place(new)]
        if None in ends:
            raise UsageError(f"--listener-hosts {item}: expected OLD=NEW, each a host or HOST:PORT")
        before, after = (end for end in ends if end)
        if moves.setdefault(before, after) != after:
            raise UsageError(f"--listener-hosts: {before} is named twice")
    if not moves:
        raise UsageError("--listener-hosts: expected OLD=NEW,…")
    return moves


def _place(text: str) -> Place | None:
    if text.count(":") > 1 and not text.startswith("["):
        return Place(java_host(text), None)  # an IPv6 address
    found = _PLACE.fullmatch(text.strip())
    if found is None or int(found[3] or 0) > 0xFFFF:
        return None
    return Place(java_host(found[1] or found[2]), int(found[3]) if found[3] else None)


def wanted_record(
    config: ServerConfig,
    directory_id: bytes,
    quorum: Quorum,
    named: str | None,
    moves: Mapping[Place, Place],
) -> Mapping[str, Any]:
    """Return the VotersRecord that there is to be.

    Args:
        config: of this node.
        directory_id: of its metadata directory.
        quorum: what the chosen log says.
        named: `self`, or voters as `--initial-controllers` has them.
        moves: by which hosts the voters are reached that are not named.

    Raises:
        UsageError: the voters are of another form.
        Refused: there is nothing to move.
    """
    listener = config.controller_listener
    if named == SELF:
        alone = Voter(config.node_id, directory_id, java_host(listener.host), listener.port)
        return voters_record([alone], listener.name)
    if named:
        return voters_record(parse_initial_controllers(named), listener.name)
    if quorum.voters is None:
        raise Refused(
            "static-quorum",
            "the quorum is static: the addresses of its voters are in controller.quorum.voters",
            "change them there, on all nodes; or name the voters with --voters, which makes it "
            "dynamic",
        )
    return _moved(quorum.voters, moves)


def _moved(record: Mapping[str, Any], moves: Mapping[Place, Place]) -> Mapping[str, Any]:
    used: set[Place] = set()

    def moved(endpoint: Mapping[str, Any]) -> Mapping[str, Any]:
        host, port = endpoint["host"], endpoint["port"]
        for old in (Place(host, port), Place(host, None)):
            if new := moves.get(old):
                used.add(old)
                return {**endpoint, "host": new.host, "port": new.port or port}
        for old, new in moves.items():
            if new.host == host and new.port in (None, port):
                used.add(old)  # it has been moved before
        return endpoint

    voters = [
        {**voter, "endpoints": [moved(one) for one in voter["endpoints"]]}
        for voter in record["voters"]
    ]
    if unused := [old for old in moves if old not in used]:
        shown = ", ".join(str(voter) for voter in voters_of(record))
        raise Refused("unknown-host", f"no voter is at {unused[0]}", f"they are: {shown}")
    return {**record, "voters": voters}


def check_wanted(
    config: ServerConfig,
    own: GivenLog,
    logs: Sequence[GivenLog],
    before: Sequence[Voter],
    after: Sequence[Voter],
) -> None:
    """Refuse voters that would do harm, or never vote.

    Args:
        config: of this node, whose log is *own*.
        own: the log of this node.
        logs: all that were given.
        before: the voters of the chosen log; empty if the quorum is static.
        after: those that there are to be.

    Raises:
        Refused: with the reason.
    """
    known = {voter.directory_id for voter in before}
    ours = next((voter for voter in after if voter.node_id == config.node_id), None)
    if ours is None:
        raise Refused(
            "not-a-voter",
            f"node {config.node_id} is none of the voters that there are to be",
            "run it on one of them",
        )
    if own.is_empty and own.owner.directory_id in known:
        raise _empty(own, ours)
    if len(after) == 1:
        _check_id(own, ours)
        return
    by_node = {log.owner.node_id: log for log in reversed(logs)}
    for voter in after:
        log = by_node.get(voter.node_id)
        if log is None and voter.directory_id not in known:
            raise Refused(
                "unknown-voter",
                f"the log of voter {voter} was not given, and no quorum had it so",
                "give it with --from, or leave the voter out and add it once the quorum is there: "
                "kafka-metadata-quorum add-controller",
            )
        if log is None:
            continue
        _check_id(log, voter)
        if log.is_empty:
            raise _empty(log, voter)
    _check_majority(config, by_node, before)


def _check_id(log: GivenLog, voter: Voter) -> None:
    if log.owner.directory_id not in (None, voter.directory_id):
        raise Refused(
            "other-directory-id",
            f"the directory of {log.name} has the id {to_text(log.owner.directory_id or b'')}, and "
            f"voter {voter.node_id} is to have {to_text(voter.directory_id)}",
            "a voter votes with the directory.id of its meta.properties only",
        )


def _empty(log: GivenLog, voter: Voter) -> Refused:
    return Refused(
        "empty-voter",
        f"{log.name} is empty: as voter {voter.node_id} it would vote for a log without records, "
        "and be trusted to have them",
        "remove its meta.properties and format it with --no-initial-controllers, which gives it a "
        "new id; once the quorum is there, kafka-metadata-quorum remove-controller and "
        "add-controller",
    )


def _check_majority(
    config: ServerConfig, by_node: Mapping[int | None, GivenLog], before: Sequence[Voter]
) -> None:
    """Refuse to go on with several voters where a committed record may be in no log."""
    voted = {voter.node_id for voter in before} or set(config.voters)
    there = {node for node in voted if node in by_node and not by_node[node].is_empty}
    if 2 * len(there) <= len(voted):
        missing = ", ".join(map(str, sorted(voted - there)))
        raise Refused(
            "minority",
            f"of the voters {', '.join(map(str, sorted(voted)))} the logs of {missing} were not "
            "given: what most of them had may be in none of those here",
            "give them with --from; if they are lost, --voters self",
        )
