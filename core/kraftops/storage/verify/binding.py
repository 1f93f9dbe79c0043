"""Listeners that cannot bind on this host, by what Linux lists; nothing is bound here.

A server binds every listener at its start, with SO_REUSEADDR, and ends where it cannot
(`SocketServer`); sockets that listen on the same port of another address are not in its way.
"""

import ipaddress
import os
import re
import socket
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftops.findings.finding import Finding, Place, stop_finding
from kraftops.storage.config.listeners import LISTENERS, Listener
from kraftops.storage.logdirs.node import Node

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LISTENS = "0A"  # the state in /proc/net/tcp
_ANY = (ipaddress.IPv4Address(0), ipaddress.IPv6Address(0))


class Listening(NamedTuple):
    """A socket that listens on this host, and its number in the file system of sockets."""

    address: Address
    port: int
    inode: str


class Host(NamedTuple):
    """What this host lists: its addresses, None where it does not tell, and sockets that listen."""

    addresses: frozenset[Address] | None
    listening: tuple[Listening, ...]


def read_host(proc: str = "/proc") -> Host:
    """Return the addresses and listening sockets that Linux lists."""
    listening = [
        entry
        for name in ("tcp", "tcp6")
        for line in _lines(f"{proc}/net/{name}")[1:]
        if (entry := _listening(line))
    ]
    return Host(_addresses(proc), tuple(listening))


def binding_findings(node: Node, host: Host) -> Iterator[Finding]:
    """Yield the listeners of a node that a server cannot bind on this host.

    A running server has its own listeners: where one holds the lock of a directory, ports are not
    looked at.
    """
    place = node.config.place(LISTENERS)
    is_running = any(directory.holder for directory in node.directories)
    for listener in node.config.listeners:
        if not (addresses := _bound(listener)):
            continue  # --resolve looks up names
        url = f"{listener.name}://{listener.host or ''}:{listener.port}"
        if host.addresses is not None and not any(_is_here(address, host) for address in addresses):
            problem = f"no interface of this host has the address of the listener {url}"
            cure = (
                "name an address of this host, or leave it empty for all; clients are given "
                "advertised.listeners"
            )
            yield stop_finding("foreign-address", problem, Place(file=place), cure)
        elif not is_running and (taken := _taken(addresses, listener.port, host)):
            owner = _owner(taken.inode)
            problem = f"another process listens on the port of the listener {url}{owner}"
            cure = "stop it, or give the listener another port"
            yield stop_finding("port-in-use", problem, Place(file=place), cure)


def _bound(listener: Listener) -> list[Address]:
    """Return the address that Java binds for a listener; none where its name does not resolve."""
    if not listener.host:
        return list(_ANY)
    try:
        answers = socket.getaddrinfo(listener.host, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return []
    texts = [str(answer[4][0]).partition("%")[0] for answer in answers]
    addresses = [ipaddress.ip_address(text) for text in texts]
    # Java prefers IPv4 (java.net.preferIPv6Addresses), and binds the first one.
    return sorted(addresses, key=lambda address: address.version)[:1]


def _is_here(address: Address, host: Host) -> bool:
    return (
        address in _ANY
        or (address.is_loopback and address.version == 4)
        or address in (host.addresses or ())
    )


def _taken(addresses: Iterable[Address], port: int, host: Host) -> Listening | None:
    """Return the socket that is in the way of a listener on one of these addresses.

    Java's sockets of servers are of IPv6 and take IPv4 too, so that all addresses clash with each.
    """
    for listening in host.listening:
        if port and listening.port == port:
            for address in addresses:
                if address in _ANY or listening.address in (address, *_ANY):
                    return listening
    return None


def _owner(inode: str) -> str:
    """Return the process that has a socket, where it may be seen."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{name}") == f"socket:[{inode}]":
                    return f": process {pid}"
        except OSError:
            continue  # it has ended, or is another user's
    return ""


def _listening(line: str) -> Listening | None:
    fields = line.split()
    if len(fields) < 10 or fields[3] != _LISTENS:
        return None
    text, _, port = fields[1].partition(":")
    return Listening(_address(text), int(port, 16), fields[9])


def _address(text: str) -> Address:
    """Parse an address of /proc/net/tcp: 32-bit words in host byte order."""
    words = (int(text[start : start + 8], 16) for start in range(0, len(text), 8))
    packed = b"".join(socket.htonl(word).to_bytes(4, "big") for word in words)
    address = ipaddress.ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _addresses(proc: str) -> frozenset[Address] | None:
    """Return the addresses of all interfaces; None where they are not listed."""
    # In the trie of routes, a line "/32 host LOCAL" follows each address of this host.
    trie = "\n".join(_lines(f"{proc}/net/fib_trie"))
    texts: set[str] = set(re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", trie))
    if not texts:
        return None
    addresses: set[Address] = {ipaddress.IPv4Address(text) for text in texts}
    for line in _lines(f"{proc}/net/if_inet6"):
        addresses.add(ipaddress.IPv6Address(bytes.fromhex(line.split()[0])))
    return frozenset(addresses)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().splitlines()
    except OSError:
        return []  # another system, or another user's
