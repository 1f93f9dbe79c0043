"""Files for the workers of a cluster: our code in an archive, and the compiled engine."""

import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_platform
from types import SimpleNamespace
from zipfile import ZipFile

import pytest

from kraftops.engine.choice import why_not_native
from kraftops.spark.session import shipping
from kraftops.spark.session.session import Session
from kraftops.spark.session.settings import Settings
from kraftops.spark.session.shipping import (
    MissingModuleError,
    ShippedWork,
    packed,
    worker_state,
)
from tests.helpers.project.imports import ROOTS

SENT = "kraftops/engine/_native.py"
LOAD = "import kraftops.engine._native as engine; print(engine.__file__)"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Send our code and the engine; return where the latter has come to, beside the former."""
    if why_not_native() is not None:
        pytest.skip(f"no compiled engine: {why_not_native()}")
    monkeypatch.setenv("KRAFTOPS_ENGINE", "native")
    with packed() as sent:
        assert sent.engine
        shutil.copy(sent.archive, tmp_path)
        return Path(shutil.copy(sent.engine, tmp_path))


def load(engine: Path) -> "subprocess.CompletedProcess[str]":
    """Import the engine as a worker does, which has our code as an archive alone."""
    (archive,) = map(str, engine.parent.glob("kraftops-*.zip"))
    bare = f"import sys; sys.path[:0] = [{archive!r}]; {LOAD}"
    return subprocess.run(
        [sys.executable, "-ISc", bare], capture_output=True, text=True, check=False
    )


def test_all_packages_that_work_is_made_of_are_sent() -> None:
    with packed() as sent, ZipFile(sent.archive) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}

    assert tops == set(ROOTS) - {"pyspark_kraftops"}  # by which only the driver finds the source


def test_worker_finds_the_engine_beside_the_code(engine: Path) -> None:
    done = load(engine)

    assert (done.stdout, done.stderr) == (f"{engine}\n", "")
    assert get_platform() in engine.name


def test_engine_of_another_platform_is_not_touched(engine: Path) -> None:
    engine.rename(engine.with_name(engine.name.replace(get_platform(), "linux-riscv64")))

    done = load(engine)

    none = f"ImportError: none was sent for {get_platform()} and this Python"
    assert done.stderr.splitlines()[-1] == none


def test_engine_that_cannot_be_loaded_is_an_import_error(engine: Path) -> None:
    engine.write_bytes(b"\x7fELF of another C library")

    done = load(engine)

    assert done.stderr.splitlines()[-1].startswith("ImportError: ")
    assert str(engine) not in done.stderr.splitlines()[-1]


def test_code_without_the_compiled_engine_is_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRAFTOPS_ENGINE", "reference")

    with packed() as sent, ZipFile(sent.archive) as archive:
        assert sent.engine is None
        assert "kraftops/engine/choice.py" in archive.namelist()
        assert SENT not in archive.namelist()


@pytest.fixture
def session() -> Session:
    """Return what a cluster's session would be, without one."""
    return Session(SimpleNamespace(), Settings("spark://host:7077"))  # type: ignore[arg-type]


def test_worker_tells_what_makes_it_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in shipping.MODULES:
        pytest.importorskip(module)
    monkeypatch.setattr("kraftops.engine.choice.why_not_native", lambda: "not for this platform")
    monkeypatch.setattr("socket.gethostname", lambda: "host")

    assert worker_state(0) == '[null, "host: not for this platform"]'


def test_worker_tells_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "MODULES", ("json", "no_such_module", "none.such"))
    monkeypatch.setattr("socket.gethostname", lambda: "host")
    modules, packages = "no_such_module, none.such", "no-such-module none"
    text = f"a worker on host has no {modules}: pip install {packages} there"

    assert worker_state(0) == f'["{text}", null]'
    with pytest.raises(MissingModuleError, match=text):
        list(ShippedWork(list)([1]))


def test_warning_about_a_worker_without_the_engine(session: Session) -> None:
    assert session.slow_text is None

    session.slow = frozenset({"a: none"})

    assert session.slow_text == "a worker reads without the compiled engine, slower: a: none"


def test_warning_names_one_of_several_workers_without_the_engine(session: Session) -> None:
    session.slow = frozenset({"b: none", "a: none", "c: none"})

    assert session.slow_text is not None
    assert session.slow_text.endswith(": a: none, and 2 more like it")
