"""The configuration that a site has given Spark, in `spark-defaults.conf`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from kraftops.errors import DecodeError, UsageError
from kraftops.java.properties import properties

_FILE = "spark-defaults.conf"


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
    path = os.path.join(environ.get("SPARK_CONF_DIR") or os.path.join(home, "conf"), _FILE)
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
