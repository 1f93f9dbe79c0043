"""Errors of the library: one tree, each class with its exit code.

KraftopsError
├── UsageError     a wrong request: the command line, a value given by the user
│   └── ConfigError   a server configuration that Kafka refuses; names the place
├── SourceError    a source that cannot be opened or read
├── StorageError   log directories that cannot or must not be changed
├── WireError      a server that cannot be reached or understood; names its address
│   ├── AuthError     authentication failed
│   └── AnswerError   the server answered with an error code of Kafka's
└── DecodeError    bytes that break their format
    ├── Underflow  fewer bytes than the value needs
    └── InflationError  a batch that inflates beyond the limit
"""

from __future__ import annotations


class KraftopsError(Exception):
    """Base of all errors; *hint* says what to try."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(KraftopsError):
    """The request is wrong."""


class ConfigError(UsageError):
    """A server configuration is refused; the message begins with the place, then Kafka's text."""


class SourceError(KraftopsError):
    """A source cannot be opened or read; the message names it."""


class StorageError(KraftopsError):
    """A log directory cannot be changed, or should not be; the message names it."""


class WireError(KraftopsError):
    """A server cannot be reached, or not understood; the message names its address."""


class AuthError(WireError):
    """Authentication failed: the user, the password, the mechanism or a certificate."""


class AnswerError(WireError):
    """A server answered with Kafka's error number *code*."""

    def __init__(self, message: str, hint: str | None = None, code: int = -1) -> None:
        super().__init__(message, hint)
        self.code = code


class DecodeError(KraftopsError):
    """Bytes break their format."""


class Underflow(DecodeError):
    """The bytes end inside a value.

    Kafka's exception for it has no text, which its tools print as *cause*.
    """

    cause = "null"


class InflationError(DecodeError):
    """A batch inflates beyond the limit that was set for it."""
