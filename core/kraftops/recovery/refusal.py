"""Codes of the refusals of a recovery, which stay the same between versions."""

from __future__ import annotations

from kraftops.errors import StorageError

CODES = {
    "already-recovered": "the log was recovered before, to other voters",
    "cannot-ask": "a controller answers, and does not say whether it leads",
    "changed": "the log has changed since it was looked at",
    "damaged": "whole batches follow damage, a snapshot is not whole, or offsets are missing",
    "empty-voter": "a directory without a log would vote, or get the id back that a voter had",
    "in-log-directory": "a backup in a log directory would stop a broker",
    "last-epoch": "the highest epoch has no successor",
    "minority": "several voters go on, and most of the logs that they had are not given",
    "no-archive": "a file is not a tar or zip archive, or is damaged",
    "no-backup": "there is nothing to undo with",
    "no-controller": "the configuration is of a broker only",
    "no-identity": "a meta.properties is missing, or has no cluster.id or no directory.id",
    "no-log": "a directory or archive holds no metadata log",
    "no-partitions": "none of the disks has a copy of a partition",
    "no-records": "no server has ever written to any of the logs",
    "no-room": "an archive is larger than what the temporary directory has room for",
    "not-a-voter": "this node is not one of the new voters",
    "not-confirmed": "the question was not answered with yes",
    "not-formatted": "the metadata directory has no meta.properties that can be read",
    "not-there": "what was named does not exist",
    "old-release": "the server is older than 3.9, which cannot read the record of the voters",
    "other-backup": "the copy is of another directory",
    "other-cluster": "a log is of another cluster id",
    "other-directory-id": "a voter is to have another directory.id than its meta.properties says",
    "other-identity": "the directories are of another node or cluster, or two have one id",
    "other-log": "two logs were never equal",
    "quorum-alive": "a controller leads this cluster, or most voters run and can elect one (then "
    "leader is null)",
    "running": "a server holds the lock of a directory",
    "same-address": "two voters that had different addresses are to have one",
    "several-logs": "an archive holds the logs of several nodes",
    "started": "a server has been started since the recovery that is to be undone",
    "static-quorum": "the log has no addresses that could change",
    "unknown-host": "no voter is at a host that is to change",
    "unknown-voter": "a voter is new, and its log is not given",
    "unreadable": "a file cannot be read",
    "unseen-brokers": "the disks of registered brokers were not read",
}
"""Meanings of the codes of refusals."""


_NOT_POSSIBLE = frozenset({"no-archive", "no-room", "unreadable"})
"""Those that no decision of a person changes, with the exit code of other files' errors."""


class RecoveryRefused(StorageError):
    """The recovery would do harm, or a person must decide; *code* is one of `CODES`."""

    exit_code = 3

    def __init__(self, code: str, message: str, hint: str | None = None, **known: object) -> None:
        super().__init__(message, hint, code=code, **{"changed": False, **known})
        assert code in CODES
        if code in _NOT_POSSIBLE:
            self.exit_code = 1


class NotFound(RecoveryRefused):
    """A file or directory on the command line does not exist."""

    exit_code = 4
