"""Wheels built from this tree: with the compiled engine if there is cargo, else without it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = "kraftops/engine"
UPLOT = "pkg:npm/uplot@1.6.32"
EXTENSION = "_native.abi3.so"
FRESH = '{"reason":"compiler-artifact","target":{"name":"kraftops_engine"},"filenames":["%s"]}'
OTHER = '{"reason":"compiler-artifact","target":{"name":"pyo3"},"filenames":["libpyo3.rlib"]}'
CRATES = {
    "packages": [
        {"id": "0", "name": "kraftops-engine", "version": "0.2.0", "license": "Apache-2.0"},
        {"id": "1", "name": "crc32c", "version": "0.6.9", "license": "MIT/Apache-2.0"},
        {"id": "2", "name": "rustc_version", "version": "0.4.1", "license": "MIT"},
        {"id": "3", "name": "pyo3-macros", "version": "0.30.1", "license": "MIT"},
    ],
    "resolve": {
        "root": "0",
        "nodes": [
            {
                "id": "0",
                "deps": [
                    {"pkg": "1", "dep_kinds": [{"kind": None}]},
                    {"pkg": "3", "dep_kinds": [{"kind": None}]},
                ],
            },
            {"id": "1", "deps": [{"pkg": "2", "dep_kinds": [{"kind": "build"}]}]},
            {"id": "2", "deps": []},
            {"id": "3", "deps": []},
        ],
    },
}
"""What cargo tells of crates: one is linked, one is used to build it, one is run by the compiler."""
for _one in CRATES["packages"]:
    _one["targets"] = [{"kind": ["proc-macro" if _one["name"] == "pyo3-macros" else "lib"]}]  # type: ignore[index]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its tools here are shell scripts")


def build(what: str, tree: Path, out: Path, path: str, **settings: str) -> tuple[int, str]:
    """Build with hatchling as pip does; return the exit code and the messages of our hook."""
    environment = {name: text for name, text in os.environ.items() if "KRAFTOPS" not in name}
    hooks_only = ["--hooks-only"] if what == "wheel:editable" else []  # the rest is hatchling's
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", what, "-d", str(out), *hooks_only],
        cwd=tree,
        env={**environment, "PATH": path, **settings},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    ours = [line for line in done.stderr.splitlines() if line.startswith("kraftops:")]
    return done.returncode, "\n".join(ours)


def engine_files(wheel: Path) -> dict[str, bytes]:
    """Return the files of the engine in a wheel that are not Python."""
    with ZipFile(wheel) as archive:
        return {
            name.removeprefix(f"{ENGINE}/"): archive.read(name)
            for name in archive.namelist()
            if name.startswith(ENGINE) and not name.endswith((".py", ".pyi"))
        }


def bill(wheel: Path) -> dict[str, str]:
    """Return the licences of the components in a wheel's bill of materials, by package URL."""
    with ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if ".dist-info/sboms/" in one)
        found = json.loads(archive.read(name))
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    return {one["purl"]: one["licenses"][0]["expression"] for one in found["components"]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a small tree to build, with the engine of an earlier build."""
    tree = tmp_path / "tree"
    scripts = [f"scripts/{name}.py" for name in ("dependencies", "hatch_build", "sbom")]
    page = "core/kraftops/report/page/uplot/uPlot.iife.min.js"
    version = "cli/kraftops_cli/version.py"
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore", version, page, *scripts):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    for name in ("man", "completions"):
        shutil.copytree(ROOT / name, tree / name)
    packages = ("shell/kraftops_terminal", "shell/kraftops_shell", "cli/kraftops_cli")
    for name in ("core/kraftops/engine", "core/pyspark_kraftops", *packages):
        (tree / name).mkdir(parents=True, exist_ok=True)
        (tree / name / "__init__.py").touch()
    (tree / "core/kraftops/__init__.py").touch()
    (tree / "core/native").mkdir()
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / "core/native" / name, tree / "core/native")
    (tree / "core/kraftops/engine" / EXTENSION).write_bytes(b"stale")
    return tree


@pytest.fixture
def tools(tmp_path: Path) -> Callable[..., str]:
    """Return a function that makes a PATH with only a cargo and a rustc."""

    def make(version: str = "9.99.9", fetch: str = "", build: str = "") -> str:
        directory = tmp_path / "tools"
        directory.mkdir(exist_ok=True)
        library = tmp_path / "libkraftops_engine.so"
        library.write_bytes(b"fresh")
        built = build or f"echo '{OTHER}'; echo '{FRESH % library}'"
        built += f";; metadata) echo '{json.dumps(CRATES)}'"
        cases = f"--version) echo cargo {version};; fetch) {fetch or ':'};; build) {built};;"
        for name, text in (
            ("cargo", f'case "$1" in {cases} esac'),
            ("rustc", f"echo rustc {version}"),
        ):
            (directory / name).write_text(f"#!/bin/sh\n{text}\n")
            (directory / name).chmod(0o755)
        return str(directory)

    return make


def test_wheel_with_the_engine_is_of_a_platform(
    tree: Path, tmp_path: Path, tools: Callable[..., str]
) -> None:
    assert build("wheel", tree, tmp_path / "out", tools())[0] == 0

    (wheel,) = (tmp_path / "out").iterdir()
    assert "-cp311-abi3-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    assert engine_files(wheel) == {EXTENSION: b"fresh"}
    assert bill(wheel) == {"pkg:cargo/crc32c@0.6.9": "MIT OR Apache-2.0", UPLOT: "MIT"}


def test_editable_install_has_the_engine_in_the_tree(
    tree: Path, tmp_path: Path, tools: Callable[..., str]
) -> None:
    assert build("wheel:editable", tree, tmp_path / "out", tools())[0] == 0

    found = tree / "core/kraftops/engine"
    assert sorted(file.name for file in found.iterdir()) == ["__init__.py", EXTENSION]
    assert (found / EXTENSION).read_bytes() == b"fresh"


NO_CARGO = "no cargo in PATH"
BROKEN = {
    "an old cargo": (
        {"version": "1.63.0"},
        "Rust 1.85 is needed, and this is cargo 1.63.0",
    ),
    "no network": (
        {"fetch": r"printf 'error: no crc32c\n\nCaused by:\n  unreachable\n' >&2; exit 101"},
        "cargo fetch failed: no crc32c: unreachable",
    ),
    "an error": (
        {"build": r"printf 'warning: so\nerror[E0308]: mismatched types\n' >&2; exit 101"},
        "cargo build failed: error[E0308]: mismatched types",
    ),
    "no library": ({"build": f"echo '{OTHER}'"}, "cargo made no shared library for this platform"),
}


@pytest.mark.parametrize("settings", [{}, {"KRAFTOPS_NATIVE": "0"}])
def test_without_cargo_the_reference_is_installed(
    settings: dict[str, str], tree: Path, tmp_path: Path
) -> None:
    path = str(tmp_path / "nothing")
    said = "" if settings else f"kraftops: warning: no compiled engine: {NO_CARGO}"

    assert build("wheel", tree, tmp_path / "out", path, **settings) == (0, said)
    assert build("wheel:editable", tree, tmp_path / "out", path, **settings) == (0, said)

    (wheel,) = (tmp_path / "out").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    assert engine_files(wheel) == {}
    assert bill(wheel) == {UPLOT: "MIT"}
    engine = tree / "core/kraftops/engine"
    assert [file.name for file in engine.iterdir()] == ["__init__.py"]


def test_rustup_without_a_toolchain_is_no_compiler(
    tree: Path, tmp_path: Path, tools: Callable[..., str]
) -> None:
    path = tools(version="; exit 1")

    code, said = build("wheel", tree, tmp_path / "out", path)

    assert code == 0
    assert "kraftops: warning: no compiled engine: cargo --version failed: exit 1" in said


@pytest.mark.parametrize("what", ["wheel", "wheel:editable"])
@pytest.mark.parametrize("case", BROKEN)
def test_engine_that_cargo_does_not_build_fails_the_install(
    what: str, case: str, tree: Path, tmp_path: Path, tools: Callable[..., str]
) -> None:
    toolchain, why = BROKEN[case]

    code, error = build(what, tree, tmp_path / "out", tools(**toolchain))

    assert code == 1
    assert error == f"kraftops: {why}. KRAFTOPS_NATIVE=0 installs without the engine"
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("what", ["wheel", "wheel:editable"])
def test_engine_that_is_demanded_needs_cargo(what: str, tree: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "nothing")

    code, error = build(what, tree, tmp_path / "out", path, KRAFTOPS_NATIVE="1")

    assert (code, error) == (
        1,
        f"kraftops: {NO_CARGO}. KRAFTOPS_NATIVE=0 installs without the engine",
    )


def test_engine_that_is_not_wanted_is_left_out(
    tree: Path, tmp_path: Path, tools: Callable[..., str]
) -> None:
    path = tools(build="exit 1")

    assert build("wheel", tree, tmp_path / "out", path, KRAFTOPS_NATIVE="0") == (0, "")
    assert build("wheel:editable", tree, tmp_path / "out", path, KRAFTOPS_NATIVE="0") == (0, "")

    (wheel,) = (tmp_path / "out").iterdir()
    assert engine_files(wheel) == {}
    assert not (tree / "core/kraftops/engine" / EXTENSION).exists()


def test_odd_setting_is_refused(tree: Path, tmp_path: Path, tools: Callable[..., str]) -> None:
    code, error = build("wheel", tree, tmp_path / "out", tools(), KRAFTOPS_NATIVE="yes")

    assert (code, error) == (1, "kraftops: KRAFTOPS_NATIVE is yes, neither 0 nor 1")


def pythons() -> dict[str, str]:
    """Return the Pythons of this machine that can use the wheel, by version."""
    names = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    places = Path.home().glob(".pyenv/versions/3.*/bin/python")
    test = (
        "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name, sys.abiflags)"
    )
    found = {}
    for program in [sys.executable, *filter(None, names), *map(str, sorted(places))]:
        done = subprocess.run([program, "-c", test], capture_output=True, text=True, check=False)
        version, implementation, *flags = done.stdout.split() or ["0.0", ""]
        if int(version.partition(".")[2]) >= 11 and (implementation, flags) == ("cpython", []):
            found.setdefault(version, program)
    return found


@pytest.mark.slow
def test_engine_of_a_wheel_is_for_every_python(tmp_path: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("no cargo in PATH")
    code, error = build("wheel", ROOT, tmp_path / "out", os.environ["PATH"], KRAFTOPS_NATIVE="1")
    assert (code, error) == (0, "")

    (wheel,) = (tmp_path / "out").iterdir()
    assert "-cp311-abi3-" in wheel.name
    files = engine_files(wheel)
    assert list(files) == [EXTENSION]
    (tmp_path / EXTENSION).write_bytes(files[EXTENSION])
    load = "import sys; sys.path.insert(0, sys.argv[1]); import _native; print(_native.__file__)"
    found = pythons()
    for program in found.values():
        done = subprocess.run(
            [program, "-I", "-c", load, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == (f"{tmp_path / EXTENSION}\n", ""), program
    if len(found) == 1:
        pytest.skip(f"imported with Python {min(found)}, and there is no other")


def test_source_distribution_holds_the_crate(tmp_path: Path) -> None:
    assert build("sdist", ROOT, tmp_path, os.environ["PATH"])[0] == 0

    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    crate = {name for name in names if name.startswith("core/native/")}
    assert {"pyproject.toml", "scripts/hatch_build.py"} <= names
    assert {f"core/native/{name}" for name in ("Cargo.toml", "Cargo.lock", "src/lib.rs")} <= crate
    assert "core/native/.cargo/config.toml" in crate
    assert not any("/target/" in name or name.endswith(".so") for name in names)


def test_version_is_that_of_the_newest_release() -> None:
    """Builds and `scripts/generate.py` take it from there to everywhere else."""
    ours = (ROOT / "cli/kraftops_cli/version.py").read_text()
    newest = re.findall(
        r"^## (\d\S+) - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )

    assert f'\nVERSION = "{newest[0]}"\n' in ours


def test_every_command_has_a_case_of_the_installs() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from installs import uncovered
    finally:
        sys.path.pop(0)

    assert uncovered() == []


def test_platform_tag_is_of_the_oldest_glibc_with_all_symbols(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from hatch_build import platform_tag
    finally:
        sys.path.pop(0)
    library = tmp_path / "lib.so"

    def tag(content: bytes) -> str:
        library.write_bytes(content)
        return platform_tag(library)

    here = tag(b"nothing")
    if not here.startswith("linux_"):
        pytest.skip("glibc is of Linux")
    machine = here.removeprefix("linux_")
    assert tag(b"\0GLIBC_2.34\0GLIBC_2.4\0") == f"manylinux_2_34_{machine}"
    assert tag(b"\0GLIBC_2.2.5\0") == f"manylinux_2_17_{machine}"
