"""Errors of the library: one tree; each error has a stable code, which gives the exit code.

KraftopsError
├── UsageError     a wrong request: the command line, a value given by the user
│   └── ConfigError   a server configuration that Kafka refuses; names the place
├── SourceError    a source that cannot be opened or read
├── StorageError   log directories that cannot or must not be changed
├── RefusedError   a request that would do harm: a person must decide
├── WireError      a server that cannot be reached or understood; names its address
│   ├── AuthError     authentication failed
│   ├── AnswerError   the server answered with an error code of Kafka's
│   └── UnknownOutcomeError   a change was sent, and no answer tells whether it was made
└── DecodeError    bytes that break their format
    ├── Underflow  fewer bytes than the value needs
    └── BatchLimitError  a batch that takes more than is read of one
"""

import errno
from collections.abc import Mapping
from typing import Any, NamedTuple, Self


class Code(NamedTuple):
    """The exit code of an error, and its meaning."""

    exit_code: int
    meaning: str


CODES: Mapping[str, Code] = {
    "failed": Code(1, "the message has the reason; its line has no code"),
    "usage": Code(1, "options or arguments are wrong"),
    "missing-package": Code(1, "a Python package is needed that is not installed"),
    "bad-configuration": Code(1, "a configuration has a wrong value, or cannot be read"),
    "unreadable": Code(1, "a file or another source cannot be opened or read"),
    "not-writable": Code(1, "the output, or a directory, cannot be written"),
    "damaged": Code(1, "bytes break their format; 3 in a recovery: a person can choose"),
    "not-done": Code(1, "log directories cannot be changed"),
    "authentication-failed": Code(1, "a login, or a certificate, is refused"),
    "not-permitted": Code(1, "the user may not do this"),
    "not-kafka": Code(1, "no Kafka answers there, or one that expects TLS"),
    "wrong-node": Code(1, "a controller answered where a broker was expected, or the reverse"),
    "not-supported": Code(1, "the server is too old, or lacks what is needed"),
    "server-error": Code(1, "a server answered with an error of Kafka's, in kafkaErrorCode"),
    "no-archive": Code(1, "a file is not a tar or zip archive, or is damaged"),
    "no-room": Code(1, "an archive does not fit into the temporary directory"),
    "exists": Code(3, "an output file or directory exists already"),
    "differs": Code(3, "formatted directories differ from what is asked"),
    "empty-voter": Code(3, "a controller without a log would vote beside others"),
    "holds-data": Code(3, "a directory to format holds partitions"),
    "in-use": Code(3, "another process holds the lock of a log directory"),
    "metadata-lost": Code(3, "a new quorum would begin beside partitions of an old one"),
    "other-broker": Code(3, "a directory has partitions of other brokers"),
    "refused": Code(3, "a person must decide; the message has the reason"),
    "broker-running": Code(3, "a broker is not fenced: it runs"),
    "broker-has-replicas": Code(3, "a broker still holds replicas"),
    "broker-not-visible": Code(3, "the user may not see whether a broker is still needed"),
    "broker-age-unknown": Code(3, "the log does not tell how long a broker has been fenced"),
    "not-confirmed": Code(3, "the change was not confirmed"),
    "majority-at-risk": Code(3, "the quorum loses its majority, or could after one more failure"),
    "static-quorum": Code(3, "the voters are in the configuration of nodes: kraft.version is 0"),
    "quorum-not-found": Code(3, "nodes would find no voter at the addresses that they have"),
    "other-cluster": Code(3, "the cluster has another id than was expected"),
    "already-recovered": Code(3, "the log was recovered before, to other voters"),
    "cannot-ask": Code(3, "a controller answers, but does not say whether it leads"),
    "changed": Code(3, "the log has changed since it was looked at"),
    "in-log-directory": Code(3, "a backup in a log directory would stop a broker"),
    "last-epoch": Code(3, "the highest epoch has no successor"),
    "minority": Code(3, "several voters are to go on, but the logs of most are missing"),
    "no-backup": Code(3, "there is nothing to undo with"),
    "no-controller": Code(3, "the configuration is that of a broker only"),
    "no-identity": Code(3, "a meta.properties is missing, or has no cluster.id or directory.id"),
    "no-log": Code(3, "a directory or archive holds no metadata log"),
    "no-partitions": Code(3, "none of the disks has a copy of a partition"),
    "no-records": Code(3, "no server has ever written to any of the logs"),
    "not-a-voter": Code(3, "this node is not one of the new voters"),
    "not-formatted": Code(3, "the metadata directory has no meta.properties that can be read"),
    "old-release": Code(3, "the server is older than 3.9, and cannot read the voters' record"),
    "other-backup": Code(3, "the copy belongs to another directory"),
    "other-directory-id": Code(3, "a voter is to have another directory.id than its own"),
    "other-identity": Code(3, "directories belong to another node or cluster, or two have one id"),
    "other-log": Code(3, "two logs were never equal"),
    "quorum-alive": Code(
        3, "a controller leads, most voters run (then leader is null), or most logs are whole"
    ),
    "running": Code(3, "a server holds the lock of a directory"),
    "same-address": Code(3, "two voters that had different addresses would get the same one"),
    "several-logs": Code(3, "two copies belong to one node"),
    "started": Code(3, "a server has been started since the recovery that is to be undone"),
    "unknown-host": Code(3, "no voter is at a host that is to change"),
    "unknown-voter": Code(3, "a voter is new, and its log is not given"),
    "unseen-brokers": Code(3, "the disks of registered brokers were not read"),
    "not-found": Code(4, "what was named does not exist: a file, topic, group, log or broker"),
    "broker-not-registered": Code(4, "a broker that was named is not registered"),
    "no-answer": Code(5, "a server cannot be reached, or does not answer in time"),
    "no-leader": Code(5, "the quorum has no leader now, or another one"),
    "not-in-time": Code(5, "what was waited for did not happen in time"),
    "stalled": Code(5, "nothing moved for --stall-timeout; the message has the causes"),
    "unknown-outcome": Code(6, "a change was sent, and it is not known whether it was made"),
    "hook-failed": Code(1, "a command of --hook ended with an error, or not in time"),
    "interrupted": Code(130, "Ctrl-C or a signal ended the work; the answer has what was done"),
}
"""The codes of errors, which stay the same between versions."""


def with_code(message: str, code: str) -> str:
    """Return a message for people with its code, which `kraftops explain` knows."""
    # `failed` explains nothing that the message does not say.
    return message if code == "failed" else f"{message} [{code}]"


class KraftopsError(Exception):
    """Base of all errors.

    *hint* says what to try; *known* are facts about the error for programs: names of JSON fields
    and values for JSON.
    """

    code = "failed"

    def __init__(
        self, message: str, hint: str | None = None, *, code: str | None = None, **known: object
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.known: Mapping[str, object] = known
        if code is not None:
            self.code = code

    def with_known(self, facts: Mapping[str, object]) -> Self:
        """Add facts for programs, and return the error."""
        self.known = {**facts, **self.known}
        return self

    @property
    def exit_code(self) -> int:
        """The exit code of a command that fails with this error."""
        return CODES[self.code].exit_code


class UsageError(KraftopsError):
    """The request is wrong."""

    code = "usage"


class ConfigError(UsageError):
    """A server configuration is refused; the message begins with the place, then Kafka's text."""

    code = "bad-configuration"


class SourceError(KraftopsError):
    """A source cannot be opened or read; the message names it."""

    code = "unreadable"

    @classmethod
    def of(cls, path: str, error: OSError) -> Self:
        """Return the error of a read, with the code `not-found` if the path does not exist."""
        is_missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        code = "not-found" if is_missing else cls.code
        return cls(f"cannot read {path}: {error.strerror}", code=code, path=path)


class StorageError(KraftopsError):
    """A log directory cannot be changed, or should not be; the message names it."""

    code = "not-done"


class RefusedError(KraftopsError):
    """The request would do harm; an option, or an answer, says that it is wanted."""

    code = "refused"


class WireError(KraftopsError):
    """A server cannot be reached, or not understood; the message names its address."""

    code = "no-answer"

    @classmethod
    def at(cls, address: object, text: str, hint: str | None = None, **known: Any) -> Self:
        return cls(f"{address}: {text}", hint, address=str(address), **known)


class AuthError(WireError):
    """Authentication failed: the user, the password, the mechanism or a certificate."""

    code = "authentication-failed"


_CODES_OF_KAFKA = {
    6: "no-leader",
    7: "no-answer",
    29: "not-permitted",
    31: "not-permitted",
    41: "no-leader",
    102: "broker-not-registered",
    104: "other-cluster",
}
"""Codes by Kafka's error codes (`Errors`); all others are `server-error`."""


class AnswerError(WireError):
    """A server answered with Kafka's *error_code*; -1 is an answer that makes no sense."""

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        error_code: int = -1,
        code: str | None = None,
        **known: object,
    ) -> None:
        code = code or _CODES_OF_KAFKA.get(error_code, "server-error")
        super().__init__(message, hint, code=code, kafkaErrorCode=error_code, **known)
        self.error_code = error_code


class UnknownOutcomeError(WireError):
    """A change was sent, and no answer tells whether it was made."""

    code = "unknown-outcome"


class DecodeError(KraftopsError):
    """Bytes break their format."""

    code = "damaged"


class Underflow(DecodeError):
    """The bytes end inside a value.

    Kafka's exception for it has no text, which its tools print as *cause*.
    """

    cause = "null"


class BatchLimitError(DecodeError):
    """A batch takes more than its budget allows, where Kafka's tools have no limit."""
