"""Names in the tree and their values: resources, quota entities, UUIDs, numbers, codes of ACLs.

Kafka's names are those of its `ConfigurationsImageNode`, `ClientQuotasImageNode` and enumerations.
"""

import re

from kraftops.engine.metadata_state import Entity, Resource
from kraftops.errors import DecodeError
from kraftops.java.numbers import parse_integer
from kraftops.memo import Memo
from kraftops.uuids import from_text, to_text

RESOURCE_TYPES = {2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP"}
"""Types of configuration resources (`ConfigResource.Type`)."""
ACL_RESOURCES = (
    *("UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER"),
    *("TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"),
)
ACL_PATTERNS = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
ACL_OPERATIONS = (
    *("UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE"),
    *("CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
    *("CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT"),
)
ACL_PERMISSIONS = ("UNKNOWN", "ANY", "DENY", "ALLOW")
SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SCRAM_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
RECOVERY_STATES = ("RECOVERED", "RECOVERING")
UUIDS: Memo[str] = Memo(to_text)
"""Texts of UUIDs, kept: topics and directories repeat."""

_MECHANISMS = {name: number for number, name in SCRAM_MECHANISMS.items()}
_ENTITY_PARTS = {"client-id": "clientId", "ip": "ip", "user": "user"}
_ENTITY_TYPES = {part: kind for kind, part in _ENTITY_PARTS.items()}
_DEFAULT = "<default>"
_EMPTY = "<empty>"
_SPECIAL = re.compile(r"[\\()]")
_PART = re.compile(r"(?:^|_)([^()<>]*?)(?:(<default>)|\(((?:[^\\()]|\\.)*)\))(?=_|$)", re.DOTALL)


def code_name(names: tuple[str, ...], code: int) -> str:
    """Return the name of a code of an enumeration; UNKNOWN, the first, for an unknown code."""
    return names[code] if 0 <= code < len(names) else names[0]


def resource_name(resource: Resource) -> str:
    """Return the name of a configuration's directory: `TOPIC:orders`, `BROKER` for the default."""
    number, name = resource
    label = RESOURCE_TYPES.get(number, f"UNKNOWN({number})")
    return f"{label}:{name}" if name else label


def resource_of(text: str) -> Resource | None:
    label, _, name = text.partition(":")
    for number, type_name in RESOURCE_TYPES.items():
        if label == type_name:
            return number, name
    match = re.fullmatch(r"UNKNOWN\((-?\d{1,3})\)", label)
    return (int(match[1]), name) if match else None


def mechanism_name(number: int) -> str:
    return SCRAM_MECHANISMS.get(number, f"UNKNOWN({number})")


def mechanism_of(text: str) -> int | None:
    """Return the SCRAM mechanism with this directory name; None if there is none."""
    match = re.fullmatch(r"UNKNOWN\((-?\d{1,3})\)", text)
    return int(match[1]) if match else _MECHANISMS.get(text)


def entity_name(entity: Entity) -> str:
    """Return the name of a quota's directory, default parts as `user<default>`."""
    return "_".join(_parts(entity, _DEFAULT)) or _EMPTY


def kafka_entity_name(entity: Entity) -> str:
    """Return the name of a quota's directory in Kafka's shell, which leaves out default parts."""
    return "_".join(_parts(entity, None))


def _parts(entity: Entity, default: str | None) -> list[str]:
    parts = []
    for kind, name in entity:
        part = _ENTITY_PARTS.get(kind, kind)
        if name is not None:
            escaped = _SPECIAL.sub(r"\\\g<0>", name)
            parts.append(f"{part}({escaped})")
        elif default:
            parts.append(f"{part}{default}")
    return parts


def entity_of(text: str) -> Entity | None:
    """Return the entity with this directory name, its parts in any order; None if there is none."""
    if text == _EMPTY:
        return ()
    names: dict[str, str | None] = {}
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            return None
        part, is_default, value = match.groups()
        names[_ENTITY_TYPES.get(part, part)] = (
            None if is_default else re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        )
        position = match.end()
    return tuple(sorted(names.items(), key=lambda part: part[0])) or None


def integer_of(name: str) -> int | None:
    """Return the number that Java's `Integer.parseInt` reads; None if the name is not a number."""
    if name.isdecimal() and len(name) < 10:  # nearly all
        return int(name)
    return parse_integer(name, 32)


def uuid_of(name: str) -> bytes | None:
    """Return the UUID with this text; None if it is not a UUID."""
    try:
        return from_text(name)
    except DecodeError:
        return None
