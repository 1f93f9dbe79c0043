"""What takes too long for every run, by subject: `scripts/check.py --long [PART…]` runs it.

Before a release all of it runs, and before a large change of a subject is called done, its part.
Dates and counts are in TESTING.md.
"""

from __future__ import annotations

from typing import NamedTuple

RELEASES = "3.9.1,4.0.0,4.1.1"
"""Releases before the one that every run has, 4.3.1, each with another format of metadata."""
_CASES = "tests.helpers.kafka.cases"
_LOADER = "tests.helpers.kafka.loader"


class Command(NamedTuple):
    """Arguments of Python, and the variables that have it do more."""

    arguments: tuple[str, ...]
    environment: dict[str, str]


def _tests(*paths: str, **variables: object) -> Command:
    arguments = ("-m", "pytest", "-q", "-rs", "--long", *paths)
    return Command(arguments, {f"KRAFTOPS_{name}": str(text) for name, text in variables.items()})


def _program(*arguments: str) -> Command:
    return Command(arguments, {})


PARTS = {
    "cases": (_tests("-m", "long and not kafka and not spark", "-n", "2"),),
    "clients": (
        _tests(
            "tests/kafka/dump_log/test_foreign_writers.py",
            KAFKA_RELEASES=f"3.7.2,{RELEASES},4.3.1",
        ),
        _tests("tests/kafka/dump_log/test_check_live.py", LIVE_LOOKS=100),
    ),
    "cluster": (
        _tests("tests/kafka/cluster"),
        _tests("tests/kafka/cluster/test_controllers.py", KAFKA_RELEASES=RELEASES),
        _tests("tests/kafka/cluster/test_small_disks.py", SMALL_DISKS=1),
    ),
    "configurations": (
        _tests("tests/kafka/storage/test_config.py", CONFIG_CASES=2000),
        _tests("tests/kafka/storage/test_config_keys.py", KAFKA_RELEASES=f"{RELEASES},4.3.1"),
    ),
    "cures": (_program("-m", f"{_CASES}.cures"),),
    "fuzz": (
        _program("scripts/fuzz.py", "--seconds", "600"),
        _tests("tests/cli/test_memory_budget.py", BOMBS=1),
        _tests("tests/core/image", FUZZ_ORIGINS=2000, FUZZ_RUNS=3000),
    ),
    "installs": (_program("scripts/installs.py", "--all"),),
    "loader": (
        _program("-m", f"{_LOADER}.comparison", "--count", "10000", "--release", "4.3.1"),
        _program("-m", f"{_LOADER}.comparison", "--count", "3000", "--release", "3.9.1"),
        _program("-m", f"{_LOADER}.boots", "--count", "64"),
    ),
    "recovery": (
        _tests("tests/kafka/storage"),
        _tests("tests/kafka/storage/test_recover_releases.py", KAFKA_RELEASES=RELEASES),
        _tests("tests/kafka/storage/test_recover_records.py", KAFKA_RELEASES=f"{RELEASES},4.3.1"),
        _tests(
            "tests/kafka/storage/test_recover_plan.py",
            RECOVER_SHAPES="five,combined,lost,torn,static",
        ),
        _tests("tests/kafka/storage/test_recover_secured.py", RECOVER_SHAPES="secured"),
        _tests("tests/core/recovery/partitions", LOSS_HISTORIES=2000),
    ),
    "restarts": (
        _tests("tests/core/restart", RESTART_HISTORIES=1000),
        _program("-m", f"{_CASES}.rolling_restarts"),
    ),
    "spark": (
        _tests("tests/spark"),
        _tests("tests/spark/session/test_connect.py", SPARK_RELEASES="4.0.5,4.1.4"),
        _tests("tests/spark/sql/test_sinks.py", SPARK_SINKS="delta,iceberg"),
        _tests("tests/spark/jobs/test_listing.py", STORE_KEYS=100_000),
        _tests("tests/spark/dump/test_cluster_campaign.py", SPARK_CAMPAIGN=1),
        _tests("tests/spark/dump/test_listed_output.py", SPARK_KILLS=6),
        _tests(
            "tests/spark/stream/test_kills.py",
            STREAM_KILLS=20,
            STREAM_SINKS="parquet,delta,iceberg",
        ),
    ),
    "starts": (_program("-m", f"{_CASES}.release_trials"),),
    "writers": (
        _tests("tests/cli/test_traced_faults.py", TRACED=1),
        _tests("tests/spark/dump/test_command.py", "-k", "signal", TRACED=1),
    ),
}
"""By subject, in the order of their names."""
