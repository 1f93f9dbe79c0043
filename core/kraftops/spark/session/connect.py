"""Sessions on a server of Spark Connect."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.origin import extra_remedy
from kraftops.spark.session.failures import SparkError, job_errors, reason_of
from kraftops.spark.session.launch import check_reachable
from kraftops.spark.session.settings import CONF_PREFIX, SESSION_CONF, Settings, server_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIRST_TRIES, _LATER_TRIES = (4, 2000), (8, 15_000)  # about 5 s, a minute
_PROGRESS_BAR = "SPARK_CONNECT_PROGRESS_BAR_ENABLED"


@contextmanager
def connected(settings: Settings) -> Iterator[SparkSession]:
    """Begin a session on a server, and end it.

    Raises:
        UsageError: a package is missing, or a value of the configuration is refused.
        SparkError: the server cannot be reached, or is none.
    """
    from pyspark.errors import PySparkException, PySparkImportError
    from pyspark.sql import SparkSession

    server = server_text(settings.master)
    check_reachable(settings.master)
    if not settings.verbose:
        os.environ.setdefault(_PROGRESS_BAR, "false")
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about newer releases of pandas
        warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")  # the error says it
        try:
            spark = SparkSession.builder.remote(settings.master).create()
        except PySparkImportError as error:
            raise UsageError(
                f"{server} needs a package: {error}", hint=extra_remedy("spark-connect")
            ) from error
        except PySparkException as error:
            raise SparkError(f"cannot connect to {server}: {reason_of(error)}") from error
        try:
            with job_errors(f"cannot connect to {server}"):
                _try(spark, _FIRST_TRIES)
                _configure(spark, settings)
                _try(spark, _LATER_TRIES)
            yield spark
        finally:
            with suppress(Exception):
                spark.stop()


def _try(spark: SparkSession, tries: tuple[int, int]) -> None:
    """Limit how often a request is repeated that a server does not answer, and the wait in ms.

    The client itself would go on for ten minutes.
    """
    from pyspark.sql.connect.client.retries import DefaultPolicy

    count, wait = tries
    spark.client.set_retry_policies([DefaultPolicy(max_retries=count, max_backoff=wait)])


def _configure(spark: SparkSession, settings: Settings) -> None:
    """Give a session the user's configuration, and ours where its server has none.

    Raises:
        UsageError: the server refuses a value of the user's.
    """
    from pyspark.errors import PySparkException

    server_conf = given_conf(spark)
    for name, value in SESSION_CONF.items():
        if name not in server_conf:
            spark.conf.set(name, value)
    for name, value in settings.conf:
        if name.startswith(CONF_PREFIX):
            continue
        try:
            spark.conf.set(name, value)
        except PySparkException as error:
            raise UsageError(
                f"--conf {name}: {reason_of(error)}", hint="a server has its own configuration"
            ) from error


def given_conf(spark: SparkSession) -> Mapping[str, str]:
    """Return the configuration that the server or a user has given to a session."""
    return dict(spark.conf.getAll)
