"""Settings of Spark: master, configuration, and values derived from them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

from kraftops.errors import DecodeError, UsageError
from kraftops.java.properties import properties
from kraftops.parallel.ordered import core_count

DEFAULT_MASTER = "local[*,4]"
CONF_PREFIX = "spark.kraftops."
"""Prefix of the names of our own configuration, which Spark does not know."""
CONF_NAMES = ("splitBytes", "workerSeconds")
"""Names of our own configuration, after the prefix."""
_SITE_FILE = "spark-defaults.conf"
_TRIES = 4  # the default of `spark.task.maxFailures`
_WORKER_SECONDS = 120  # a pod of Kubernetes or a container of YARN may take a minute to begin
_LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:\s*,\s*(\d+))?\])?")
SESSION_CONF = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.python.filterPushdown.enabled": "true",
}
"""Configuration of ours that a session on a server of Spark Connect has, too."""
_BASE = {
    **SESSION_CONF,
    "spark.app.name": "kraftops",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "8",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",  # no .crc files
    "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",  # see `kraftops.dump.scan.arrow`
}
_CONNECT = "sc://"
_NO_LOG = {"spark.log.level": "OFF"}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_SHORT_TIMEOUTS = {  # or YARN's resource manager would be waited for a quarter of an hour
    "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms": "20000",
    "spark.hadoop.yarn.resourcemanager.connect.retry-interval.ms": "4000",
    "spark.hadoop.ipc.client.connect.max.retries": "2",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of Spark; with *verbose* its log is shown.

    *conf* is the user's, *site* that of the site, which Spark reads itself: it wins over ours.
    """

    master: str = DEFAULT_MASTER
    conf: tuple[tuple[str, str], ...] = ()
    verbose: bool = False
    site: tuple[tuple[str, str], ...] = ()
    is_borrowed: bool = False
    """Whether another program has started the session, and will end it."""

    @property
    def configured(self) -> dict[str, str]:
        """The configuration that is not ours."""
        return {**dict(self.site), **dict(self.conf)}

    @property
    def is_local(self) -> bool:
        """Whether processes that Spark starts on this machine do all work."""
        return _LOCAL.fullmatch(self.master) is not None

    @property
    def is_connect(self) -> bool:
        """Whether the master is a server of Spark Connect."""
        return self.master.startswith(_CONNECT)

    @property
    def full_master(self) -> str:
        """The master; a local one with more than one try for each task."""
        local = _LOCAL.fullmatch(self.master)
        if local is None or local[2]:
            return self.master
        return f"local[{local[1] or 1},{_TRIES}]"

    @property
    def tries(self) -> int:
        """Number of tries of a task."""
        local = _LOCAL.fullmatch(self.master)
        if local:
            return int(local[2] or 1)
        return int(self.configured.get("spark.task.maxFailures", _TRIES))

    @property
    def split_bytes(self) -> int | None:
        """The size of splits in bytes (`spark.kraftops.splitBytes`); None if it is not set.

        Raises:
            UsageError: it is not a number.
        """
        return self._number("splitBytes", least=1)

    @property
    def worker_seconds(self) -> int:
        """Seconds that a cluster may take to begin the first task (`spark.kraftops.workerSeconds`).

        Raises:
            UsageError: it is not a number.
        """
        seconds = self._number("workerSeconds")
        return _WORKER_SECONDS if seconds is None else seconds

    def _number(self, name: str, least: int = 0) -> int | None:
        text = self.configured.get(f"{CONF_PREFIX}{name}")
        if text is None:
            return None
        if not text.isdecimal() or int(text) < least:
            raise UsageError(f"{CONF_PREFIX}{name} is a number from {least} on, not {text!r}")
        return int(text)

    @property
    def cores(self) -> int | None:
        """Number of tasks that run at a time; None where only the cluster knows."""
        local = _LOCAL.fullmatch(self.full_master)
        if local is None:
            return None
        return core_count() if local[1] == "*" else int(local[1])

    def all_conf(self) -> dict[str, str]:
        """Return Spark's configuration: the user's values, and ours where they give none.

        Those of the site it reads itself, but they would lose against ours.
        """
        ours = {**_BASE, **({} if self.verbose else _NO_LOG)}
        ours |= _LOOPBACK if self.is_local else _SHORT_TIMEOUTS
        site = dict(self.site)
        defaults = {name: value for name, value in ours.items() if name not in site}
        return {**defaults, **dict(self.conf), "spark.master": self.full_master}

    def on_server(self, server_conf: Mapping[str, str]) -> Settings:
        """Take the number of tries of a task from a server's configuration."""
        local = _LOCAL.fullmatch(server_conf.get("spark.master", ""))
        tries = local[2] or "1" if local else server_conf.get("spark.task.maxFailures", str(_TRIES))
        ours = tuple(pair for pair in self.conf if pair[0] != "spark.task.maxFailures")
        return replace(self, conf=(*ours, ("spark.task.maxFailures", tries)))


def server_text(master: str) -> str:
    """Return a master without the parameters after its address, which may be secret."""
    scheme, slashes, rest = master.partition("://")
    return f"{scheme}{slashes}{rest.partition('/')[0]}" if scheme == "sc" else master


def site_conf(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the names and values of the file that Spark reads (`SparkSubmitArguments`).

    Without SPARK_CONF_DIR and SPARK_HOME it is in the package pyspark. Spark ignores names that do
    not begin with `spark.`.

    Raises:
        UsageError: the file cannot be read.
    """
    home = environ.get("SPARK_HOME")
    if not home:
        spec = find_spec("pyspark")
        home = next(iter(spec.submodule_search_locations or ()), "") if spec else ""
    path = os.path.join(environ.get("SPARK_CONF_DIR") or os.path.join(home, "conf"), _SITE_FILE)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            read = properties(file.read())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except DecodeError as error:
        raise UsageError(f"{path}: {error.message}") from error
    return tuple(
        (name, line.value.strip()) for name, line in read.items() if name.startswith("spark.")
    )
