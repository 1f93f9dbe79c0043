"""The value of `sasl.jaas.config`: a login module and its options (`JaasConfig`)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from kraftops.errors import DecodeError

FLAGS = ("required", "requisite", "sufficient", "optional")
# Java's StreamTokenizer: quoted in either quotes, with escapes of C; or a word.
_TOKEN = re.compile(
    r"""\s*(?: "((?:[^"\\\n]|\\.)*)" | '((?:[^'\\\n]|\\.)*)' | ([\w.$-]+) | ([=;]) )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_MEANING = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


class Login(NamedTuple):
    """The class name of a login module, and its options."""

    module: str
    options: Mapping[str, str]


def parse_login(text: str) -> Login:
    """Parse a JAAS entry (`MODULE required KEY=VALUE …;`), of which there must be one.

    Raises:
        DecodeError: *text* is malformed; the message quotes nothing that may be a password.
    """
    tokens = _tokens(text)
    if len(tokens) < 2 or tokens[1][0].lower() not in FLAGS:
        raise DecodeError("it is not a LOGIN_MODULE required KEY=VALUE …;")
    if tokens[-1] != (";", True):
        raise DecodeError("it does not end in a semicolon")
    rest = tokens[2:-1]
    if len(rest) % 3 or any(token != ("=", True) for token in rest[1::3]):
        raise DecodeError("its options are not all KEY=VALUE, or there are two modules")
    options = {rest[index][0]: rest[index + 2][0] for index in range(0, len(rest), 3)}
    return Login(tokens[0][0], options)


def _tokens(text: str) -> list[tuple[str, bool]]:
    tokens = []
    pos = 0
    text = text.rstrip()
    while pos < len(text):
        match = _TOKEN.match(text, pos)
        if not match:
            raise DecodeError(f"it cannot be read from character {pos + 1} on")
        double, single, word, sign = match.groups()
        quoted = double if double is not None else single
        if quoted is not None:
            tokens.append((_ESCAPE.sub(_unescaped, quoted), False))
        else:
            tokens.append((word or sign, sign is not None))
        pos = match.end()
    return tokens


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    return (
        chr(int(escape, 8)) if escape.isdigit() and escape < "8" else _MEANING.get(escape, escape)
    )
