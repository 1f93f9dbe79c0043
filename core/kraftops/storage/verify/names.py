"""Host names that do not resolve: of listeners, of voters, of bootstrap servers.

A server of Kafka 4.3.1 ends where it cannot bind a listener. It asks voters and bootstrap servers
again and again. A quorum needs a candidate that reaches a majority with itself; in a dynamic one
its followers find it by the bootstrap servers, even if its own name is lost (measured with 4.3.1).
"""

import socket
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from kraftops.display import quoting
from kraftops.findings.finding import Cure, Finding, Place, note_finding, stop_finding
from kraftops.java.hosts import is_ipv4, is_ipv6
from kraftops.parallel.background import BackgroundCall
from kraftops.storage.config.endpoints import ADVERTISED
from kraftops.storage.config.listeners import BOOTSTRAP_SERVERS, LISTENERS, VOTERS, is_host
from kraftops.storage.logdirs.node import Node, recover_command

LIMIT = 5.0
"""Seconds for all names together: as long as a resolver waits for one server (resolv.conf(5))."""
_SIDE_BY_SIDE = 16  # threads: names that do not resolve hang for seconds each
_DNS = "correct the name, or the name resolution of this machine"

Failures = Mapping[str, str]
"""The reasons why hosts do not resolve."""


def name_findings(nodes: Sequence[Node], limit: float = LIMIT) -> Iterator[Finding]:
    """Look up the names in configurations and voters; yield those that do not resolve.

    It takes at most *limit* seconds.
    """
    failures = _failures({host for node in nodes for host in _hosts(node)}, limit)
    for node in nodes:
        yield from _listeners(node, failures)
        if node.voters:
            yield from _dynamic_voters(node, nodes, failures)
        else:
            yield from _static_voters(node, failures)
        yield from _bootstrap_servers(node, failures)


def _hosts(node: Node) -> Iterator[str]:
    yield from _listener_hosts(node)
    yield from _advertised_hosts(node)
    yield from (host for host, _ in node.config.voters.values())
    yield from (voter.host for voter in node.voters)
    yield from (host for host, _ in node.bootstrap_controllers)


def _failures(hosts: Iterable[str], limit: float) -> Failures:
    """Return why hosts do not resolve; those without an answer in time are among them."""
    end = time.monotonic() + limit
    names = sorted(host for host in hosts if host and not (is_ipv4(host) or is_ipv6(host)))
    queue = deque(names)
    reasons = dict.fromkeys(names, f"no answer within {limit:g} s")

    def look_up() -> None:
        with suppress(IndexError):  # another thread has taken the last one
            while time.monotonic() < end:
                host = queue.popleft()
                reason = _failure(host)
                if time.monotonic() < end:
                    reasons[host] = reason

    # Threads that hang do not keep the process alive.
    calls = [BackgroundCall(look_up) for _ in names[:_SIDE_BY_SIDE]]
    for call in calls:
        call.wait(max(0.0, end - time.monotonic()))
    return {host: reason for host, reason in reasons.copy().items() if reason}


def _failure(host: str) -> str:
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        return error.strerror or str(error)
    except ValueError:
        return "no host can have such a name"
    return ""


def _listener_hosts(node: Node) -> list[str]:
    return [listener.host for listener in node.config.listeners if listener.host]


def _advertised_hosts(node: Node) -> list[str]:
    texts = node.config.values[ADVERTISED] or ()
    assert isinstance(texts, tuple)
    return [text.partition("://")[2].rpartition(":")[0].strip("[]") for text in texts]


def _listeners(node: Node, failures: Failures) -> Iterator[Finding]:
    config = node.config
    if hosts := _unresolved(_listener_hosts(node), failures):
        problem = f"hosts of listeners do not resolve: {hosts}; a server cannot listen there"
        yield stop_finding(
            "unresolved-listener", problem, Place(file=config.place(LISTENERS)), _DNS
        )
    if hosts := _unresolved(_advertised_hosts(node), failures):
        problem = f"advertised hosts do not resolve here: {hosts}"
        cure = "see that they do where clients and other nodes are"
        yield note_finding(
            "unresolved-listener", problem, Place(file=config.place(ADVERTISED)), cure
        )


def _dynamic_voters(node: Node, nodes: Sequence[Node], failures: Failures) -> Iterator[Finding]:
    hosts = {voter.node_id: voter.host for voter in node.voters}
    old = dict.fromkeys(host for host in hosts.values() if host in failures)
    if not old:
        return
    changes = ",".join(f"{host if is_host(host) else 'OLD'}=NEW" for host in old)
    owner = node if node.is_controller else None
    owner = owner or next((other for other in nodes if other.is_controller), None)
    command = f"kafka-storage recover --listener-hosts {quoting.quote(changes)}"
    if owner:
        command = recover_command(owner, nodes, "--listener-hosts", changes, "--dry-run")
    cure = Cure(f"{_DNS}; if the controllers have other names now, on each of them", (command,))
    # A candidate needs no name of its own; its followers find it by their bootstrap servers too.
    named = sum(host not in failures for host in hosts.values())
    reached = named + 1 if node.is_controller or named else 0
    yield _voters(hosts, failures, reached, node.metadata_path, cure)


def _static_voters(node: Node, failures: Failures) -> Iterator[Finding]:
    hosts = {number: host for number, (host, _) in node.config.voters.items()}
    if any(host in failures for host in hosts.values()):
        cure = Cure(f"{_DNS}, or change {VOTERS} on all nodes")
        own = node.config.node_id if node.is_controller else None  # it needs no name for itself
        reached = sum(number == own or host not in failures for number, host in hosts.items())
        yield _voters(hosts, failures, reached, node.config.place(VOTERS), cure)


def _voters(
    hosts: Mapping[int, str], failures: Failures, reached: int, path: str, cure: Cure
) -> Finding:
    problem = f"hosts of voters do not resolve: {_unresolved(hosts.values(), failures)}"
    if reached > len(hosts) // 2:
        return note_finding("unresolved-voter", problem, Place(file=path), *cure)
    problem += f"; of {len(hosts)} voters {reached} can be reached, which is not a majority"
    return stop_finding("unresolved-voter", problem, Place(file=path), *cure)


def _bootstrap_servers(node: Node, failures: Failures) -> Iterator[Finding]:
    hosts = [host for host, _ in node.bootstrap_controllers]
    hosts_text = _unresolved(hosts, failures)
    if not (hosts_text and node.config.bootstrap_servers):
        return
    votes = any(voter.node_id == node.config.node_id for voter in node.voters)
    problem = f"hosts of controllers do not resolve: {hosts_text}"
    place = Place(file=node.config.place(BOOTSTRAP_SERVERS))
    if votes or any(host not in failures for host in hosts):
        yield note_finding("unresolved-bootstrap-server", problem, place, _DNS)
    else:
        problem += "; it would look for the leader forever"
        yield stop_finding("unresolved-bootstrap-server", problem, place, _DNS)


def _unresolved(hosts: Iterable[str], failures: Failures) -> str:
    """Return the hosts that do not resolve, with the reasons."""
    return ", ".join(
        f"{host} ({failures[host]})" for host in dict.fromkeys(hosts) if host in failures
    )
