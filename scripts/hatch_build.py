"""Build hook of hatchling: compile the engine, if there is a suitable cargo.

A wheel with the engine is for this platform and CPython 3.11 and later; a wheel without it is for
any platform. An editable install builds it into the source tree. `KRAFTOPS_NATIVE=1` requires the
engine, `=0` leaves it out. Otherwise a failed build is a warning, and its reason is stored in
`no_native.txt` for `kraftops --version`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

sys.path.insert(0, str(Path(__file__).resolve().parent))  # hatchling loads this file alone
import sbom
from dependencies import CRATE, Component, linked_crates, page_scripts

ENGINE = Path("core/kraftops/engine")
LIBRARY = "kraftops_engine"
EXTENSIONS = {".so": "_native.abi3.so", ".dylib": "_native.abi3.so", ".dll": "_native.pyd"}
"""Names of extension modules in Python, by Rust's prefix and suffix of a library."""
WHY_NOT = "no_native.txt"
COMMIT = "commit.txt"
_OLDEST_GLIBC = 17
"""The minor version before which no installer knows tags."""
FETCH_SECONDS = 120
BUILD_SECONDS = 1200
PATIENCE = {"CARGO_HTTP_TIMEOUT": "20", "CARGO_NET_RETRY": "1"}
"""Limits that let cargo fail within seconds if there is no network."""


class UnbuiltError(Exception):
    """The engine cannot be compiled; the message gives the reason."""


class Hook(BuildHookInterface[BuilderConfig]):
    """The build hook: puts the engine into a wheel or into the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the engine before the wheel."""
        self._scratch = tempfile.TemporaryDirectory()
        choice = os.environ.get("KRAFTOPS_NATIVE", "")
        if choice not in {"", "0", "1"}:
            self.app.abort(f"kraftops: KRAFTOPS_NATIVE is {choice}, neither 0 nor 1")
        why = ""
        crates: list[Component] = []
        try:
            file = built(Path(self.root, CRATE), wanted=choice != "0")
            crates = crates_of(Path(self.root, CRATE))
            name = EXTENSIONS[file.suffix]
        except UnbuiltError as error:
            why = str(error)
            file = Path(self._scratch.name, WHY_NOT)
            file.write_text(f"{why}\n", encoding="utf-8")
            name = WHY_NOT
        if version == "editable":
            _put(file, name, Path(self.root, ENGINE))
        else:
            build_data["force_include"][str(file)] = f"kraftops/engine/{name}"
            if commit := _commit(self.root):
                note = Path(self._scratch.name, COMMIT)
                note.write_text(f"{commit}\n", encoding="utf-8")
                build_data["force_include"][str(note)] = f"kraftops/{COMMIT}"
            if not why:
                build_data["pure_python"] = False
                build_data["tag"] = f"cp311-abi3-{platform_tag(file)}"
            bill = Path(self._scratch.name, sbom.NAME)
            parts = [*crates, *page_scripts(Path(self.root))]
            bill.write_text(sbom.document(self.metadata.version, parts), encoding="utf-8")
            build_data["sbom_files"].append(str(bill))
        if why and choice == "1":
            self.app.abort(f"kraftops: KRAFTOPS_NATIVE is 1, and this keeps the engine out: {why}")
        if why and not choice:
            self.app.display_warning(f"kraftops: warning: no compiled engine: {why}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove temporary files."""
        del version, build_data, artifact_path
        self._scratch.cleanup()


def built(crate: Path, *, wanted: bool = True) -> Path:
    """Build a crate, and return the path of its library.

    Raises:
        UnbuiltError: it cannot be built here, or is not wanted.
    """
    if not wanted:
        raise UnbuiltError("KRAFTOPS_NATIVE was 0")
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise UnbuiltError("this Python has no stable ABI")
    cargo = toolchain(crate)
    _run([cargo, "fetch", "--locked"], crate, FETCH_SECONDS)
    options = ["--release", "--locked", "--offline", "--message-format=json-render-diagnostics"]
    told = _run([cargo, "build", *options], crate, BUILD_SECONDS)
    for line in told.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == LIBRARY:
            for path in map(Path, message["filenames"]):
                if path.suffix in EXTENSIONS:
                    return path
    raise UnbuiltError("cargo made no shared library for this platform")


def crates_of(crate: Path) -> list[Component]:
    """Return the crates that are linked into the library, which is built.

    Raises:
        UnbuiltError: cargo does not tell.
    """
    cargo = toolchain(crate)
    rust = _run([os.environ.get("RUSTC") or "rustc", "-vV"], crate, FETCH_SECONDS)
    host = re.search(r"^host: (.*)$", rust, flags=re.MULTILINE)
    platform = ["--filter-platform", host[1]] if host else []
    command = [cargo, "metadata", "--locked", "--offline", "--format-version", "1", *platform]
    told = _run(command, crate, FETCH_SECONDS)
    return linked_crates(told, (crate / "Cargo.lock").read_text(encoding="utf-8"))


def toolchain(crate: Path) -> str:
    """Return the path of a cargo that can build a crate.

    Raises:
        UnbuiltError: there is none.
    """
    cargo = shutil.which("cargo")
    if cargo is None:
        raise UnbuiltError("no cargo in PATH")
    needed = tomllib.loads((crate / "Cargo.toml").read_text())["package"]["rust-version"]
    for tool in (cargo, os.environ.get("RUSTC") or "rustc"):
        told = _run([tool, "--version"], crate, FETCH_SECONDS)
        version = re.search(r"\d+\.\d+", told)
        if version is None or _numbers(version[0]) < _numbers(needed):
            raise UnbuiltError(f"Rust {needed} is needed, and this is {told.strip()}")
    return cargo


def _run(command: list[str], crate: Path, seconds: float) -> str:
    """Run a tool in the directory of a crate, with its `.cargo`, and return its standard output.

    Raises:
        UnbuiltError: it fails, or takes too long. What it said went to standard error.
    """
    name = " ".join([Path(command[0]).stem, command[1]])
    try:
        done = subprocess.run(
            command,
            cwd=crate,
            env=PATIENCE | os.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except OSError as error:
        raise UnbuiltError(f"{name} failed: {error}") from None
    except subprocess.TimeoutExpired:
        raise UnbuiltError(f"{name} took more than {seconds:.0f} seconds") from None
    sys.stderr.write(done.stderr)
    if done.returncode:
        raise UnbuiltError(f"{name} failed: {_reason(done.stderr) or f'exit {done.returncode}'}")
    return done.stdout


def _reason(said: str) -> str:
    """Return the first error in cargo's output, with its cause."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error")]
    return ": ".join(errors[:1] + (lines[-1:] if "Caused by:" in lines else []))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))[:2]


def _put(file: Path, name: str, directory: Path) -> None:
    """Copy a file into the tree by one rename, and remove the files of earlier builds."""
    new = directory / f"new.{name}"
    shutil.copyfile(file, new)
    new.replace(directory / name)
    for other in {*EXTENSIONS.values(), WHY_NOT} - {name}:
        (directory / other).unlink(missing_ok=True)


def _commit(root: str) -> str | None:
    """Return the commit of the tree that is built; None without git, or its repository."""
    if not Path(root, ".git").exists():
        return None
    command = ["git", "-C", root, "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def platform_tag(library: Path) -> str:
    """Return the platform tag of a wheel with a library that was built here.

    On Linux with glibc it names the oldest one that has all symbols (PEP 600).
    """
    others = ("manylinux", "musllinux")
    here = next(tag.platform for tag in sys_tags() if not tag.platform.startswith(others))
    needed = re.findall(rb"\0GLIBC_2\.(\d+)\b", library.read_bytes())
    if not here.startswith("linux_") or not needed:
        return here
    return f"manylinux_2_{max(_OLDEST_GLIBC, *map(int, needed))}_{here.removeprefix('linux_')}"
