"""Voters after a recovery: this node alone, named ones, or the present ones at other hosts."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kraftops.display import quoting
from kraftops.errors import UsageError
from kraftops.java.hosts import host_text
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.metadata_log.content import VoterSet, voters_of
from kraftops.server.metadata_log.recovery_mark import voter_identities
from kraftops.server.voters import Voter, parse_initial_controllers
from kraftops.storage.bootstrap.records import voters_record
from kraftops.storage.config.server_config import ServerConfig
from kraftops.uuids import to_text

SELF = "self"
_HOST_PORT = re.compile(r"(?:\[([^\]=]+)\]|([^\[\]:=]+))(?::([0-9]{1,5}))?")


class HostPort(NamedTuple):
    """A host and a port; None is any port."""

    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def parse_host_changes(text: str) -> dict[HostPort, HostPort]:
    """Return new addresses by old ones of `OLD=NEW,…`, each HOST or HOST:PORT.

    Raises:
        UsageError: it is of another form.
    """
    changes: dict[HostPort, HostPort] = {}
    for change in filter(None, map(str.strip, text.split(","))):
        old, new = map(_host_port, change.partition("=")[::2])
        if old is None or new is None:
            hint = "expected OLD=NEW, each a host or HOST:PORT"
            raise UsageError(f"--listener-hosts {change}: {hint}")
        if changes.setdefault(old, new) != new:
            raise UsageError(f"--listener-hosts: {old} is named twice")
    if not changes:
        raise UsageError("--listener-hosts: expected OLD=NEW,…")
    return changes


def _host_port(text: str) -> HostPort | None:
    if text.count(":") > 1 and not text.startswith("["):
        return HostPort(host_text(text), None)  # an IPv6 address
    match = _HOST_PORT.fullmatch(text.strip())
    if match is None or int(match[3] or 0) > 0xFFFF:
        return None
    return HostPort(host_text(match[1] or match[2]), int(match[3]) if match[3] else None)


def target_record(
    config: ServerConfig,
    directory_id: bytes,
    quorum: VoterSet,
    named: str | None,
    host_changes: Mapping[HostPort, HostPort],
) -> Mapping[str, Any]:
    """Return the VotersRecord to write.

    Args:
        config: the configuration of this node.
        directory_id: the id of its metadata directory.
        quorum: the control records of the chosen log.
        named: `self`, or voters in the form of `--initial-controllers`; None with host changes.
        host_changes: the new addresses of the present voters by their old ones.

    Raises:
        UsageError: the voters are of another form.
        RecoveryRefused: no voter is at an address that changes.
    """
    listener = config.controller_listener
    if named == SELF:
        host = host_text(_own_host(config, quorum))
        alone = Voter(config.node_id, directory_id, host, listener.port)
        return voters_record([alone], listener.name)
    if named is not None and "@" not in named:
        raise UsageError(
            f"--voters {named}: expected self, or ID@HOST:PORT:DIRECTORY_ID,…",
            "kafka-storage recover-plan takes ids: it reads the rest in the copies of nodes",
        )
    if named is not None:
        return voters_record(parse_initial_controllers(named), listener.name)
    if quorum.record is None:
        raise RecoveryRefused(
            "static-quorum",
            "the quorum is static: the addresses of its voters are in controller.quorum.voters",
            "change them there, on all nodes; or name the voters with --voters, which makes it "
            "dynamic",
        )
    return _with_new_hosts(quorum.record, host_changes)


def is_list_of_ids(text: str) -> bool:
    """Tell whether a text is a list of node ids, separated by commas."""
    return all(word.strip().isdecimal() for word in text.split(","))


def _own_host(config: ServerConfig, quorum: VoterSet) -> str:
    """Return the host of this node's listener; if that has none, the one that the log has."""
    hosts = {voter.node_id: voter.host for voter in quorum.voters or ()}
    if config.advertised_controllers[0].host is None and (host := hosts.get(config.node_id)):
        return host
    return config.controller_listener.host


def _with_new_hosts(
    record: Mapping[str, Any], changes: Mapping[HostPort, HostPort]
) -> Mapping[str, Any]:
    used: set[HostPort] = set()

    def changed(endpoint: Mapping[str, Any]) -> Mapping[str, Any]:
        host, port = endpoint["host"], endpoint["port"]
        for old in (HostPort(host, port), HostPort(host, None)):
            if new := changes.get(old):
                used.add(old)
                return {**endpoint, "host": new.host, "port": new.port or port}
        for old, new in changes.items():
            if new.host == host and new.port in (None, port):
                used.add(old)  # an earlier run has changed it
        return endpoint

    voters = [
        {**voter, "endpoints": [changed(endpoint) for endpoint in voter["endpoints"]]}
        for voter in record["voters"]
    ]
    if unused := [old for old in changes if old not in used]:
        names = ", ".join(str(voter) for voter in voters_of(record))
        raise RecoveryRefused("unknown-host", f"no voter is at {unused[0]}", f"they are: {names}")
    return {**record, "voters": voters}


def is_recovered_for(chosen: LogCopy, new_voters: Sequence[Voter], *, is_named: bool) -> bool:
    """Tell whether the chosen log was recovered for these voters already.

    Then it has what a majority had, and may be given to an empty voter.

    Raises:
        RecoveryRefused: it was recovered to other voters, and is not named.
    """
    if chosen.recovered is None or chosen.recovered.is_superseded:
        return False
    old_voters = chosen.recovered.voters
    if voter_identities(new_voters) != voter_identities(old_voters) and not is_named:
        raise second_recovery(chosen, chosen)
    return set(new_voters) == set(old_voters)


def second_recovery(recovered: LogCopy, chosen: LogCopy) -> RecoveryRefused:
    """Return the refusal of a recovery beside, or behind, a log that was recovered to others."""
    assert recovered.recovered
    base = "" if recovered is chosen else f", and {chosen.name} goes on from before that"
    return RecoveryRefused(
        "already-recovered",
        f"{recovered.name} was recovered at offset {recovered.recovered.offset}, to the voters "
        f"{', '.join(map(str, recovered.recovered.voters))}{base}: recovered to others too, there "
        "would be two clusters with the same id",
        "start those voters, and let this node join them: kafka-cluster controllers add. "
        f"Only if they are lost for good: --choose {quoting.quote(chosen.name)}",
    )


def check_target_voters(
    config: ServerConfig,
    logs: Sequence[LogCopy],
    old_voters: Sequence[Voter],
    new_voters: Sequence[Voter],
) -> None:
    """Refuse voters that would do harm, or never vote.

    Args:
        config: the configuration of this node.
        logs: all logs, that of this node first.
        old_voters: the voters of the chosen log; none if the quorum is static.
        new_voters: the voters after the recovery.

    Raises:
        RecoveryRefused: there is one, with the reason.
    """
    check_own_voter(config, logs[0], new_voters)
    _check_addresses(old_voters, new_voters)
    old_directories = {voter.directory_id for voter in old_voters}
    by_node = {log.owner.node_id: log for log in reversed(logs)}
    for voter in new_voters:
        log = by_node.get(voter.node_id)
        if log is None and voter.directory_id not in old_directories:
            raise RecoveryRefused(
                "unknown-voter",
                f"the log of voter {voter} was not given, and no quorum had it so",
                "give it with --from, or leave the voter out and add it once the quorum is there: "
                "kafka-cluster controllers add",
            )
        if log is None:
            continue
        _check_id(log, voter)
        # A new voter that is alone asks nobody, and gets the chosen log before it starts.
        if log.is_empty and (len(new_voters) > 1 or voter.directory_id in old_directories):
            raise RecoveryRefused(
                "empty-voter",
                f"{log.name} is empty: as voter {voter.node_id} it would vote for a log without "
                "records, and be trusted to have them",
                "remove its meta.properties and format it with --no-initial-controllers, which "
                "gives it a new id; once the quorum is there, kafka-cluster controllers replace "
                f"--id {voter.node_id}",
            )


def check_own_voter(config: ServerConfig, own: LogCopy, new_voters: Sequence[Voter]) -> None:
    """Refuse voters of which this node is none, or has another directory id.

    Raises:
        RecoveryRefused: it is so.
    """
    own_voter = next((voter for voter in new_voters if voter.node_id == config.node_id), None)
    if own_voter is None:
        text = f"node {config.node_id} is not one of the new voters"
        raise RecoveryRefused("not-a-voter", text, "run it on one of them")
    _check_id(own, own_voter)


def _check_addresses(old_voters: Sequence[Voter], new_voters: Sequence[Voter]) -> None:
    """Refuse two voters at one address, unless they were at one before."""
    before = {voter.node_id: (voter.host, voter.port) for voter in old_voters}
    by_address: dict[tuple[str, int], Voter] = {}
    for voter in new_voters:
        first = by_address.setdefault((voter.host, voter.port), voter)
        old = {before.get(either.node_id) for either in (first, voter)}
        if first is not voter and None not in old and len(old) > 1:
            raise RecoveryRefused(
                "same-address",
                f"voters {first.node_id} and {voter.node_id} are both to be at "
                f"{HostPort(voter.host, voter.port)}",
                "give each voter an address of its own",
            )


def _check_id(log: LogCopy, voter: Voter) -> None:
    if log.owner.directory_id not in (None, voter.directory_id):
        raise RecoveryRefused(
            "other-directory-id",
            f"the directory of {log.name} has the id {to_text(log.owner.directory_id or b'')}, and "
            f"voter {voter.node_id} is to have {to_text(voter.directory_id)}",
            "a voter votes with the directory.id of its meta.properties only",
        )


def missing_majority(logs: Sequence[LogCopy], old_ids: Collection[int]) -> str:
    """Return a sentence if the logs of most voters are missing; empty if they are not."""
    voted = {*old_ids}
    read = voted & {log.owner.node_id for log in logs if not log.is_empty}
    if 2 * len(read) > len(voted):
        return ""
    if not voted:
        return "no given log names the voters: a committed record may be in none of them"
    missing, before = (", ".join(map(str, sorted(ids))) for ids in (voted - read, voted))
    lost = "a committed record may be in none of the given logs"
    nameless = [log.name for log in logs if log.owner.node_id is None and not log.is_empty]
    if nameless:
        return (
            f"of the voters {before} the logs of {missing} are not known by a meta.properties, and "
            f"may be {', '.join(nameless)}: if they are not, {lost}"
        )
    return f"of the voters {before} the logs of {missing} were not given: {lost}"
