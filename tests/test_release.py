"""Wheels are checked before they are published."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parent.parent
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def check_wheel() -> Iterator[Callable[[Path, str], None]]:
    """Return the check of `scripts/release.py`."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import release

        yield release.check_wheel
    finally:
        sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel without the engine, as a release has it: with the commit."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        env=os.environ | {"KRAFTOPS_NATIVE": "0"},
        check=True,
        capture_output=True,
    )
    (made,) = out.iterdir()
    return made


def version(wheel: Path) -> str:
    return wheel.name.split("-")[1]


def changed(wheel: Path, out: Path, change: Callable[[Files], None]) -> Path:
    """Copy a wheel, with some files changed."""
    with ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    copy = out / wheel.name
    with ZipFile(copy, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return copy


@pytest.mark.usefixtures("check_wheel")
def test_wheel_without_the_engine_is_refused(wheel: Path) -> None:
    from release import WrongReleaseError, check_engine

    with pytest.raises(WrongReleaseError, match="has no compiled engine"):
        check_engine(wheel)


@pytest.mark.usefixtures("check_wheel")
@pytest.mark.parametrize(
    ("lock", "unpinned"),
    [
        (
            "click==8.5.1 \\\n    --hash=sha256:0\nhatchling==9 ; python_version == '3.11'",
            "click==8.5",
        ),
        ("click==8.5 \\\n    --hash=sha256:0\n", "hatchling=="),
    ],
)
def test_release_of_packages_that_are_not_locked_is_refused(lock: str, unpinned: str) -> None:
    from dependencies import Component
    from release import WrongReleaseError, check_pins

    with pytest.raises(WrongReleaseError, match=f"does not have .*{unpinned}"):
        check_pins([Component("pypi", "click", "8.5", "")], lock)


CHANGES: dict[str, tuple[Callable[[Files], None], str]] = {
    "another text": (
        lambda files: files.update({"kraftops/errors.py": b"raise SystemExit"}),
        "kraftops/errors.py is not what RECORD says",
    ),
    "another file": (
        lambda files: files.update({"kraftops/more.py": b""}),
        "RECORD does not list its files",
    ),
    "another package": (lambda files: files.update({"tests/x.py": b""}), "has tests"),
    "byte code": (lambda files: files.update({"kraftops/x.pyc": b""}), "has kraftops/x.pyc"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_changed_wheel_is_refused(
    case: str, wheel: Path, tmp_path: Path, check_wheel: Callable[[Path, str], None]
) -> None:
    change, said = CHANGES[case]
    copy = changed(wheel, tmp_path, change)

    with pytest.raises(Exception, match=r"^kraftops-") as caught:
        check_wheel(copy, version(wheel))

    assert type(caught.value).__name__ == "WrongReleaseError"
    assert said in str(caught.value)


def test_wheel_of_this_tree_is_right(wheel: Path, check_wheel: Callable[[Path, str], None]) -> None:
    with ZipFile(wheel) as archive:
        has_commit = "kraftops/commit.txt" in archive.namelist()

    if has_commit:
        check_wheel(wheel, version(wheel))
    else:  # a copy of the tree without its repository, as .ci/run makes one
        with pytest.raises(Exception, match=r"lacks kraftops/commit\.txt$"):
            check_wheel(wheel, version(wheel))


def test_wheel_of_another_version_is_refused(
    wheel: Path, check_wheel: Callable[[Path, str], None]
) -> None:
    with pytest.raises(Exception, match=r"is not of 9\.9$"):
        check_wheel(wheel, "9.9")


def test_package_that_is_not_installed_is_named(
    check_wheel: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is built: its licence goes into the bill of materials."""
    release: Any = sys.modules[check_wheel.__module__]
    monkeypatch.setattr(release, "packages", Mock(side_effect=PackageNotFoundError("pandas")))

    with pytest.raises(Exception, match=r"^pandas is not installed beside this: pip install"):
        release._required()


@pytest.mark.usefixtures("check_wheel")
def test_wheel_is_linked_for_an_old_glibc_where_that_can_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from release import target_settings

    monkeypatch.delenv("KRAFTOPS_TARGET", raising=False)
    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", "2.41"))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setenv("PATH", str(tmp_path))
    without = target_settings()
    (tmp_path / "cargo-zigbuild").touch(mode=0o755)

    assert without == {}
    assert target_settings() == {"KRAFTOPS_TARGET": "x86_64-unknown-linux-gnu.2.28"}
    monkeypatch.setenv("KRAFTOPS_TARGET", "another")
    assert target_settings() == {}


@pytest.mark.usefixtures("check_wheel")
def test_linker_that_is_not_locked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from release import WrongReleaseError, check_linker

    (tmp_path / "cargo-zigbuild").write_text("#!/bin/sh\necho cargo-zigbuild 1.2\n")
    (tmp_path / "cargo-zigbuild").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    check_linker("cargo-zigbuild==1.2 --hash=sha256:0\n")
    with pytest.raises(WrongReleaseError, match=r"does not have cargo-zigbuild==1\.2$"):
        check_linker("cargo-zigbuild==1.20 --hash=sha256:0\n")


@pytest.mark.usefixtures("check_wheel")
def test_platform_of_the_wheel_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from release import say_platform

    monkeypatch.setenv("PATH", str(tmp_path))

    say_platform(Path("kraftops-0.2.0-cp311-abi3-manylinux_2_34_x86_64.whl"))

    first, second = capsys.readouterr().out.splitlines()
    assert first == "the wheel is for manylinux_2_34_x86_64"
    assert "without cargo-zigbuild" in second


@pytest.fixture
def published(tmp_path: Path, check_wheel: Callable[[Path, str], None]) -> Callable[..., Path]:
    """Return a function that publishes two files, signed if there is a key."""
    release: Any = sys.modules[check_wheel.__module__]

    def published(key: Path | None = None) -> Path:
        dist = tmp_path / "dist"
        dist.mkdir()
        for name in ("kraftops-9-linux-x86_64.tar.zst", "kraftops_9_amd64.deb"):
            (dist / name).write_text(name)
        release.publish(dist, "9", "c0ffee", key)
        return dist

    return published


def documented(tool: str) -> str:
    """Return the line with which users check files, by the documentation."""
    text = (ROOT / "packaging/README.md").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith(f"    {tool} "))
    return line.strip()


def checked(dist: Path, line: str) -> int:
    return subprocess.run(["sh", "-c", line], cwd=dist, check=False).returncode


def test_provenance_names_commit_locks_and_sources(published: Callable[..., Path]) -> None:
    dist = published()

    statement = json.loads((dist / "kraftops-9.provenance.json").read_text())
    build = statement["predicate"]["buildDefinition"]
    materials = {part["name"]: part["digest"] for part in build["resolvedDependencies"]}
    sources = tomllib.loads((ROOT / "packaging/sources.toml").read_text()).values()
    ours = {f"packaging/{name}" for name in ("tree.lock", "builders.lock", "sources.toml")}
    locks = {"requirements.lock", "core/native/Cargo.lock", *ours}
    assert materials.pop("commit") == {"gitCommit": "c0ffee"}
    assert materials.keys() == locks | {source["file"] for source in sources}


@pytest.mark.skipif(not shutil.which("jq"), reason="there is no jq")
def test_documented_command_checks_provenance(published: Callable[..., Path]) -> None:
    dist = published()

    assert checked(dist, documented("jq")) == 0
    (dist / "kraftops_9_amd64.deb").write_text("another")
    assert checked(dist, documented("jq")) != 0


@pytest.mark.skipif(not shutil.which("minisign"), reason="there is no minisign")
def test_documented_command_checks_sums_and_signature(
    published: Callable[..., Path], tmp_path: Path
) -> None:
    key = tmp_path / "kraftops.key"
    make = ["minisign", "-G", "-W", "-s", str(key), "-p", str(key.with_suffix(".pub"))]
    subprocess.run(make, check=True, capture_output=True)
    dist = published(key)
    shutil.copy(key.with_suffix(".pub"), dist)
    line = documented("minisign")

    assert checked(dist, line) == 0
    (dist / "kraftops_9_amd64.deb").write_text("another")
    assert checked(dist, line) != 0
    sums = dist / "SHA256SUMS"
    sums.write_text(sums.read_text().replace("a", "b"))
    assert checked(dist, line) != 0
