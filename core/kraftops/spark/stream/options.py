"""Options of a stream, parsed; the names are those of Spark's own sources."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from kraftops.display.sizes import size_of
from kraftops.errors import UsageError
from kraftops.java.properties import Property
from kraftops.spark.source.options import (
    CLIENT_PREFIX,
    ISOLATION_OF_CONSUMERS,
    STREAM_OPTIONS,
    SourceOptions,
    flag,
)
from kraftops.spark.source.partition_offsets import EARLIEST, Starts, partition_offsets
from kraftops.spark.source.table_columns import TRANSACTION_STATE
from kraftops.wire.config.client_properties import (
    HONOURED,
    PASSED_OVER,
    SECURITY,
    ClientProperties,
    read_properties,
)
from kraftops.wire.config.client_settings import client_settings, load_settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.rpc.endpoints import Endpoints

HAS_LIMITS = bool(find_spec("pyspark.sql.streaming.datasource"))
"""Whether this release of Spark asks sources for a part of what is there: since 4.2."""
_SECRET_KEYS = frozenset({"sasl.jaas.config", "ssl.keystore.key"})
"""Client properties with secrets whose names do not say so."""
_BY_TIMESTAMP = "startingOffsetsByTimestamp"
_REDACTED = re.compile("secret|password|token|access[.]?key", re.IGNORECASE)
"""Names and values of options that Spark hides by itself (`spark.redaction.regex`)."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Parsed options: *starts* are `EARLIEST`, `LATEST`, or those of each partition.

    With *are_times*, they are times in ms, and a log begins with the first record that is not
    before its time. *quorum* is whose log is followed, or None for logs in directories.
    """

    starts: str | Starts = EARLIEST
    are_times: bool = False
    max_bytes: int | None = None
    fails_on_loss: bool = True
    quorum: Endpoints | None = None


def stream_options(options: Mapping[str, str], source: SourceOptions) -> StreamOptions:
    """Return the parsed options of a stream; their names may be in any case.

    Raises:
        UsageError: one has a wrong value, means nothing in a stream, or not in this release.
    """
    by_name = {name.lower(): value for name, value in options.items()}
    if source.is_committed and "controllers" in by_name:
        raise UsageError(
            "isolationLevel does not apply to the metadata log: producers do not write it"
        )
    if TRANSACTION_STATE in source.columns:
        raise UsageError(
            "transactionState is for spark.read: a stream has rows before their markers",
            hint="isolationLevel=read_committed waits for them",
        )
    if source.pushdown:
        raise UsageError("pushdown has no effect in a stream: Spark pushes no filters into streams")
    if "endingoffsets" in by_name:
        raise UsageError("endingOffsets is an option of spark.read, not of spark.readStream")
    are_times = _BY_TIMESTAMP.lower() in by_name
    name = _BY_TIMESTAMP if are_times else "startingOffsets"
    return StreamOptions(
        starts=partition_offsets(name, by_name.get(name.lower(), EARLIEST)),
        are_times=are_times,
        max_bytes=_max_bytes(by_name.get("maxbytespertrigger")),
        fails_on_loss=flag(by_name, "failOnDataLoss", default=True),
        quorum=_quorum(by_name, source),
    )


def refuse_in_batch(options: Mapping[str, str]) -> None:
    """Refuse options of streams for a table.

    Raises:
        UsageError: there is one.
    """
    names = {name.lower() for name in options}
    client = (name for name in names if name.startswith(CLIENT_PREFIX))
    for name in (*STREAM_OPTIONS, *(name for name in client if name != ISOLATION_OF_CONSUMERS)):
        if name.lower() in names:
            raise UsageError(f"{name} is an option of spark.readStream, not of spark.read")


def _max_bytes(text: str | None) -> int | None:
    if text is None:
        return None
    size = size_of(text.strip().lower().removesuffix("b"))  # 64mb is a size of Spark's, too
    if not size:
        raise UsageError(f"maxBytesPerTrigger is a number of bytes, such as 64m, not {text!r}")
    if not HAS_LIMITS:
        import pyspark

        raise UsageError(
            f"maxBytesPerTrigger needs pyspark 4.2 or later, and this is {pyspark.__version__}",
            hint="without it, a batch has all that is there",
        )
    return size


def _quorum(by_name: Mapping[str, str], source: SourceOptions) -> Endpoints | None:
    """Return the quorum that options name, their names in lower case; None without one.

    Raises:
        UsageError: an option means nothing there, or would be shown in plans with a secret.
        ConfigError: the file of client properties cannot be read, or has an invalid value.
    """
    properties = {
        name.removeprefix(CLIENT_PREFIX): value
        for name, value in by_name.items()
        if name.startswith(CLIENT_PREFIX) and name != ISOLATION_OF_CONSUMERS
    }
    if "controllers" not in by_name:
        for name in ["commandConfig"] * ("commandconfig" in by_name) + [
            f"{CLIENT_PREFIX}{key}" for key in properties
        ]:
            raise UsageError(f"{name} is for a running quorum", hint="controllers has addresses")
        return None
    if source.query.filter.topics:
        raise UsageError(
            "topics cannot be chosen by name in the log of a running quorum",
            hint="where has conditions on topicId",
        )
    path = by_name.get("commandconfig", "")
    if path:
        load_settings(path, _warn)
    entries = dict(read_properties(path)) if path else {}
    for key, value in properties.items():
        _check_property(key, value)
        entries[key] = Property(key, value, 0)
    settings = client_settings(ClientProperties(path or "options", entries))
    return Endpoints(parse_bootstrap(by_name["controllers"]), settings)


def _warn(line: str) -> None:
    sys.stderr.write(f"kraftops: {line}\n")


def _check_property(key: str, value: str) -> None:
    """Refuse a client property that is unknown, or whose secret Spark would show.

    Raises:
        UsageError: it is one.
    """
    if key not in HONOURED | PASSED_OVER | SECURITY.keys():
        raise UsageError(f"no option {CLIENT_PREFIX}{key}: it is not a property of clients")
    if key in _SECRET_KEYS and not _REDACTED.search(value):
        raise UsageError(
            f"{CLIENT_PREFIX}{key} would be readable in plans and event logs of Spark",
            hint="put it into the file that commandConfig names",
        )
