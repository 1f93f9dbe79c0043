"""Sessions on a server of Spark Connect."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.spark.session.failures import SparkError, job_errors, reason_of
from kraftops.spark.session.launch import check_reachable
from kraftops.spark.session.settings import Settings, server_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_TRIES = 6  # of a request that the server does not answer: about 10 s
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
    os.environ.setdefault(_PROGRESS_BAR, "false")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about newer releases of pandas
            spark = SparkSession.builder.remote(settings.master).create()
        from pyspark.sql.connect.client.retries import DefaultPolicy

        spark.client.set_retry_policies([DefaultPolicy(max_retries=_MOST_TRIES)])
    except PySparkImportError as error:
        raise UsageError(
            f"{server} needs a package: {error}", hint="pip install 'kraftops[spark-connect]'"
        ) from error
    except PySparkException as error:
        raise SparkError(f"cannot connect to {server}: {reason_of(error)}") from error
    try:
        with job_errors(f"cannot connect to {server}"):
            _configure(spark, settings)
        yield spark
    finally:
        with suppress(Exception):
            spark.stop()


def _configure(spark: SparkSession, settings: Settings) -> None:
    """Give a session the user's configuration, and ours where its server has none.

    Raises:
        UsageError: the server refuses a value of the user's.
    """
    from pyspark.errors import PySparkException

    known = given_conf(spark)
    for name, value in settings.session_conf().items():
        if name not in known:
            spark.conf.set(name, value)
    for name, value in settings.conf:
        if settings.is_ours(name):
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
