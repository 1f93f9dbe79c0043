"""Hosts by Java's rules: the text of an address, and checks of commons-validator."""

import re
from itertools import pairwise

from kraftops.java.text import split

_GROUP = r"-0{1,3}|[0-9a-fA-F]{0,4}"


def host_text(host: str) -> str:
    """Return a host as `InetSocketAddress` shows it: addresses in their long form."""
    if ":" in host:
        return _ipv6_text(host)
    parts = host.split(".")
    if len(host) > 15 or len(parts) > 4 or not all(re.fullmatch("[0-9]+", part) for part in parts):
        return host
    *octets, last = map(int, parts)
    if last >= 1 << (8 * (4 - len(octets))) or any(octet > 0xFF for octet in octets):
        return host
    return ".".join(map(str, [*octets, *last.to_bytes(4 - len(octets))]))


def _ipv6_text(host: str) -> str:
    from socket import AF_INET6, inet_pton

    try:
        raw = inet_pton(AF_INET6, host)
    except OSError:
        return host
    if raw[:12] == bytes(10) + b"\xff\xff":
        return ".".join(map(str, raw[12:]))
    return ":".join(f"{int.from_bytes(raw[index : index + 2]):x}" for index in range(0, 16, 2))


def is_ipv4(host: str) -> bool:
    """Tell whether *host* is an IPv4 address, as commons-validator does."""
    octets = host.split(".")
    return len(octets) == 4 and all(
        re.fullmatch(r"0|[1-9][0-9]{0,2}", octet) and int(octet) <= 0xFF for octet in octets
    )


def is_ipv6(host: str) -> bool:
    """Tell whether *host* is an IPv6 address, with or without zone, as commons-validator does."""
    address, *zone = host.split("%")
    if len(zone) > 1 or zone == [""] or not _has_valid_colons(address):
        return False
    groups = split(address, ":")
    if address.endswith("::"):
        groups.append("")
    elif address.startswith("::"):
        groups.pop(0)
    has_ipv4 = bool(groups) and "." in groups[-1]
    if has_ipv4 and not is_ipv4(groups[-1]):
        return False
    if any(not (first or second) for first, second in pairwise(groups)):
        return False
    if not all(re.fullmatch(_GROUP, group) for group in (groups[:-1] if has_ipv4 else groups)):
        return False
    count = len(groups) + has_ipv4
    return count == 8 or (count < 8 and "::" in address)


def _has_valid_colons(address: str) -> bool:
    """Tell whether an address has at most one `::`, and no other colon at an end."""
    bare = address.removeprefix("::").removesuffix("::")
    is_compressed_once = address.count("::") <= 1 and ":::" not in address
    return is_compressed_once and not bare.startswith(":") and not bare.endswith(":")
