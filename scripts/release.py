"""Build what is published, twice, check it, and try it.

These are the source distribution and the wheel, and with an interpreter the tree without Python and
its packages; their bills of materials, provenance, sums and signature. It takes the commit that is
checked out. The two builds must agree in every byte.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from packaging.metadata import Metadata
from packaging.utils import parse_wheel_filename

import provenance
import sbom
from dependencies import CRATE, REPOSITORY, Component, packages, page_scripts
from hatch_build import crates_of
from installs import FEW, check, environment, place, pythons, supported, without_cargo
from licences import refused
from lock import BUILDERS_LOCK
from roots import missing_tools, tried

_WHEEL_FOLDERS = {
    *("kraftops", "pyspark_kraftops", "kraftops_terminal", "kraftops_shell", "kraftops_cli"),
}
_EXTENSION = "kraftops/engine/_native.abi3.so"
_IN_SDIST = {
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO"),
    *("core/native/Cargo.lock", "core/native/src/lib.rs", "core/native/.cargo/config.toml"),
    *("core/kraftops/commit.txt", "scripts/hatch_build.py"),
}
_BUILD_TOOLS = ("hatchling", "packaging", "pathspec", "pluggy", "trove-classifiers")
_OLDEST_GLIBC = "2.28"
"""That of RHEL 8, which packaging/tree.py requires."""
SUMS = "SHA256SUMS"
_NEVER = re.compile(r"__pycache__|\.pyc$|/target/|\.hypothesis|\.env$|\.pem$|\.p12$|\.jks$")


class WrongReleaseError(Exception):
    """What was built is not what is published; the message says why."""


def main() -> int:
    """Build and check the files of a release; return 1 if they are not right."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("out", type=Path, help="a new directory for the files")
    made = "what packaging/interpreter.sh made: the tree and packages are built, too"
    parser.add_argument("--interpreter", type=Path, help=made)
    parser.add_argument("--roots", type=Path, help="a directory of minimal roots to try them in")
    parser.add_argument("--before", type=Path, help="the files of the version before")
    key = "the secret key of minisign, NAME.key, beside NAME.pub: signs the sums"
    parser.add_argument("--key", type=Path, help=key)
    try:
        _release(**vars(parser.parse_args()))
    except WrongReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def _release(
    out: Path,
    interpreter: Path | None,
    roots: Path | None,
    before: Path | None,
    key: Path | None,
) -> None:
    _refuse_early(out, roots, key)
    version = _version()
    commit = _git("rev-parse", "HEAD")
    required = _required()
    check_pins(required, (REPOSITORY / "requirements.lock").read_text("utf-8"))
    if target_settings():
        check_linker(BUILDERS_LOCK.read_text("utf-8"))
    bundled = [*crates_of(REPOSITORY / CRATE), *page_scripts(REPOSITORY)]
    if bad := refused([*required, *bundled]):
        raise WrongReleaseError(f"licences not allowed: {', '.join(part.url for part in bad)}")
    with TemporaryDirectory(prefix="release-") as scratch:
        dist = _built_twice(Path(scratch), commit, interpreter)
        (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
        check_sdist(sdist, version)
        check_wheel(wheel, version)
        check_engine(wheel)
        say_platform(wheel)
        _run_them((sdist, wheel), Path(scratch))
        if not (interpreter and roots):
            print("the tree and its packages: not tried in minimal roots")
        elif not tried(dist, roots, before):
            raise WrongReleaseError("not all is well in minimal roots")
        bill = dist / f"kraftops-{version}.cdx.json"
        bill.write_text(sbom.document(version, bundled, required), encoding="utf-8")
        publish(dist, version, commit, key)
        shutil.copytree(dist, out)
    print((out / SUMS).read_text("ascii"), end="")


def _refuse_early(out: Path, roots: Path | None, key: Path | None) -> None:
    """Raise WrongReleaseError for what would stop the release at its end."""
    if out.exists():
        raise WrongReleaseError(f"{out} exists")
    if key and shutil.which("minisign") is None:
        raise WrongReleaseError("minisign is not here, and there is a key")
    if roots and (lacking := missing_tools()):
        raise WrongReleaseError(f"for roots there is no {', '.join(lacking)}")
    if changed := _git("status", "--porcelain", "--untracked-files=no"):
        raise WrongReleaseError(f"these changes are in no commit:\n{changed}")


def _built_twice(scratch: Path, commit: str, interpreter: Path | None) -> Path:
    """Build everything in two directories; return the first, if both have the same bytes."""
    epoch = _git("log", "-1", "--format=%ct")
    first, second = (_built(scratch / name, commit, epoch) for name in ("1", "2"))
    for dist in (first, second):
        if interpreter:
            _bundle(interpreter, dist, epoch)
    for file in sorted(first.iterdir()):
        if file.read_bytes() != (second / file.name).read_bytes():
            raise WrongReleaseError(f"{file.name} is not the same when it is built again")
    print(f"{len(list(first.iterdir()))} files, the same in two builds", flush=True)
    return first


def publish(dist: Path, version: str, commit: str, key: Path | None) -> None:
    """Write the provenance and the sums of all files, and sign the sums.

    Raises:
        WrongReleaseError: the signature is not that of the public key.
    """
    statement = provenance.statement(sorted(dist.iterdir()), commit)
    (dist / f"kraftops-{version}.provenance.json").write_text(statement, encoding="utf-8")
    sums = [f"{provenance.sha256(file)}  {file.name}\n" for file in sorted(dist.iterdir())]
    (dist / SUMS).write_text("".join(sums), encoding="ascii")
    if key is None:
        print("the sums: not signed")
        return
    for words in (
        ("-S", "-s", str(key), "-t", f"kraftops {version}"),
        ("-V", "-p", str(key.with_suffix(".pub"))),
    ):
        command = ["minisign", *words, "-m", str(dist / SUMS)]
        if subprocess.run(command, check=False).returncode:
            raise WrongReleaseError(f"minisign {words[0]} failed")


def _bundle(interpreter: Path, dist: Path, epoch: str) -> None:
    """Make the tree of a wheel, and packages of the tree."""
    (wheel,) = dist.glob("*.whl")
    _packaging("tree.py", str(interpreter), str(wheel), str(dist), epoch=epoch)
    (archive,) = dist.glob("*.tar.zst")
    _packaging("packages.py", str(archive), str(dist), epoch=epoch)


def _packaging(program: str, *words: str, epoch: str) -> None:
    command = [sys.executable, str(REPOSITORY / "packaging" / program), *words]
    settings = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    if subprocess.run(command, env=settings, check=False).returncode:
        raise WrongReleaseError(f"packaging/{program} failed")


def _required() -> list[Component]:
    """Return the packages that are installed with kraftops and all its extras."""
    try:
        return packages(sorted(_project()["optional-dependencies"]))
    except PackageNotFoundError as error:
        raise WrongReleaseError(
            f"{error.name} is not installed beside this: pip install -e . --group dev"
        ) from None


def _project() -> dict[str, dict[str, list[str]]]:
    text = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    project: dict[str, dict[str, list[str]]] = tomllib.loads(text)["project"]
    return project


def _version() -> str:
    """Return the version, which the changelog must have on its top."""
    ours = (REPOSITORY / "cli/kraftops_cli/version.py").read_text("utf-8")
    (version,) = re.findall(r'^VERSION = "(.+)"$', ours, re.MULTILINE)
    newest = re.search(r"^## (\S+)", (REPOSITORY / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if newest is None or newest[1] != version:
        raise WrongReleaseError(f"CHANGELOG.md does not begin with {version}")
    return version


def _git(*words: str) -> str:
    command = ["git", "-C", str(REPOSITORY), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _built(scratch: Path, commit: str, epoch: str) -> Path:
    """Build the source distribution from the commit, and the wheels from that."""
    tree, unpacked, dist = scratch / "tree", scratch / "unpacked", scratch / "dist"
    for directory in (tree, unpacked, dist):
        directory.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "-C", str(REPOSITORY), "archive", "--format=tar", commit],
        stdout=subprocess.PIPE,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(tree, filter="data")
    (tree / "core/kraftops/commit.txt").write_text(f"{commit}\n")  # there is no repository
    _hatchling(tree, dist, "sdist", epoch, scratch)
    (sdist,) = dist.iterdir()
    with tarfile.open(sdist) as files:
        files.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    _hatchling(source, dist, "wheel", epoch, scratch, KRAFTOPS_NATIVE="1", **target_settings())
    return dist


def target_settings() -> dict[str, str]:
    """Return the settings that link the wheel for the oldest glibc, if that can be done here."""
    if "KRAFTOPS_TARGET" in os.environ or platform.libc_ver()[0] != "glibc":
        return {}
    if shutil.which("cargo-zigbuild") is None:
        return {}
    return {"KRAFTOPS_TARGET": f"{platform.machine()}-unknown-linux-gnu.{_OLDEST_GLIBC}"}


def say_platform(wheel: Path) -> None:
    """Say what the wheel runs on, and how to have one for older machines."""
    (tag,) = parse_wheel_filename(wheel.name)[3]
    print(f"the wheel is for {tag.platform}")
    if tag.platform.startswith("manylinux_") and shutil.which("cargo-zigbuild") is None:
        print(
            f"  without cargo-zigbuild, the engine needs the glibc that it is linked with here;"
            f" pip install ziglang cargo-zigbuild links it for glibc {_OLDEST_GLIBC}"
        )


def _hatchling(tree: Path, out: Path, what: str, epoch: str, scratch: Path, **more: str) -> None:
    home = os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo")
    remap = {home: "/cargo", str(tree / "core/native"): "/kraftops"}
    flags = " ".join(f"--remap-path-prefix={here}={there}" for here, there in remap.items())
    settings = {
        "SOURCE_DATE_EPOCH": epoch,
        "CARGO_TARGET_DIR": str(scratch / "target"),
        "CARGO_BUILD_RUSTFLAGS": flags,
        **more,
    }
    command = [sys.executable, "-m", "hatchling", "build", "-t", what, "-d", str(out)]
    done = subprocess.run(
        command, cwd=tree, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise WrongReleaseError(f"{what} cannot be built:\n{done.stderr}")


def check_sdist(sdist: Path, version: str) -> None:
    """Check the files and the metadata of a source distribution.

    Raises:
        WrongReleaseError: something is missing, or is there that should not be.
    """
    with tarfile.open(sdist) as files:
        members = {one.name.partition("/")[2]: one for one in files.getmembers() if one.isfile()}
        info = files.extractfile(members["PKG-INFO"])
        assert info is not None
        _check_metadata(info.read(), version)
    _check_names(sdist, set(members))
    if missing := _IN_SDIST - set(members):
        raise WrongReleaseError(f"{sdist.name} lacks {', '.join(sorted(missing))}")
    if any(name.endswith(".so") for name in members):
        raise WrongReleaseError(f"{sdist.name} has a library")


def check_wheel(wheel: Path, version: str) -> None:
    """Check the files of a wheel, their hashes, its metadata and its tags.

    Raises:
        WrongReleaseError: something is missing or differs, or is there that should not be.
    """
    name, wheel_version, _, tags = parse_wheel_filename(wheel.name)
    if (name, str(wheel_version)) != ("kraftops", version):
        raise WrongReleaseError(f"{wheel.name} is not of {version}")
    info, data = f"kraftops-{version}.dist-info", f"kraftops-{version}.data"
    with ZipFile(wheel) as archive:
        files = {one: archive.read(one) for one in archive.namelist()}
    _check_names(wheel, set(files))
    if others := {one.split("/")[0] for one in files} - {info, data, *_WHEEL_FOLDERS}:
        raise WrongReleaseError(f"{wheel.name} has {', '.join(sorted(others))}")
    _check_record(wheel, files, f"{info}/RECORD")
    _check_metadata(files[f"{info}/METADATA"], version)
    is_pure = _EXTENSION not in files
    told = re.findall(r"^Tag: (.*)$", files[f"{info}/WHEEL"].decode(), flags=re.MULTILINE)
    if {*told} != {*map(str, tags)} or is_pure != wheel.name.endswith("-py3-none-any.whl"):
        raise WrongReleaseError(f"{wheel.name} has the tags {', '.join(told)}")
    if any(f"-linux_{part}" in wheel.name for part in ("x86", "aarch")):
        raise WrongReleaseError(f"{wheel.name} names no oldest glibc, and no registry takes it")
    expected = {
        f"{info}/sboms/{sbom.NAME}",
        f"{info}/licenses/LICENSE",
        "kraftops/commit.txt",
        "kraftops/py.typed",
        *(f"{data}/data/share/man/man1/{page.name}" for page in (REPOSITORY / "man").iterdir()),
    }
    if missing := expected - set(files):
        raise WrongReleaseError(f"{wheel.name} lacks {', '.join(sorted(missing))}")


def check_engine(wheel: Path) -> None:
    """Refuse a wheel without the compiled engine.

    Raises:
        WrongReleaseError: it has none.
    """
    with ZipFile(wheel) as archive:
        if _EXTENSION not in archive.namelist():
            raise WrongReleaseError(f"{wheel.name} has no compiled engine")


def check_pins(required: Iterable[Component], lock: str) -> None:
    """Compare what is installed with the lock: the files that are tried are those that were tested.

    Raises:
        WrongReleaseError: a package has another version, or is not in the lock.
    """
    pinned = {*re.findall(r"^([^\s;]+==[^\s;]+)", lock, re.MULTILINE)}
    used = {f"{package.name}=={package.version}" for package in required}
    used |= {f"{name}=={metadata.version(name)}" for name in _BUILD_TOOLS}
    if unpinned := sorted(used - pinned):
        raise WrongReleaseError(f"requirements.lock does not have {', '.join(unpinned)}")


def check_linker(lock: str) -> None:
    """Compare cargo-zigbuild with the lock; `packaging/interpreter.sh` does so with ziglang.

    Raises:
        WrongReleaseError: it is another version.
    """
    command = ["cargo-zigbuild", "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    if f"{told[0]}=={told[1]} " not in lock:
        raise WrongReleaseError(f"{BUILDERS_LOCK.name} does not have {'=='.join(told)}")


def _check_names(file: Path, names: set[str]) -> None:
    if bad := sorted(name for name in names if _NEVER.search(name)):
        raise WrongReleaseError(f"{file.name} has {', '.join(bad[:5])}")


def _check_record(wheel: Path, files: dict[str, bytes], record: str) -> None:
    rows = list(csv.reader(files[record].decode().splitlines()))
    if {row[0] for row in rows} != set(files):
        raise WrongReleaseError(f"{wheel.name}: RECORD does not list its files")
    for name, digest, _ in rows:
        if name == record:
            continue
        found = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
        if digest != f"sha256={found.decode()}":
            raise WrongReleaseError(f"{wheel.name}: {name} is not what RECORD says")


def _check_metadata(text: bytes, version: str) -> None:
    """Check metadata as a registry does: each field is valid, and the description can be shown."""
    try:
        found = Metadata.from_email(text, validate=True)
    except ExceptionGroup as group:
        reasons = "; ".join(map(str, group.exceptions))
        raise WrongReleaseError(f"metadata: {reasons}") from group
    project = _project()
    if (found.name, str(found.version)) != ("kraftops", version):
        raise WrongReleaseError(f"metadata are of {found.name} {found.version}")
    if found.description_content_type != "text/markdown" or not found.description:
        raise WrongReleaseError("the description is not the README")
    if set(found.provides_extra or ()) != set(project["optional-dependencies"]):
        raise WrongReleaseError("metadata have other extras")


def _run_them(files: Iterable[Path], scratch: Path) -> None:
    """Install each file into a fresh environment of each Python that is here, and run it there."""
    slow = without_cargo(scratch)
    there = pythons()
    for version in sorted(supported() - there.keys()):
        print(f"Python {version} is not on this machine: not tried")
    with place() as given:
        for version, python in there.items():
            for file in files:
                directory = scratch / f"environment-{version}{file.suffix}"
                path = slow if file.suffix == ".gz" else None  # both engines are built already
                bin_ = environment(directory, python, str(file), path=path)
                row = check(file.name, bin_, given, (), FEW)
                if row.wrong:
                    raise WrongReleaseError(f"{file.name} in {version}: {row.wrong[0]}")
                print(f"{file.name} in {version}: {row.cases} cases", flush=True)


if __name__ == "__main__":
    sys.exit(main())
