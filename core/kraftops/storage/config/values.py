"""Values of server configuration keys: read and checked as Kafka's `ConfigDef` does."""

from __future__ import annotations

import re

from kraftops.errors import ConfigError
from kraftops.java.text import double_text
from kraftops.storage.config.keys import ServerKey

_WHITE = "".join(map(chr, range(0x21)))  # what Java's `trim` takes away
# Not compiled here: start-up is short, and most configurations need few of them.
_COMMA = r"\s*,\s*"
_WHOLE = r"[+-]?\d+"
_DECIMAL = r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)"
_HEXADECIMAL = r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+)[fFdD]?"
_BITS = {"short": 16, "int": 32, "long": 64}


class Refused(ConfigError):
    """A configuration is refused because of *keys*; the message is Kafka's, without the place."""

    def __init__(self, message: str, *keys: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.keys = keys


def require(condition: bool, message: str, *keys: str, hint: str | None = None) -> None:
    """Refuse a configuration as Scala's `require` does."""
    if not condition:
        raise Refused(f"requirement failed: {message}", *keys, hint=hint)


def trimmed(text: str) -> str:
    """Return text without what Java's `trim` takes away."""
    return text.strip(_WHITE)


def java_split(text: str, separator: str) -> list[str]:
    """Return what `String.split` does: nothing for separators at the end."""
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def parse_value(key: ServerKey, text: str) -> object:
    """Return the value of a key: int, float, bool, str or tuple of str.

    Of classes only the name is known; whether there is such a class, only a JVM can tell.

    Raises:
        Refused: *text* is no such value, or the value is not allowed.
    """
    value = _typed(key, text)
    if key.check:
        value = _checked(key, value)
    return value


def default_value(key: ServerKey) -> object:
    """Return the value of a key that is not given; None where its default is null."""
    if key.default is None:
        return None
    return int(key.default) if key.type in _BITS else _typed(key, key.default)


def _invalid(key: ServerKey, value: object, why: str, hint: str | None = None) -> Refused:
    return Refused(
        f"Invalid value {value} for configuration {key.name}: {why}", key.name, hint=hint
    )


def _typed(key: ServerKey, text: str) -> object:
    bare = text.strip(_WHITE)
    number: float | None
    if key.type in _BITS:
        number = whole_number(bare, _BITS[key.type])
    elif key.type == "double":
        number = _double(bare)
    elif key.type == "boolean":
        return _boolean(key, bare, text)
    elif key.type == "list":
        return tuple(re.split(_COMMA, bare, flags=re.ASCII)) if bare else ()
    elif key.type == "class" and "." not in bare:
        raise _invalid(
            key, text, f"Class {text} could not be found.", "a class is named with its package"
        )
    else:
        return bare
    if number is None:
        raise _invalid(key, text, f"Not a number of type {key.type.upper()}")
    return number


def _boolean(key: ServerKey, bare: str, text: str) -> bool:
    # Letter by letter, as `equalsIgnoreCase`: a long s is an S in capitals.
    capitals = "".join(char.upper() for char in bare)
    if capitals not in ("TRUE", "FALSE") or len(bare) != len(capitals):
        raise _invalid(key, text, "Expected value to be either true or false")
    return capitals == "TRUE"


def whole_number(text: str, bits: int) -> int | None:
    """Return the number that Java's `parseInt` and its kin see: digits of any script."""
    if not re.fullmatch(_WHOLE, text) or max(text) > "\uffff":
        return None
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > 20:  # of which Python refuses to read thousands
        return None
    number = int(digits or 0)
    if text[0] == "-":
        number = -number
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def _double(text: str) -> float | None:
    """Return the number that Java's `parseDouble` sees."""
    if re.fullmatch(_DECIMAL, text, re.ASCII):
        return float(text.rstrip("fFdD"))
    if not (found := re.fullmatch(_HEXADECIMAL, text, re.ASCII)):
        return None
    try:
        return float.fromhex(found[1])
    except OverflowError:
        return float(f"{text[0]}inf" if text[0] in "+-" else "inf")


def _checked(key: ServerKey, value: object) -> object:
    kind, _, allowed = key.check.partition(":")
    if isinstance(value, tuple):
        return _checked_list(key, value, kind, allowed.split("|") if allowed else [])
    if isinstance(value, str):
        _check_string(key, value, kind, allowed.split("|"))
    elif isinstance(value, int | float):
        _check_number(key, value)
    return value


def _check_number(key: ServerKey, value: float) -> None:
    if key.check == "gzip":
        if not 1 <= value <= 9 and value != -1:
            raise _invalid(key, value, "Value must be between 1 and 9 or equal to -1")
        return
    low, _, high = key.check.partition("..")
    # No number is below or above the limits.
    shown = double_text(value).strip('"') if isinstance(value, float) else value
    if value < float(low):
        raise _invalid(key, shown, f"Value must be at least {low}")
    if high and value > float(high):
        raise _invalid(key, shown, f"Value must be no more than {high}")


def _check_string(key: ServerKey, value: str, kind: str, allowed: list[str]) -> None:
    listed = ", ".join(allowed)
    if kind == "text" and not value:
        raise _invalid(key, value, "String must be non-empty")
    if kind == "one-of" and value not in allowed:
        raise _invalid(key, value, f"String must be one of: {listed}")
    if kind == "any-case" and value.upper() not in allowed:
        raise _invalid(key, value, f"String must be one of (case insensitive): {listed}")


def _checked_list(
    key: ServerKey, value: tuple[str, ...], kind: str, allowed: list[str]
) -> tuple[str, ...]:
    if not kind.startswith("items"):
        return value
    if kind == "items+" and not value:
        listed = f"[{', '.join(allowed)}]" if allowed else "any non-empty value"
        raise Refused(
            f"Configuration '{key.name}' must not be empty. Valid values include: {listed}",
            key.name,
        )
    once = tuple(dict.fromkeys(value))
    for item in once:
        if not item:
            raise Refused(f"Configuration '{key.name}' values must not be empty.", key.name)
        if allowed and item not in allowed:
            raise _invalid(key, item, f"String must be one of: {', '.join(allowed)}")
    return once
