"""SCRAM credentials that are given when a cluster is formatted (KIP-900)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.errors import DecodeError, UsageError
from kraftops.java import base64 as javabase64


class Mechanism(NamedTuple):
    """A mechanism: its number in records, its hash, and its name in Kafka's messages."""

    number: int
    hash: str
    constant: str


MECHANISMS = {
    "SCRAM-SHA-256": Mechanism(1, "sha256", "SCRAM_SHA_256"),
    "SCRAM-SHA-512": Mechanism(2, "sha512", "SCRAM_SHA_512"),
}
REDACTED = "<redacted>"
_ITERATIONS = range(4096, 16384 + 1)
_KEYS = ("name", "password", "saltedpassword", "salt", "iterations")


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential as a UserScramCredentialRecord has it; its keys never show in its `repr`."""

    name: str
    mechanism: int
    iterations: int
    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


def parse_credential(argument: str) -> Credential:
    """Return the credential of `MECHANISM=[name=…,password=…]`.

    Kafka's keys: `name`, `password` or `saltedpassword`, `salt`, `iterations`.

    Raises:
        UsageError: Kafka's `ScramParser` refuses it, with its message.
    """
    name, equals, configuration = argument.strip().partition("=")
    if not equals:
        shown = name if name in MECHANISMS else REDACTED
        raise UsageError(f"Failed to find equals sign in SCRAM argument '{shown}'")
    mechanism = MECHANISMS.get(name)
    if mechanism is None:
        raise UsageError(f"The add-scram mechanism {name} is not supported.")
    given = _components(configuration)
    if "name" not in given:
        raise UsageError("You must supply 'name' to add-scram")
    salt = _decoded(given, "salt", "salt")
    iterations = _iterations(given)
    if "password" not in given and "saltedpassword" not in given:
        raise UsageError("You must supply one of 'password' or 'saltedpassword' to add-scram")
    salted = b""
    if "password" not in given:
        if salt is None:
            raise UsageError("You must supply 'salt' with 'saltedpassword' to add-scram")
        salted = _decoded(given, "saltedpassword", "saltedPassword") or b""
    if unknown := _unknown_keys(given):
        raise UsageError(
            f"Unknown SCRAM configurations: {', '.join(unknown)}",
            hint=f"there are {', '.join(_KEYS)}; a comma ends a component: a password cannot hold "
            "one",
        )
    if iterations not in _ITERATIONS:
        limit = f"<= {_ITERATIONS[-1]}" if iterations > _ITERATIONS[0] else f">= {_ITERATIONS[0]}"
        raise UsageError(
            f"The 'iterations' value must be {limit} for add-scram using {mechanism.constant}"
        )
    if salt is None:
        salt = _random_salt()
    if "password" in given:
        password = given["password"].encode("utf-8", "surrogateescape")
        if not password:
            raise UsageError("Empty key", hint="a SCRAM password has at least one character")
        salted = hashlib.pbkdf2_hmac(mechanism.hash, password, salt, iterations)
    if not salted:
        raise UsageError("Empty key", hint="a salted password has at least one byte")
    client_key = hmac.digest(salted, b"Client Key", mechanism.hash)
    return Credential(
        name=given["name"],
        mechanism=mechanism.number,
        iterations=iterations,
        salt=salt,
        stored_key=hashlib.new(mechanism.hash, client_key).digest(),
        server_key=hmac.digest(salted, b"Server Key", mechanism.hash),
    )


def _components(configuration: str) -> dict[str, str]:
    if not configuration.startswith("["):
        raise UsageError("Expected configuration string to start with [")
    if not configuration.endswith("]"):
        raise UsageError("Expected configuration string to end with ]")
    found = {}
    # As Java splits: empty parts at the end do not count, though one part always does.
    inside = configuration[1:-1]
    for part in (inside.rstrip(",") or inside[:0]).split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(
                # It may be a password, or the rest of one that holds a comma.
                f"No equals sign found in SCRAM component: {part and REDACTED}",
                hint="a comma ends a component: a password cannot hold one",
            )
        found[key] = value[1:-1] if re.fullmatch(r'".*"', value, re.DOTALL) else value
    return found


def _unknown_keys(given: Mapping[str, str]) -> list[str]:
    """Return the keys that there are not, but for those that may be the rest of a password."""
    unknown, is_secret = set(), False
    for key in given:
        if key not in _KEYS:
            unknown.add(REDACTED if is_secret else key)
        is_secret = is_secret or key in {"password", "saltedpassword"}
    return sorted(unknown)


def _decoded(given: Mapping[str, str], key: str, shown: str) -> bytes | None:
    if key not in given:
        return None
    try:
        return javabase64.decode(given[key], javabase64.STANDARD)
    except DecodeError as error:
        value = given[key] if key == "salt" else REDACTED
        raise UsageError(f"Failed to decode given {shown}: {value}", hint=error.message) from None


def _iterations(given: Mapping[str, str]) -> int:
    text = given.get("iterations", str(_ITERATIONS[0]))
    if not re.fullmatch(r"[+-]?[0-9]{1,20}", text) or not -(1 << 31) <= int(text) < 1 << 31:
        raise UsageError(f"Failed to parse iterations count: {text}")
    return int(text)


def _random_salt() -> bytes:
    """Return about 130 random bits in the form of Kafka's salts, digits of base 36."""
    import secrets

    signs = "0123456789abcdefghijklmnopqrstuvwxyz"
    return "".join(secrets.choice(signs) for _ in range(25)).encode()
