"""Install a release's files in minimal roots of Debian without Python, and use them there.

roots.py DIST ROOTS [--before OLD]: the files, a directory for the roots, which mmdebstrap makes
once, and the files of another version, for an upgrade and a downgrade. Only root can run it, as it
mounts. Each install gets a fresh copy of a root, and every case of `installs.py`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from installs import (
    CASES,
    FORMAT,
    OF_EXTRAS,
    REPOSITORY,
    Place,
    Row,
    Surroundings,
    case_of,
    output_directory,
    place,
    run,
    run_in,
)

SUITES = ("bullseye", "bookworm", "trixie")
_IMAGE = "kraftops"
_NOBODY = 65532
"""The user of the image: one that no root knows."""
_AT_ONCE = 8
"""Cases that run together: some wait half a minute for a broker that does not answer."""
_HOSTS = "127.0.0.1 localhost\n"
_CASES = (
    *CASES,
    *(replace(case, said=f"has no {extra}", code=1) for extra, (case, _) in OF_EXTRAS.items()),
)
_VOLUME = (  # one after another, on one volume; "lost" is what a broken quorum has left
    case_of(FORMAT, "Formatting dynamic metadata voter directory"),
    case_of("kafka-storage verify -c {out}/new.properties", "would start"),
    case_of("kafka-storage verify -c {out}/lost.properties", "[no-voters]", 2),
    case_of("kafka-storage recover -c {out}/lost.properties --voters self --yes", "Written"),
    case_of("kafka-storage verify -c {out}/lost.properties", "would start"),
)
_STATE = ("var/lib/dpkg", "root/.rpmdb", "var/log", "var/cache")
"""Where package managers keep their own files."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a version."""

    folder: Path

    def only(self, pattern: str) -> Path:
        """Return the one file with such a name."""
        (file,) = self.folder.glob(pattern)
        return file

    @property
    def version(self) -> str:
        """The version that the name of the tree has."""
        return self.only("*.tar.zst").name.split("-")[1]


def minimal(roots: Path, suite: str) -> Path:
    """Return a root of a release of Debian; make it if it is not there."""
    root = roots / suite
    if not root.exists():
        command = ["mmdebstrap", "--quiet", "--variant=essential", "--include=ca-certificates"]
        subprocess.run([*command, suite, str(root)], check=True)
    if python := [*root.glob("usr/bin/python*"), *root.glob("usr/local/bin/python*")]:
        raise SystemExit(f"roots: {python[0]} is there, and should not")
    return root


@contextmanager
def fresh(root: Path, scratch: Path, *shared: Path) -> Iterator[Path]:
    """Mount a root that is thrown away later, with devices, and some directories in their place."""
    with TemporaryDirectory(dir=scratch) as top, ExitStack() as mounts:
        upper, work, merged = (Path(top, name) for name in ("upper", "work", "merged"))
        for folder in (upper, work, merged):
            folder.mkdir()
        upper.chmod(0o755)

        def mount(*words: str, to: Path) -> None:
            to.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", *words, str(to)], check=True)
            mounts.callback(subprocess.run, ["umount", "-l", str(to)], check=True)

        options = f"lowerdir={root},upperdir={upper},workdir={work}"
        mount("-t", "overlay", "overlay", "-o", options, to=merged)
        (merged / "etc").mkdir(exist_ok=True)
        (merged / "etc/hosts").write_text(_HOSTS)
        mount("-t", "proc", "proc", to=merged / "proc")
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", to=merged / "tmp")
        for folder in (Path("/dev"), *shared):
            mount("--bind", str(folder), to=merged / folder.relative_to("/"))
        yield merged


def in_root(root: Path, *words: str) -> str:
    """Run a command in a root; return what it printed."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
    command = ["chroot", str(root), *words]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def unpack(archive: Path, root: Path) -> Path:
    """Unpack the tree, with the zstd of this machine; return the directory of its commands."""
    subprocess.run(["tar", "--zstd", "-xf", str(archive), "-C", str(root / "opt")], check=True)
    return Path("/opt", archive.name.removesuffix(".tar.zst"), "bin")


def debian(root: Path, *words: str) -> None:
    """Run dpkg in the root, which needs no sync to a disk."""
    in_root(root, "dpkg", "--force-unsafe-io", *words)


def rpm(root: Path, *words: str) -> None:
    """Run this machine's rpm; its database in a root of Debian has no glibc."""
    subprocess.run(["rpm", "--root", str(root), "--nodeps", *words], check=True)


@dataclass(frozen=True, slots=True)
class Manager:
    """How a package manager installs a file, goes back to an older one, and removes it."""

    pattern: str
    install: tuple[str, ...]
    downgrade: tuple[str, ...]
    remove: tuple[str, ...]

    def __call__(self, root: Path, *words: str) -> None:
        """Run it."""
        (debian if self.pattern == "*.deb" else rpm)(root, *words)


MANAGERS = {
    "deb": Manager("*.deb", ("-i",), ("-i",), ("-P", "kraftops")),
    "rpm": Manager("*.rpm", ("-U",), ("-U", "--oldpackage"), ("-e", "kraftops")),
}


def check(name: str, root: Path, bin_: Path, given: Place, *, is_locked: bool = False) -> Row:
    """Run all cases; in a *locked* root as a user without rights, with the root read-only."""
    usual = Surroundings(name, root, environment={"LC_ALL": "C.UTF-8"})
    if is_locked:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(root)], check=True)
        usual = replace(usual, user=_NOBODY)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        texts = [*pool.map(lambda case: run(bin_, case, given, usual), _CASES)]
    texts += _on_volume(bin_, given, usual)
    wrong = [text for text in texts if text]
    return Row(name, "locked" if is_locked else "", len(texts), wrong)


def _on_volume(bin_: Path, given: Place, usual: Surroundings) -> list[str]:
    """Format a node, and recover another one; return what was wrong with each step."""
    with output_directory(given, usual) as out:
        lost = out / "lost"
        shutil.copytree(given.data / "log-directories/4.3.1/stopped", lost)
        settings = (out / "new.properties").read_text().replace(f"={out}/d1", f"={lost}")
        (out / "lost.properties").write_text(settings)
        for path in (lost, *lost.rglob("*")):
            if usual.user is not None:
                os.chown(path, usual.user, usual.user)
        return [run_in(out, bin_, step, given, usual) for step in _VOLUME]


def check_versions(kind: str, root: Path, new: Files, old: Files) -> Row:
    """Install the old package, upgrade, downgrade, upgrade, remove; nothing may stay."""
    manager = MANAGERS[kind]
    before = _listed(root)
    wrong: list[str] = []
    steps = ((old, manager.install), (new, manager.install), (old, manager.downgrade))
    for files, words in (*steps, (new, manager.install)):
        manager(root, *words, str(files.only(manager.pattern)))
        told = in_root(root, "/usr/bin/kraftops", "--version").split()[1]
        if told != files.version:
            wrong.append(f"{kind}: {told} after {' '.join(words)} of {files.version}")
    manager(root, *manager.remove)
    if rest := sorted(_listed(root) - before):
        wrong.append(f"{kind}: {', '.join(rest[:5])} stayed")
    return Row(f"{kind}: {old.version}, {new.version}, back", "", 5, wrong)


def _listed(root: Path) -> set[str]:
    command = ["find", str(root), "-xdev", "-printf", "%P\\n"]  # not what is mounted in it
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {name for name in done.stdout.splitlines() if not name.startswith(_STATE)}


@contextmanager
def image(archive: Path, root: Path, scratch: Path) -> Iterator[Path]:
    """Build the image from a root; yield the root of a container."""
    context, store = scratch / "context", scratch / "images"
    tree = context / "kraftops"
    tree.mkdir(parents=True)
    strip = ["--strip-components=1", "-C", str(tree)]
    subprocess.run(["tar", "--zstd", "-xf", str(archive), *strip], check=True)
    subprocess.run(["tar", "-cf", str(context / "root.tar"), "-C", str(root), "."], check=True)
    buildah = ["buildah", "--storage-driver=vfs", f"--root={store}", f"--runroot={store}/run"]

    def ran(*words: str) -> str:
        done = subprocess.run([*buildah, *words], check=True, capture_output=True, text=True)
        return done.stdout.strip().rpartition("\n")[2]

    file = str(REPOSITORY / "packaging/Containerfile")
    ran("build", "--isolation=chroot", "-q", "-t", _IMAGE, "-f", file, str(context))
    shutil.rmtree(context)
    container = ran("from", "--pull-never", _IMAGE)
    told = ran("run", "--isolation=chroot", container, "sh", "-c", "id -u; kraftops --version")
    assert told, "the image has no kraftops in PATH"
    yield Path(ran("mount", container))


def rows(new: Files, roots: Path, old: Files | None, given: Place) -> Iterator[Row]:
    """Yield what each install gave."""
    archive, shared = new.only("*.tar.zst"), (given.scratch,)
    for suite in SUITES:
        root = minimal(roots, suite)
        with fresh(root, roots, *shared) as copy:
            bin_ = unpack(archive, copy)
            yield check(f"tree, {suite}", copy, bin_, given)
            yield check(f"tree, {suite}", copy, bin_, given, is_locked=True)
        for kind, manager in MANAGERS.items():
            with fresh(root, roots, *shared, new.folder) as copy:
                manager(copy, *manager.install, str(new.only(manager.pattern)))
                yield check(f"{kind}, {suite}", copy, Path("/usr/bin"), given)
            if old is not None:
                with fresh(root, roots, new.folder, old.folder) as copy:
                    yield replace(check_versions(kind, copy, new, old), around=suite)
    with (
        TemporaryDirectory(dir=roots) as scratch,
        image(archive, minimal(roots, "bookworm"), Path(scratch)) as container,
        fresh(container, Path(scratch), *shared) as copy,
    ):
        yield check("image", copy, Path("/opt/kraftops/bin"), given, is_locked=True)
        with fresh(minimal(roots, "bullseye"), roots, *shared) as other:
            shutil.copytree(copy / "opt/kraftops", other / "shared", symlinks=True)
            yield check("its tree in another", other, Path("/shared/bin"), given, is_locked=True)


def tried(dist: Path, roots: Path, before: Path | None) -> bool:
    """Print what each install gave; tell whether all is well."""
    roots.mkdir(parents=True, exist_ok=True)
    new, old = Files(dist.resolve()), Files(before.resolve()) if before else None
    failed = 0
    with place() as given:
        for row in rows(new, roots.resolve(), old, given):
            print(f"{row.install:34} {row.around:10} {row.cases:3} cases, {len(row.wrong)} wrong")
            print("".join(f"    {text}\n" for text in row.wrong), end="", flush=True)
            failed += bool(row.wrong)
    return not failed


def missing_tools() -> list[str]:
    """Return what roots need and this machine has not."""
    tools = ("mmdebstrap", "chroot", "mount", "rpm", "buildah", "zstd")
    lacking = [tool for tool in tools if shutil.which(tool) is None]
    return lacking if os.geteuid() == 0 else ["the rights of root", *lacking]


def main() -> int:
    """Try the files; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("dist", type=Path)
    parser.add_argument("roots", type=Path)
    parser.add_argument("--before", type=Path, help="the files of another version")
    arguments = parser.parse_args()
    if lacking := missing_tools():
        print(f"roots: not here: {', '.join(lacking)}", file=sys.stderr)
        return 1
    return 0 if tried(arguments.dist, arguments.roots, arguments.before) else 1


if __name__ == "__main__":
    sys.exit(main())
