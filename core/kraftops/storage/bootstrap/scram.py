"""SCRAM credentials of a new cluster (KIP-900)."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.errors import DecodeError, UsageError
from kraftops.java import base64 as java_base64
from kraftops.java.numbers import parse_integer


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
    """A credential with the fields of UserScramCredentialRecord; its `repr` hides the keys."""

    name: str
    mechanism: int
    iterations: int
    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


def parse_credential(argument: str) -> Credential:
    """Parse the credential `MECHANISM=[name=…,password=…]`.

    Kafka's keys: `name`, `password` or `saltedpassword`, `salt`, `iterations`.

    Raises:
        UsageError: Kafka's `ScramParser` refuses it, with its message.
    """
    name, equals, configuration = argument.strip().partition("=")
    if not equals:
        public_name = name if name in MECHANISMS else REDACTED
        raise UsageError(f"Failed to find equals sign in SCRAM argument '{public_name}'")
    mechanism = MECHANISMS.get(name)
    if mechanism is None:
        raise UsageError(f"The add-scram mechanism {name} is not supported.")
    components = _components(configuration)
    if "name" not in components:
        raise UsageError("You must supply 'name' to add-scram")
    salt = _decoded(components, "salt", "salt")
    iterations = _iterations(components)
    if "password" not in components and "saltedpassword" not in components:
        raise UsageError("You must supply one of 'password' or 'saltedpassword' to add-scram")
    salted = b""
    if "password" not in components:
        if salt is None:
            raise UsageError("You must supply 'salt' with 'saltedpassword' to add-scram")
        salted = _decoded(components, "saltedpassword", "saltedPassword") or b""
    _check_keys(components)
    _check_iterations(iterations, mechanism)
    if salt is None:
        salt = _random_salt()
    if "password" in components:
        salted = _salted(components["password"], mechanism, salt, iterations)
    if not salted:
        raise UsageError("Empty key", hint="a salted password has at least one byte")
    client_key = hmac.digest(salted, b"Client Key", mechanism.hash)
    return Credential(
        name=components["name"],
        mechanism=mechanism.number,
        iterations=iterations,
        salt=salt,
        stored_key=hashlib.new(mechanism.hash, client_key).digest(),
        server_key=hmac.digest(salted, b"Server Key", mechanism.hash),
    )


def _salted(password: str, mechanism: Mechanism, salt: bytes, iterations: int) -> bytes:
    raw = password.encode("utf-8", "surrogateescape")
    if not raw:
        raise UsageError("Empty key", hint="a SCRAM password has at least one character")
    return hashlib.pbkdf2_hmac(mechanism.hash, raw, salt, iterations)


def _check_keys(components: Mapping[str, str]) -> None:
    if unknown := _unknown_keys(components):
        raise UsageError(
            f"Unknown SCRAM configurations: {', '.join(unknown)}",
            hint=f"there are {', '.join(_KEYS)}; a comma ends a component: a password cannot hold "
            "one",
        )


def _check_iterations(iterations: int, mechanism: Mechanism) -> None:
    if iterations not in _ITERATIONS:
        limit = f"<= {_ITERATIONS[-1]}" if iterations > _ITERATIONS[0] else f">= {_ITERATIONS[0]}"
        raise UsageError(
            f"The 'iterations' value must be {limit} for add-scram using {mechanism.constant}"
        )


def _components(configuration: str) -> dict[str, str]:
    if not configuration.startswith("["):
        raise UsageError("Expected configuration string to start with [")
    if not configuration.endswith("]"):
        raise UsageError("Expected configuration string to end with ]")
    components = {}
    # As `String.split`: empty parts at the end do not count, unless there is no other part.
    inside = configuration[1:-1]
    for part in (inside.rstrip(",") or inside[:0]).split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(
                # It may be a password, or the rest of one that holds a comma.
                f"No equals sign found in SCRAM component: {part and REDACTED}",
                hint="a comma ends a component: a password cannot hold one",
            )
        components[key] = value[1:-1] if re.fullmatch(r'".*"', value, re.DOTALL) else value
    return components


def _unknown_keys(components: Mapping[str, str]) -> list[str]:
    """Return the unknown keys; those after a password may be the rest of it, and are redacted."""
    unknown, is_secret = set(), False
    for key in components:
        if key not in _KEYS:
            unknown.add(REDACTED if is_secret else key)
        is_secret = is_secret or key in {"password", "saltedpassword"}
    return sorted(unknown)


def _decoded(components: Mapping[str, str], key: str, what: str) -> bytes | None:
    if key not in components:
        return None
    try:
        return java_base64.decode(components[key], java_base64.STANDARD)
    except DecodeError as error:
        value = components[key] if key == "salt" else REDACTED
        raise UsageError(f"Failed to decode given {what}: {value}", hint=error.message) from None


def _iterations(components: Mapping[str, str]) -> int:
    text = components.get("iterations", str(_ITERATIONS[0]))
    number = parse_integer(text, 32)
    if number is None:
        raise UsageError(f"Failed to parse iterations count: {text}")
    return number


def _random_salt() -> bytes:
    """Return about 130 random bits in the form of Kafka's salts, digits of base 36."""
    import secrets

    signs = "0123456789abcdefghijklmnopqrstuvwxyz"
    return "".join(secrets.choice(signs) for _ in range(25)).encode()
