"""Archives of directories, of each kind that is read."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from kraftops.log.codecs import zstd_module

Files = dict[str, bytes]
"""Contents by path."""


def _tar(mode: str) -> Callable[[Path, Files], None]:
    def write(path: Path, files: Files) -> None:
        with tarfile.open(path, mode) as archive:
            for name, data in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))

    return write


def _tar_zst(path: Path, files: Files) -> None:
    _tar("w")(path, files)
    path.write_bytes(zstd_module().compress(path.read_bytes()))


def _zip(path: Path, files: Files) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


KINDS = {
    "log.tar": _tar("w"),
    "log.tar.gz": _tar("w:gz"),
    "log.tar.bz2": _tar("w:bz2"),
    "log.tar.xz": _tar("w:xz"),
    "log.tar.zst": _tar_zst,
    "log.zip": _zip,
}
"""Functions that write an archive, by its name."""


def under(top: str, files: Files) -> Files:
    """Return files in another directory, which ends with a slash."""
    return {f"{top}{name}": data for name, data in files.items()}


def files_in(folder: Path) -> Files:
    """Return all files below a directory."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
