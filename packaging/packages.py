"""Make a .deb and a .rpm of the tree: packages.py ARCHIVE OUT, by dpkg-deb and rpmbuild."""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from backports import zstd
from tree import mark, mode_of

_SUMMARY = "operator's command line for KRaft Kafka"
_DESCRIPTION = """\
Formats log directories, dumps logs past the damage, browses metadata,
examines and changes clusters. It has its own interpreter, and needs
nothing but glibc 2.28 and libgcc."""
_MAINTAINER = "The authors of kraftops <kraftops@localhost>"
_CONTROL = """\
Package: kraftops
Version: {version}
Architecture: amd64
Maintainer: {maintainer}
Installed-Size: {size}
Depends: libc6 (>= 2.28), libgcc-s1 | libgcc1
Section: admin
Priority: optional
Description: {summary}
{description}
"""
_COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: kraftops

Files: *
Copyright: 2026 The authors of kraftops
License: Apache-2.0
 On Debian systems, /usr/share/common-licenses/Apache-2.0 has the text. Licences of the
 interpreter and of libraries inside are in /usr/share/doc/kraftops/licenses and in the
 directories dist-info below /usr/lib/kraftops.
"""
_OVERRIDES = """\
# The interpreter and its libraries are inside, so that no Python has to be there.
kraftops: embedded-library *
kraftops: package-installs-python-pycache-dir *
# Libraries of other projects are as these published them.
kraftops: unstripped-binary-or-object *
kraftops: library-not-linked-against-libc *
# The project has no address yet.
kraftops: bogus-mail-host *
kraftops: bogus-mail-host-in-debian-changelog *
"""
_SPEC = """\
Name: kraftops
Version: {version}
Release: 1
Summary: {summary}
License: Apache-2.0
Requires: glibc >= 2.28, libgcc
AutoReqProv: no
%description
{description}
%files
%defattr(-,root,root)
/usr/lib/kraftops
/usr/bin/*
/usr/share/doc/kraftops
/usr/share/man/man1/*
/usr/share/bash-completion
/usr/share/zsh
/usr/share/fish
"""
_REPRODUCIBLE = (
    *("_buildhost", "reproducible"),
    *("use_source_date_epoch_as_buildtime", "1"),
    *("clamp_mtime_to_source_date_epoch", "1"),
    *("_build_id_links", "none"),
    *("__os_install_post", "%{nil}"),  # no stripping, no new byte code
    *("_binary_payload", "w3.xzdio"),  # as RHEL 8 has its own packages
)


def main() -> int:
    """Make both packages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    version = arguments.archive.name.split("-")[1]
    epoch = int(os.environ.setdefault("SOURCE_DATE_EPOCH", "0"))
    arguments.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="packages-") as scratch:
        for kind, build in (("deb", debian), ("rpm", rpm)):
            root = Path(scratch, kind)
            lay_out(arguments.archive, root, kind)
            touch(root, epoch)
            build(root, version, arguments.out, epoch)
    return 0


def lay_out(archive: Path, root: Path, kind: str) -> None:
    """Unpack the tree to where distributions expect its parts."""
    library = root / "usr/lib"
    library.mkdir(parents=True)
    with zstd.open(archive) as file, tarfile.open(fileobj=file) as tar:
        tar.extractall(library, filter="tar")
    (tree,) = library.iterdir()
    tree = tree.rename(library / "kraftops")
    mark(tree, kind)
    shutil.move(tree / "share", root / "usr/share")
    (tree / "share").symlink_to("../../share")  # where `kraftops completions` looks
    (root / "usr/bin").mkdir()
    for command in sorted((tree / "bin").iterdir()):
        (root / "usr/bin" / command.name).symlink_to(f"../lib/kraftops/bin/{command.name}")
    for page in (root / "usr/share/man/man1").iterdir():
        packed = gzip.compress(page.read_bytes(), mtime=0)
        page.with_name(f"{page.name}.gz").write_bytes(packed)
        page.unlink()


def touch(root: Path, epoch: int) -> None:
    """Give all files the same time and usual modes."""
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(mode_of(path))
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def debian(root: Path, version: str, out: Path, epoch: int) -> None:
    """Build the .deb."""
    documents = root / "usr/share/doc/kraftops"
    (documents / "copyright").write_text(_COPYRIGHT, encoding="ascii")
    change = f"kraftops ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n"
    signed = f" -- {_MAINTAINER}  Thu, 01 Jan 1970 00:00:00 +0000\n"
    (documents / "changelog.gz").write_bytes(gzip.compress((change + signed).encode(), mtime=0))
    overrides = root / "usr/share/lintian/overrides/kraftops"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(_OVERRIDES, encoding="ascii")
    size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    (root / "DEBIAN").mkdir()
    control = _CONTROL.format(
        version=version,
        maintainer=_MAINTAINER,
        size=size,
        summary=_SUMMARY,
        description="".join(f" {line}\n" for line in _DESCRIPTION.splitlines()).rstrip(),
    )
    (root / "DEBIAN/control").write_text(control, encoding="ascii")
    touch(root, epoch)
    package = out / f"kraftops_{version}_amd64.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--threads-max=1", "--build"]
    subprocess.run([*command, str(root), str(package)], check=True, stdout=subprocess.DEVNULL)


def rpm(root: Path, version: str, out: Path, epoch: int) -> None:
    """Build the .rpm."""
    del epoch  # SOURCE_DATE_EPOCH says it
    spec = root.parent / "kraftops.spec"
    spec.write_text(
        _SPEC.format(version=version, summary=_SUMMARY, description=_DESCRIPTION), "ascii"
    )
    names = iter(_REPRODUCIBLE)
    defines = [f"{name} {text}" for name, text in zip(names, names, strict=True)]
    defines += [f"_topdir {root.parent}/rpmbuild", f"_rpmdir {root.parent}/rpms"]
    words = [word for define in defines for word in ("--define", define)]
    command = ["rpmbuild", "-bb", "--quiet", "--target", "x86_64", "--buildroot", str(root)]
    subprocess.run([*command, *words, str(spec)], check=True)
    (package,) = (root.parent / "rpms").rglob("*.rpm")
    shutil.copy2(package, out / package.name)


if __name__ == "__main__":
    sys.exit(main())
