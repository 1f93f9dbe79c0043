"""Errors of answers with hints for operators."""

from __future__ import annotations

import re

from kraftops.errors import AnswerError
from kraftops.wire.rpc.connection import Connection, NodeKind
from kraftops.wire.rpc.error_codes import (
    CLUSTER_AUTHORIZATION_FAILED,
    NO_LEADER_CODES,
    TOPIC_AUTHORIZATION_FAILED,
    UNSUPPORTED_VERSION,
)

_PERMISSION = re.compile(r"needs (\w+) permission")


def answer_error(
    connection: Connection, code: int, message: str | None, permission: str
) -> AnswerError:
    """Return the error of an answer, with a hint.

    *permission* is the one on the cluster that the API needs, unless *message* names another.
    """
    if code == CLUSTER_AUTHORIZATION_FAILED:
        named = _PERMISSION.search(message or "")
        permission = named[1] if named else permission
        return AnswerError.at(
            connection.address,
            f"not permitted: it needs {permission} on the cluster",
            hint=f"kafka-acls --add --cluster --operation {permission} grants it",
            error_code=code,
            permission=permission,
        )
    error = connection.error_of(code, message)
    if code == UNSUPPORTED_VERSION and connection.kind is NodeKind.CONTROLLER:
        error.hint = (
            "controllers answer from metadata.version 3.7-IV0 on; one that has not found its leader"
            " yet does not know it: try again"
        )
    if code in NO_LEADER_CODES:
        error.hint = "the quorum has no leader now, or another one: try again"
    return error


def topics_hidden(connection: Connection) -> AnswerError:
    """Return the error of a user from whom topics are hidden: Kafka leaves them out silently."""
    return AnswerError.at(
        connection.address,
        "not permitted: it needs DESCRIBE on the topics",
        hint="kafka-acls --add --topic '*' --operation DESCRIBE grants it",
        error_code=TOPIC_AUTHORIZATION_FAILED,
        permission="DESCRIBE",
    )
