"""Make the tree without Python: an interpreter, the wheel and what it needs, in one archive.

tree.py INTERPRETER WHEEL OUT: the directory that `interpreter.sh` made, a wheel with the engine,
and a directory for `kraftops-VERSION-linux-x86_64.tar.zst`, and its bill of materials.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from backports import zstd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))
import sbom  # noqa: E402
from dependencies import Component, packages_in  # noqa: E402
from lock import TREE_LOCK, TREE_OPTIONS  # noqa: E402

GLIBC = 28
"""The minor version of the oldest glibc that is supported: that of RHEL 8."""
_CPP = b"\0libstdc++.so.6\0"
"""The library that wheels may need and minimal systems lack; others are everywhere, or inside."""
PYTHON = "3.13"
COMMANDS = ("kafka-cluster", "kafka-dump-log", "kafka-metadata-shell", "kafka-storage")
_UNUSED = (
    *("test", "idlelib", "tkinter", "turtledemo", "turtle.py", "ensurepip", "pydoc_data", "venv"),
    *("config-*", "*.a", "lib2to3", "__phello__", "sqlite3", "curses", "ctypes", "dbm"),
)
"""Parts of the standard library that nothing here imports."""


class WrongTreeError(Exception):
    """The tree is not what is published; the message says why."""


def main() -> int:
    """Make the archive; return 1 if it is not right."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("interpreter", type=Path)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    version = arguments.wheel.name.split("-")[1]
    name = f"kraftops-{version}-linux-x86_64"
    with TemporaryDirectory(prefix="tree-") as scratch:
        tree = Path(scratch, name)
        try:
            build(arguments.interpreter, arguments.wheel, tree)
        except WrongTreeError as error:
            print(f"tree: {error}", file=sys.stderr)
            return 1
        arguments.out.mkdir(parents=True, exist_ok=True)
        bill = arguments.out / f"{name}.cdx.json"
        bill.write_text(sbom.document(version, components(tree)), encoding="utf-8")
        pack(tree, arguments.out / f"{name}.tar.zst")
    return 0


def build(interpreter: Path, wheel: Path, tree: Path) -> None:
    """Lay out the tree.

    Raises:
        WrongTreeError: a library needs a newer glibc, or there is no engine.
    """
    (tree / "libexec").mkdir(parents=True)
    shutil.copy2(interpreter / f"bin/python{PYTHON}", tree / "libexec/python3")
    library = tree / f"lib/python{PYTHON}"
    ignored = shutil.ignore_patterns("__pycache__", "site-packages", *_UNUSED)
    shutil.copytree(interpreter / f"lib/python{PYTHON}", library, ignore=ignored)
    shutil.copytree(interpreter / "licenses", tree / "share/doc/kraftops/licenses")
    site = library / "site-packages"
    _install(site, "--require-hashes", "-r", str(TREE_LOCK))
    _install(site, "--no-deps", str(wheel))
    (checksums,) = site.glob("google_crc32c.libs/*")
    shutil.copy2(interpreter / "lib/libcrc32c.so", checksums)  # crc32c.c has the reason
    (noted,) = site.glob("kraftops-*.dist-info")
    for file in (*site.glob("*.dist-info/RECORD"), *site.glob("*.dist-info/REQUESTED")):
        file.unlink()
    (noted / "direct_url.json").unlink()
    mark(tree, "tree")
    shutil.copytree(site / "share", tree / "share", dirs_exist_ok=True)
    shutil.rmtree(site / "share")
    shutil.rmtree(site / "bin")
    (tree / "bin").mkdir()
    shutil.copy2(HERE / "launch.sh", tree / "bin/kraftops")
    for command in COMMANDS:
        for suffix in ("", ".sh"):
            (tree / f"bin/{command}{suffix}").symlink_to("kraftops")
    check(tree)
    _compile(tree)


def mark(tree: Path, installer: str) -> None:
    """Write how the tree is installed, for `kraftops --version`."""
    (noted,) = tree.glob("lib/python*/site-packages/kraftops-*.dist-info")
    (noted / "INSTALLER").write_text(f"{installer}\n", encoding="ascii")


def _install(site: Path, *words: str) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-compile", "--target", str(site)]
    subprocess.run([*pip, "--upgrade", *TREE_OPTIONS, *words], check=True)


def check(tree: Path) -> None:
    """Check that each library needs no more than an old glibc, and that the engine is there.

    Raises:
        WrongTreeError: it is not so.
    """
    for file in libraries(tree):
        content = file.read_bytes()
        if _CPP in content:
            raise WrongTreeError(f"{file.relative_to(tree)} needs libstdc++")
        minors = map(int, re.findall(rb"\0GLIBC_2\.(\d+)\b", content))
        if (newest := max(minors, default=0)) > GLIBC:
            raise WrongTreeError(f"{file.relative_to(tree)} needs glibc 2.{newest}")
    if not list(tree.glob("lib/python*/site-packages/kraftops/engine/_native.abi3.so")):
        raise WrongTreeError("the wheel has no compiled engine")


def libraries(tree: Path) -> Iterator[Path]:
    """Yield the programs and libraries in machine code."""
    for file in sorted(tree.rglob("*")):
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as content:
                if content.read(4) == b"\x7fELF":
                    yield file


def _compile(tree: Path) -> None:
    """Compile everything once; nobody checks later whether it is current, as the tree is one.

    With -B, as modules that are imported meanwhile would keep their time and this directory.
    """
    python = [str(tree / "libexec/python3"), "-I", "-B", "-m", "compileall", "-qf"]
    words = ["--invalidation-mode", "unchecked-hash", "-s", str(tree), "-p", "/usr/lib/kraftops"]
    settings = os.environ | {"PYTHONHASHSEED": "0"}
    subprocess.run([*python, *words, str(tree / "lib")], check=True, env=settings)


def components(tree: Path) -> Iterator[Component]:
    """Yield what is in the tree: sources of the interpreter, packages, crates, scripts of pages."""
    sources = tomllib.loads((HERE / "sources.toml").read_text("utf-8"))
    for name, source in sources.items():
        licence, digest = source["licence"], source["sha256"]
        yield Component("generic", name, source["version"], licence, digest)
    (site,) = tree.glob("lib/python*/site-packages")
    yield from packages_in(site)
    (bill,) = site.glob("kraftops-*.dist-info/sboms/*.json")  # of crates and scripts of pages
    yield from sbom.components(bill.read_text("utf-8"))


def mode_of(path: Path) -> int:
    """Return the mode of a file or directory: only commands and the interpreter are executable."""
    return 0o755 if path.is_dir() or path.parent.name in ("bin", "libexec") else 0o644


def pack(tree: Path, archive: Path) -> None:
    """Write the archive, the same bytes for the same files."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = epoch
        member.mode = mode_of(tree.parent / member.name)
        return member

    with zstd.open(archive, "wb", level=12) as file, tarfile.open(fileobj=file, mode="w") as tar:
        for path in (tree, *sorted(tree.rglob("*"))):
            tar.add(path, str(path.relative_to(tree.parent)), recursive=False, filter=plain)


if __name__ == "__main__":
    sys.exit(main())
