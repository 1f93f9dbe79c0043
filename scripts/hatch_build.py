"""Build hook of hatchling: compile the engine, if there is a cargo.

A wheel with the engine is for this platform and CPython 3.11 and later; a wheel without it is for
any platform. An editable install builds it into the source tree. Where there is a cargo, and the
engine is not built, the install fails. `KRAFTOPS_NATIVE=0` leaves the engine out, and `=1` requires
it also where there is no cargo. `KRAFTOPS_TARGET` has cargo-zigbuild link it for another glibc.
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
COMMIT = "commit.txt"
_OLDEST_GLIBC = 17
"""The minor version before which no installer knows tags."""
FETCH_SECONDS = 120
BUILD_SECONDS = 3600  # a build takes 2 minutes; on a machine that does much else, it took 20
PATIENCE = {"CARGO_HTTP_TIMEOUT": "20", "CARGO_NET_RETRY": "1"}
"""Limits that let cargo fail within seconds if there is no network."""


class UnbuiltError(Exception):
    """The engine cannot be compiled; the message gives the reason."""


class ToolFailedError(UnbuiltError):
    """A tool ended with an error."""


class NoCompilerError(UnbuiltError):
    """Nothing here compiles an engine for this Python."""


class Hook(BuildHookInterface[BuilderConfig]):
    """The build hook: puts the engine into a wheel or into the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the engine before the wheel."""
        self._scratch = tempfile.TemporaryDirectory()
        choice = os.environ.get("KRAFTOPS_NATIVE", "")
        if choice not in {"", "0", "1"}:
            self.app.abort(f"kraftops: KRAFTOPS_NATIVE is {choice}, neither 0 nor 1")
        library = None if choice == "0" else self._library(is_required=choice == "1")
        if version == "editable":
            _put(library, Path(self.root, ENGINE))
            return
        crates: list[Component] = []
        if library is not None:
            crates = crates_of(Path(self.root, CRATE))
            name = EXTENSIONS[library.suffix]
            build_data["force_include"][str(library)] = f"kraftops/engine/{name}"
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{platform_tag(library)}"
        if commit := _commit(self.root):
            note = Path(self._scratch.name, COMMIT)
            note.write_text(f"{commit}\n", encoding="utf-8")
            build_data["force_include"][str(note)] = f"kraftops/{COMMIT}"
        bill = Path(self._scratch.name, sbom.NAME)
        parts = [*crates, *page_scripts(Path(self.root))]
        bill.write_text(sbom.document(self.metadata.version, parts), encoding="utf-8")
        build_data["sbom_files"].append(str(bill))

    def _library(self, *, is_required: bool) -> Path | None:
        """Build the engine; return None, with a warning, if nothing here could and none has to."""
        try:
            return built(Path(self.root, CRATE))
        except NoCompilerError as error:
            if not is_required:
                self.app.display_warning(f"kraftops: warning: no compiled engine: {error}")
                return None
            reason = str(error)
        except UnbuiltError as error:
            reason = str(error)
        self.app.abort(f"kraftops: {reason}. KRAFTOPS_NATIVE=0 installs without the engine")
        return None

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove temporary files."""
        del version, build_data, artifact_path
        self._scratch.cleanup()


def built(crate: Path) -> Path:
    """Build a crate, and return the path of its library.

    Raises:
        UnbuiltError: it cannot be built here.
    """
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NoCompilerError("this Python has no stable ABI")
    cargo = toolchain(crate)
    _run([cargo, "fetch", "--locked"], crate, FETCH_SECONDS)
    options = ["--release", "--locked", "--offline", "--message-format=json-render-diagnostics"]
    target = os.environ.get("KRAFTOPS_TARGET")  # x86_64-unknown-linux-gnu.2.28: with a glibc
    build = ["zigbuild", "--target", target] if target else ["build"]
    told = _run([cargo, *build, *options], crate, BUILD_SECONDS)
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
        raise NoCompilerError("no cargo in PATH")
    needed = tomllib.loads((crate / "Cargo.toml").read_text())["package"]["rust-version"]
    for tool in (cargo, os.environ.get("RUSTC") or "rustc"):
        try:
            told = _run([tool, "--version"], crate, FETCH_SECONDS)
        except ToolFailedError as error:
            # rustup puts its own cargo and rustc into PATH, also where no toolchain is installed.
            raise NoCompilerError(str(error)) from None
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
        raise ToolFailedError(f"{name} failed: {_reason(done.stderr) or f'exit {done.returncode}'}")
    return done.stdout


def _reason(said: str) -> str:
    """Return the first error in cargo's output, with its cause."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error")]
    return ": ".join(errors[:1] + (lines[-1:] if "Caused by:" in lines else []))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))[:2]


def _put(library: Path | None, directory: Path) -> None:
    """Copy a library into the tree by one rename, and remove those of earlier builds."""
    name = EXTENSIONS[library.suffix] if library else ""
    if library:
        new = directory / f"new.{name}"
        shutil.copyfile(library, new)
        new.replace(directory / name)
    for other in {*EXTENSIONS.values()} - {name}:
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
