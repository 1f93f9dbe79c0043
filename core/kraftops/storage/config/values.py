"""Values of server configuration keys, parsed and checked by the rules of Kafka's `ConfigDef`."""

import re

from kraftops.errors import ConfigError
from kraftops.java.numbers import double_text, parse_double, parse_integer
from kraftops.java.text import trim
from kraftops.storage.config.keys import ServerKey

# Not compiled here: start-up is short, and most configurations need few of them.
_COMMA = r"\s*,\s*"
_BITS = {"short": 16, "int": 32, "long": 64}


class ConfigRefused(ConfigError):
    """A configuration is refused because of *keys*; the message is Kafka's."""

    def __init__(self, message: str, *keys: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.keys = keys


def require(condition: object, message: str, *keys: str, hint: str | None = None) -> None:
    """Refuse a configuration as Scala's `require` does."""
    if not condition:
        raise ConfigRefused(f"requirement failed: {message}", *keys, hint=hint)


def parse_value(key: ServerKey, text: str) -> object:
    """Parse the value of a key: int, float, bool, str or tuple of str.

    Classes are not loaded: their value is the name.

    Raises:
        ConfigRefused: *text* is not a value of this type, or the value is not allowed.
    """
    value = _typed(key, text)
    if key.check:
        value = _checked(key, value)
    return value


def default_value(key: ServerKey) -> object:
    """Parse the default of a key; None is Kafka's null."""
    if key.default is None:
        return None
    return int(key.default) if key.type in _BITS else _typed(key, key.default)


def _invalid(key: ServerKey, value: object, why: str, hint: str | None = None) -> ConfigRefused:
    return ConfigRefused(
        f"Invalid value {value} for configuration {key.name}: {why}", key.name, hint=hint
    )


def _typed(key: ServerKey, text: str) -> object:
    bare = trim(text)
    number: float | None
    if key.type in _BITS:
        number = parse_integer(bare, _BITS[key.type])
    elif key.type == "double":
        number = parse_double(bare)
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
    # Letter by letter, as `equalsIgnoreCase`: a long s becomes S.
    capitals = "".join(char.upper() for char in bare)
    if capitals not in ("TRUE", "FALSE") or len(bare) != len(capitals):
        raise _invalid(key, text, "Expected value to be either true or false")
    return capitals == "TRUE"


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
    # NaN is neither below nor above the limits.
    value_text = double_text(value).strip('"') if isinstance(value, float) else value
    if value < float(low):
        raise _invalid(key, value_text, f"Value must be at least {low}")
    if high and value > float(high):
        raise _invalid(key, value_text, f"Value must be no more than {high}")


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
        raise ConfigRefused(
            f"Configuration '{key.name}' must not be empty. Valid values include: {listed}",
            key.name,
        )
    once = tuple(dict.fromkeys(value))
    for item in once:
        if not item:
            raise ConfigRefused(f"Configuration '{key.name}' values must not be empty.", key.name)
        if allowed and item not in allowed:
            raise _invalid(key, item, f"String must be one of: {', '.join(allowed)}")
    return once
