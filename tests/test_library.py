"""What `import kraftops` offers: one list of names, examples that run, tables, one error."""

import doctest
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import kraftops
from tests.helpers.logs.log_directories import REAL

META = "tests/data/dump-4.3.1/in/meta"
NAMES = {
    *("Budget", "Check", "Cluster", "Diagnosis", "Directory", "Filter", "Finding", "Findings"),
    *("KraftopsError", "Leaf", "MetadataImage", "Node", "Query", "Results", "Row"),
    *("changes", "check", "cluster", "doctor", "incidents", "load", "scan", "tree_of", "verify"),
}


def test_public_names_are_these() -> None:
    assert set(dir(kraftops)) == NAMES == {*kraftops.__all__}  # type: ignore[attr-defined]
    assert all(getattr(kraftops, name) is not None for name in NAMES)


def test_name_that_is_not_public_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scam'"):
        kraftops.scam  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.parametrize(
    "module",
    [
        "kraftops",
        "kraftops.library.questions",
        "kraftops.dump.scan.rows",
    ],
)
def test_examples_print_what_they_show(module: str) -> None:
    done = doctest.testmod(import_module(module))

    assert (done.failed, done.attempted > 0) == (0, True)


def test_import_loads_nothing_else() -> None:
    program = "import sys, kraftops; print(len([n for n in sys.modules if n[:9] == 'kraftops.']))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout == b"0\n"


def test_no_package_takes_the_place_of_a_public_name() -> None:
    assert NAMES.isdisjoint(module.name for module in pkgutil.iter_modules(kraftops.__path__))


@pytest.mark.parametrize(
    "result",
    [
        lambda: kraftops.changes(META),
        lambda: kraftops.incidents(META),
        lambda: kraftops.check(str(REAL / "stopped")).partitions,
    ],
)
def test_results_are_sequences_and_tables(result: Any) -> None:
    rows = result()

    table = rows.to_arrow()
    assert table.num_rows == len(rows) == len(list(rows)) == len(rows[:])
    assert repr(rows).startswith(f"Results ({len(rows)})\n")


def test_changes_have_the_types_of_their_columns_also_if_all_are_empty() -> None:
    """Spark reads no column without a type."""
    table = kraftops.changes(META).to_arrow()

    assert not any(kraftops.changes(META)[:1][0].likely_principals)
    types = {field.name: str(field.type) for field in table.schema}
    assert types["time"] == "timestamp[ms, tz=UTC]"
    assert types["likelyPrincipals"] == "list<item: string>"
    assert types["brokers"] == "list<item: int64>"
    assert table.slice(0, 0).schema == table.schema


def test_rows_of_a_scan_are_a_table() -> None:
    rows = kraftops.scan(META)
    first = next(rows)

    table = rows.to_arrow()

    assert table.num_rows == len(list(kraftops.scan(META))) - 1
    assert (first.file in repr(first), repr(rows)) == (True, "Rows of metadata")


def test_directory_is_a_mapping() -> None:
    image = kraftops.tree_of(kraftops.load(META))["image"]

    assert isinstance(image, kraftops.Directory)
    assert (list(image), len(image)) == (image.keys(), len(image.keys()))
    assert dict(image.items()).keys() == {*image}
    assert "topics" in image
    assert "no" not in image
    with pytest.raises(KeyError):
        image["no"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: kraftops.load("no-such"),
        lambda: list(kraftops.scan("no-such")),
        lambda: kraftops.check("no-such"),
        lambda: kraftops.check([7]),  # type: ignore[list-item]
        lambda: kraftops.load(None),  # type: ignore[arg-type]
        lambda: kraftops.verify("no-such"),
        lambda: kraftops.verify("no-such", release_version="1"),
        lambda: kraftops.changes("no-such"),
        lambda: kraftops.changes(META, since="no-time"),
        lambda: kraftops.incidents("no-such"),
        kraftops.cluster,
        lambda: kraftops.cluster("localhost"),
        lambda: kraftops.cluster("localhost:1").placement(),
        lambda: kraftops.cluster("localhost:1").image(),
        lambda: kraftops.cluster("localhost:1", command_config="no-such"),
        lambda: kraftops.doctor("no-such"),
        lambda: kraftops.Query(decoder="no-such"),
        lambda: kraftops.Filter(topics="no-set"),  # type: ignore[arg-type]
    ],
)
def test_every_error_is_one_type(ask: Any) -> None:
    with pytest.raises(kraftops.KraftopsError):
        ask()


def test_paths_may_be_bytes() -> None:
    assert next(kraftops.scan(META.encode())) == next(kraftops.scan(META))


def test_handles_are_shown_in_a_line() -> None:
    assert repr(kraftops.load(META)) == "MetadataImage (offset 496): 1 broker, 15 topics"
    assert repr(kraftops.cluster("a:1,b:2")) == "Cluster (a:1, b:2)"


def test_findings_of_the_doctor_are_a_table_and_times_are_texts_too() -> None:
    diagnosis = kraftops.doctor(str(REAL / "stopped"))

    assert isinstance(diagnosis.findings, kraftops.Findings)
    assert diagnosis.verdict == "nothing is wrong: 9 checks done, 2 notes"
    assert diagnosis.findings.to_arrow().column("code").to_pylist() == ["incident", "incident"]
    assert len(kraftops.changes(META, since="2020-01-01")) == len(kraftops.changes(META))


def test_list_of_names_is_a_stub() -> None:
    stub = Path(str(kraftops.__file__)).with_suffix(".pyi").read_text()

    assert {line.rpartition(" ")[2] for line in stub.splitlines() if " as " in line} == NAMES


WRONG: tuple[tuple[str, Any], ...] = (
    ("changes", lambda: kraftops.changes(META, since=object())),  # type: ignore[arg-type]
    ("changes", lambda: kraftops.changes(META, since=1.5)),  # type: ignore[arg-type]
    ("incidents", lambda: kraftops.incidents(META, until="some day")),
    ("load", lambda: kraftops.load(META, at_time=[])),  # type: ignore[arg-type]
    ("load", lambda: kraftops.load(META, at_offset="x")),  # type: ignore[arg-type]
    ("load", lambda: kraftops.load("a\0b")),
    ("check", lambda: kraftops.check([META, 3])),  # type: ignore[list-item]
    ("check", lambda: kraftops.check("a\0b")),
    ("doctor", lambda: kraftops.doctor(None)),  # type: ignore[arg-type]
    ("verify", lambda: kraftops.verify("c", release_version=4.3)),  # type: ignore[arg-type]
    ("scan", lambda: kraftops.scan(META, "metadata")),  # type: ignore[arg-type]
    ("cluster", lambda: kraftops.cluster(9092)),  # type: ignore[arg-type]
    ("cluster", lambda: kraftops.cluster(controllers=["localhost:1"])),  # type: ignore[arg-type]
)


@pytest.mark.parametrize(("name", "call"), WRONG)
def test_wrong_argument_is_the_error_of_the_library(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(kraftops.KraftopsError) as raised:
        call()

    assert raised.value.code == "usage", name


def test_times_are_datetimes_dates_numbers_and_texts() -> None:
    moment = datetime(2026, 11, 21, 11, 8, tzinfo=UTC)
    ms = int(moment.timestamp() * 1000)
    zoned = moment.astimezone(timezone(timedelta(hours=2)))
    naive = moment.replace(tzinfo=None)

    for time in (moment, zoned, naive, moment.isoformat(), ms):
        assert kraftops.load(META, at_time=time).offset == kraftops.load(META, at_time=ms).offset
        assert len(kraftops.changes(META, since=time)) == len(kraftops.changes(META, since=ms))
    assert len(kraftops.changes(META, until=moment.date())) == 0
