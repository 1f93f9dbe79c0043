"""Options of `--spark`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from kraftops.errors import UsageError
from kraftops.uris import is_remote
from kraftops_cli.syntax.option_fields import flag, given_options, names_of, option

if TYPE_CHECKING:
    from kraftops.spark.session.session import Session
    from kraftops.spark.session.settings import Settings
    from kraftops_cli.terminal.streams import Terminal

_DEFAULT_MASTER = "local[*,4]"
_MASTER = re.compile(
    r"local(\[([1-9]\d*|\*)(\s*,\s*[1-9]\d*)?\])?|local-cluster\[[\d\s,]+\]|yarn|(spark|k8s|sc)://.+"
)
_SMALL = 64 << 20  # bytes: read here in less time than Spark takes to start
_PARTITIONS = ("type", "date", "topic")
_SINKS = ("delta", "iceberg")


@dataclass(frozen=True, kw_only=True)
class SparkFindOptions:
    """The options of `--spark` of a command that only prints."""

    spark: bool = flag("--spark", help="Run on Spark, for logs too large for one machine.")
    master: str | None = option(
        "--master URL",
        help="Spark's master: spark://HOST:PORT, yarn, k8s://…; Spark Connect: sc://HOST:PORT."
        f"  [default: {_DEFAULT_MASTER}]",
    )
    conf: tuple[str, ...] = option(
        "--conf KEY=VALUE",
        multiple=True,
        help="Configuration of Spark, such as spark.executor.memory=4g; may be repeated.",
    )
    shared_paths: bool = flag(
        "--shared-paths", help="With a cluster: every node sees the files under the same paths."
    )
    verbose: bool = flag("--verbose", help="Show the log of Spark.")


@dataclass(frozen=True, kw_only=True)
class SparkOptions(SparkFindOptions):
    """The options of `--spark` of a command that dumps."""

    single_file: bool = flag("--single-file", help="Join the parts into one file.")
    partition_by: str | None = option(
        "--partition-by",
        type=click.Choice(_PARTITIONS),
        help="Write rows into a directory for each type, date (UTC) or topic.",
    )
    sink: str | None = option(
        "--sink",
        type=click.Choice(_SINKS),
        help="Write --output as a table of Delta or Iceberg, all rows at once.",
    )
    sql: str | None = option(
        "--sql SELECT", help="Answer SQL on the table `log`; the screen shows 1,000 rows."
    )
    explain: bool = flag("--dry-run", former=("--explain",), help="Show the plan only.")


SHARED = names_of(SparkFindOptions)
SPARK = names_of(SparkOptions)
"""The names of the parameters; the first is needed for all others."""
OF_SPARK_COMMANDS, OF_SPARK_DUMPS = SHARED[1:], SPARK[1:]
"""Those of commands that always run on Spark."""
GROUPS = {"Spark": SPARK}
"""The names of the parameters below the title of the help."""


@dataclass(frozen=True, slots=True)
class SparkRequest:
    """What is asked of Spark; *conf* and *site* are names and values."""

    master: str = _DEFAULT_MASTER
    conf: tuple[tuple[str, str], ...] = ()
    site: tuple[tuple[str, str], ...] = ()
    shared_paths: bool = False
    verbose: bool = False
    single_file: bool = False
    explain: bool = False
    partition_by: str | None = None
    sink: str | None = None
    sql: str | None = None

    def settings(self) -> Settings:
        from kraftops.spark.session.settings import Settings

        conf = (*self._sink_conf(), *self.conf)
        return Settings(self.master, conf, self.verbose, self.site)

    def _sink_conf(self) -> list[tuple[str, str]]:
        """Return Spark settings that the sink needs, without those that are configured already."""
        if self.sink is None:
            return []
        from kraftops.spark.sql.sinks import SINKS

        given = {name for name, _ in (*self.conf, *self.site)}
        return [pair for pair in SINKS[self.sink].conf.items() if pair[0] not in given]


def spark_request(ctx: click.Context, options: SparkFindOptions) -> SparkRequest | None:
    """Return what the options ask of Spark; None without `--spark`.

    Raises:
        click.UsageError: an option needs `--spark`.
        UsageError: a configuration is malformed, or that of the site cannot be read.
    """
    if not options.spark:
        given = given_options(ctx)
        for name in sorted(given.keys() & {*SPARK}):
            raise click.UsageError(f"{given[name]} needs --spark", ctx)
        return None
    from kraftops.spark.session.settings import site_conf

    site = site_conf(os.environ)
    by_name = dict(site)
    master = options.master
    if master is None:
        master = os.environ.get("SPARK_REMOTE") or by_name.get(
            "spark.remote", by_name.get("spark.master")
        )
    request = SparkRequest(
        master=_DEFAULT_MASTER if master is None else _checked_master(master),
        conf=tuple(map(_pair, options.conf)),
        site=site,
        shared_paths=options.shared_paths,
        verbose=options.verbose,
    )
    if not isinstance(options, SparkOptions):
        return request
    return replace(
        request,
        single_file=options.single_file,
        explain=options.explain,
        partition_by=options.partition_by,
        sink=options.sink,
        sql=options.sql,
    )


def warn_if_small(settings: Settings, size: int, terminal: Terminal) -> None:
    """Warn if *size* bytes are not worth the start of Spark."""
    if 0 < size < _SMALL and settings.is_local:
        terminal.line("this is a small log: without --spark it takes less time")


def warn_if_slow(session: Session, terminal: Terminal) -> None:
    """Warn about workers that lack the compiled engine, if this process has it."""
    if session.slow_text is not None:
        terminal.line(session.slow_text)


def refuse_local(request: SparkRequest, paths: Iterable[str]) -> None:
    """Refuse local paths for the workers of a cluster.

    Raises:
        UsageError: there is a local path.
    """
    if request.shared_paths or request.settings().is_local:
        return
    for path in paths:
        if not is_remote(path):
            raise UsageError(
                f"{path} is a path of this machine, and the workers are others",
                hint="--shared-paths, if all of them see the same there",
            )


def _checked_master(text: str) -> str:
    if not _MASTER.fullmatch(text):
        raise UsageError(
            f"{text!r} is not a master",
            hint="local[*], spark://HOST:PORT, yarn, k8s://HOST:PORT or sc://HOST:PORT",
        )
    return text


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise UsageError(f"{name!r} is not a configuration", hint="as spark.executor.memory=4g")
    if name == "spark.master":
        raise UsageError(f"{text!r} is not a configuration of ours", hint=f"--master {value}")
    _check_ours(name)
    return name, value


def _check_ours(name: str) -> None:
    from kraftops.spark.session.settings import CONF_NAMES, CONF_PREFIX

    if name.startswith(CONF_PREFIX) and name.removeprefix(CONF_PREFIX) not in CONF_NAMES:
        known = ", ".join(f"{CONF_PREFIX}{one}" for one in CONF_NAMES)
        raise UsageError(f"there is no configuration {name}", hint=f"there are {known}")
