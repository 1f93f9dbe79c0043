"""The quorum that a stream follows: addresses and client properties in options."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from kraftops.errors import UsageError
from kraftops.java.properties import Property
from kraftops.spark.source.options import CLIENT_PREFIX, SourceOptions
from kraftops.wire.config.client_keys import HONOURED, PASSED_OVER, SECURITY
from kraftops.wire.config.client_properties import ClientProperties, read_properties
from kraftops.wire.config.client_settings import client_settings, load_settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.quorum.quorum_target import QuorumTarget

_SECRET_KEYS = frozenset({"sasl.jaas.config", "ssl.keystore.key"})
"""Client properties with secrets whose names do not say so."""
_REDACTED = re.compile("secret|password|token|access[.]?key", re.IGNORECASE)
"""Names and values of options that Spark hides by itself (`spark.redaction.regex`)."""


def quorum_of(given: Mapping[str, str], source: SourceOptions) -> QuorumTarget | None:
    """Return the quorum that options name, their names in lower case; None without one.

    Raises:
        UsageError: an option means nothing there, or would be shown in plans with a secret.
        ConfigError: the file of client properties cannot be read, or has an invalid value.
    """
    properties = {
        name.removeprefix(CLIENT_PREFIX): value
        for name, value in given.items()
        if name.startswith(CLIENT_PREFIX)
    }
    if "controllers" not in given:
        for name in ["commandConfig"] * ("commandconfig" in given) + [
            f"{CLIENT_PREFIX}{key}" for key in properties
        ]:
            raise UsageError(f"{name} is for a running quorum", hint="controllers has addresses")
        return None
    if source.query.filter.topics:
        raise UsageError(
            "topics cannot be chosen by name in the log of a running quorum",
            hint="where has conditions on topicId",
        )
    path = given.get("commandconfig", "")
    if path:
        load_settings(path, _warn)
    entries = dict(read_properties(path)) if path else {}
    for key, value in properties.items():
        _check(key, value)
        entries[key] = Property(key, value, 0)
    settings = client_settings(ClientProperties(path or "options", entries))
    return QuorumTarget(parse_bootstrap(given["controllers"]), settings)


def _warn(line: str) -> None:
    sys.stderr.write(f"kraftops: {line}\n")


def _check(key: str, value: str) -> None:
    """Refuse a client property that is unknown, or whose secret Spark would show.

    Raises:
        UsageError: it is one.
    """
    if key not in HONOURED | PASSED_OVER | SECURITY.keys():
        raise UsageError(f"no option {CLIENT_PREFIX}{key}: it is no key of clients")
    if key in _SECRET_KEYS and not _REDACTED.search(value):
        raise UsageError(
            f"{CLIENT_PREFIX}{key} would be readable in plans and event logs of Spark",
            hint="put it into the file that commandConfig names",
        )
