"""The tree without Python: what is refused, how it starts, and that its bytes depend on its files."""

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import google_crc32c
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"


@pytest.fixture(scope="module")
def builder() -> Iterator[ModuleType]:
    """Return `packaging/tree.py`."""
    sys.path.insert(0, str(PACKAGING))
    try:
        import tree

        yield tree
    finally:
        sys.path.remove(str(PACKAGING))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree whose interpreter prints its arguments, with an engine for glibc 2.28."""
    tree = tmp_path / "kraftops-1"
    engine = tree / "lib/python3.13/site-packages/kraftops/engine/_native.abi3.so"
    engine.parent.mkdir(parents=True)
    engine.write_bytes(b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.28\0")
    for folder in ("bin", "libexec"):
        (tree / folder).mkdir()
    (tree / "libexec/python3").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    shutil.copy(PACKAGING / "launch.sh", tree / "bin/kraftops")
    for program in (tree / "libexec/python3", tree / "bin/kraftops"):
        program.chmod(0o755)
    (tree / "bin/kafka-storage.sh").symlink_to("kraftops")
    return tree


@pytest.mark.skipif(os.name == "nt", reason="it is a shell script")
@pytest.mark.parametrize("is_linked", [False, True])
def test_command_starts_from_anywhere_by_its_name(
    tree: Path, tmp_path: Path, *, is_linked: bool
) -> None:
    program = tree / "bin/kafka-storage.sh"
    if is_linked:
        (tmp_path / "usr-bin").mkdir()
        program = tmp_path / "usr-bin/kafka-storage"
        program.symlink_to("../kraftops-1/bin/kafka-storage.sh")

    done = subprocess.run(
        [program, "a b", "c"], capture_output=True, text=True, check=True, cwd="/"
    )

    code = "from kraftops_cli.main import kafka_storage; kafka_storage()"
    assert done.stdout.splitlines() == ["-I", "-c", code, "a b", "c"]


def test_launcher_has_the_entry_points_of_the_wheel() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    launcher = (PACKAGING / "launch.sh").read_text()

    cases = re.findall(r"^  (.+)\) main=(\w+) ;;$", launcher, re.MULTILINE)
    functions = {name: main for names, main in cases for name in names.split(" | ")}
    functions["kraftops"] = functions.pop("*")
    assert functions == {name: entry.partition(":")[2] for name, entry in scripts.items()}


def test_library_for_a_newer_glibc_is_refused(builder: ModuleType, tree: Path) -> None:
    builder.check(tree)
    (tree / "lib/x.so").write_bytes(b"\x7fELF\0GLIBC_2.34\0GLIBC_2.4\0")

    with pytest.raises(builder.WrongTreeError, match=r"^lib/x\.so needs glibc 2\.34$"):
        builder.check(tree)


def test_library_that_minimal_systems_lack_is_refused(builder: ModuleType, tree: Path) -> None:
    (tree / "lib/x.so").write_bytes(b"\x7fELF\0libc.so.6\0libstdc++.so.6\0")

    with pytest.raises(builder.WrongTreeError, match=r"^lib/x\.so needs libstdc\+\+$"):
        builder.check(tree)


@pytest.mark.skipif(
    not shutil.which("cc") or platform.machine() != "x86_64", reason="no compiler for x86_64"
)
def test_checksums_of_the_tree_are_those_of_the_wheel(tmp_path: Path) -> None:
    library = tmp_path / "crc32c.so"
    source = str(PACKAGING / "crc32c.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), source], check=True)
    ours = ctypes.CDLL(str(library))
    ours.crc32c_extend.restype = ours.crc32c_value.restype = ctypes.c_uint32

    for size in (*range(18), 4099):
        content = bytes(range(256)) * 17
        content = content[-size:] if size else b""
        assert ours.crc32c_value(content, size) == google_crc32c.value(content)
        assert ours.crc32c_extend(7, content, size) == google_crc32c.extend(7, content)


def test_tree_without_the_engine_is_refused(builder: ModuleType, tree: Path) -> None:
    next(tree.rglob("_native.abi3.so")).unlink()

    with pytest.raises(builder.WrongTreeError, match="no compiled engine"):
        builder.check(tree)


def test_archive_is_the_same_for_the_same_files(
    builder: ModuleType, tree: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "other" / tree.name
    shutil.copytree(tree, copy, symlinks=True, copy_function=shutil.copy)  # with new times

    builder.pack(tree, tmp_path / "one")
    builder.pack(copy, tmp_path / "two")

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_host_without_glibc_is_named(tree: Path) -> None:
    launcher = tree / "bin/kraftops"
    launcher.write_text(launcher.read_text().replace("/lib64/", "/no-lib64/"))

    done = subprocess.run(
        [tree / "bin/kafka-storage.sh"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "kafka-storage.sh: /no-lib64/ld-linux-x86-64.so.2 is missing: "
        "this tree needs glibc, which Alpine does not have\n"
    )


def test_everything_in_the_tree_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (PACKAGING / "tree.lock").read_text()
    sources = tomllib.loads((PACKAGING / "sources.toml").read_text())

    needed = {re.split(r"[<>=;]", line)[0].replace(".", "-") for line in project["dependencies"]}
    lines = [line for line in lock.splitlines() if not line.startswith("#")]
    assert needed <= {line.partition("==")[0] for line in lines}
    assert all(re.fullmatch(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert all(re.fullmatch("[0-9a-f]{64}", source["sha256"]) for source in sources.values())
