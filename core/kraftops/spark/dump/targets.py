"""Targets of parts: a local directory, written whole or not at all, or an object store.

Workers write each attempt at a part under a name of its own; only the attempts that the driver
receives count. Locally they are renamed and the directory appears with them. An object store cannot
rename: there the file `_SUCCESS` lists them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from kraftops.errors import UsageError
from kraftops.fileio.atomic import temporary_file
from kraftops.fileio.directories import sync_directory
from kraftops.fileio.output import OutputError
from kraftops.log.remote import filesystem, sizes_of, store_errors
from kraftops.uris import is_remote

SUCCESS = "_SUCCESS"
ENDINGS = {"text": ".txt", "json": ".json", "csv": ".csv", "parquet": ".parquet"}
_DUMP_FILES = re.compile(r"part-.*|\.part-.*\.crc|_SUCCESS|\._SUCCESS\.crc|\w+=.*")
"""Names in a directory that a dump may have written."""


def part_name(number: int, splits: int) -> str:
    """Return the name of a part without its ending; names sort as their numbers do."""
    return f"part-{number:0{max(5, len(str(splits - 1)))}}"


@dataclass(frozen=True, slots=True)
class Target:
    """Directory for parts; workers write to *place*."""

    path: str
    place: str
    run: str
    """Distinguishes the files of this run from the files of other runs."""
    overwrite: bool = False

    @property
    def is_remote(self) -> bool:
        """Whether it is in an object store."""
        return is_remote(self.path)

    def attempt_name(self, part: str, ending: str, attempt: int | str) -> str:
        """Return the name under which an attempt writes a part."""
        return f"{part}-{self.run}-{attempt}{ending}"

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Open a file for writing; it is whole if the block ends without an error.

        Raises:
            OutputError: it cannot be written.
        """
        with write_errors(self.path):
            if self.is_remote:
                system, root = filesystem(self.path)
                if "/" in name and system.type_name == "hdfs":  # object stores have no directories
                    system.create_dir(f"{root}/{name}".rpartition("/")[0], recursive=True)
                with system.open_output_stream(f"{root}/{name}") as stream:
                    yield cast("BinaryIO", stream)
                return
            path = os.path.join(self.place, name)
            with temporary_file(path, path) as file:
                yield file

    def reading(self, name: str) -> BinaryIO:
        """Open a file that was written.

        Raises:
            OutputError: it cannot be read.
        """
        with write_errors(self.path):
            if self.is_remote:
                system, root = filesystem(self.path)
                return cast("BinaryIO", system.open_input_file(f"{root}/{name}"))
            return open(os.path.join(self.place, name), "rb")


def prepared_target(path: str, *, overwrite: bool, is_file: bool = False) -> Target:
    """Return a target for parts of the directory *path*, or of a file that they are joined to.

    Raises:
        UsageError: the target exists, and is not to be replaced or has other files in it.
        OutputError: nothing can be written there.
    """
    run = os.urandom(4).hex()
    path = path.rstrip("/") or "/"
    if is_remote(path):
        if is_file:
            _refuse_file(path, is_there=sizes_of([path]) != [None], overwrite=overwrite)
            path = f"{path}.{run}.parts"
        system, root = filesystem(path)
        with write_errors(path):
            _refuse(path, _remote_names(path), overwrite=overwrite)
            system.create_dir(root, recursive=True)
        return Target(path, path, run, overwrite)
    with write_errors(path):
        if is_file:
            _refuse_file(path, is_there=os.path.lexists(path), overwrite=overwrite)
        else:
            names = os.listdir(path) if os.path.exists(path) else None
            _refuse(path, names, overwrite=overwrite)
            if os.path.islink(path):  # its target is written, on that disk
                path = os.path.realpath(path)
    parent, name = os.path.split(os.path.abspath(path))
    place = os.path.join(parent, f".{name[:50]}.{run}.tmp")
    with write_errors(path):
        os.mkdir(place)
    return Target(path, place, run, overwrite)


def _refuse_file(path: str, *, is_there: bool, overwrite: bool) -> None:
    if is_there and not overwrite:
        raise UsageError(f"{path} exists", hint="--overwrite replaces it")


def _refuse(path: str, names: list[str] | None, *, overwrite: bool) -> None:
    """Refuse a directory with *names* in it, unless it may be replaced."""
    if names is None:
        return
    if not overwrite:
        raise UsageError(f"{path} exists", hint="--overwrite replaces an earlier output")
    for name in names:
        if not _DUMP_FILES.fullmatch(name):
            raise UsageError(f"{path} is not replaced: {name} in it comes from no dump")


def commit(target: Target, names: Iterable[tuple[str, str]], form: str) -> None:
    """Keep the parts, given by present and final names, and nothing else.

    Raises:
        UsageError: see `finish`.
        OutputError: the directory cannot be completed.
    """
    kept = list(names)
    with write_errors(target.path):
        if target.is_remote:
            _commit_remote(target, [written for written, _ in kept], form)
            return
        for written, final in kept:
            os.rename(os.path.join(target.place, written), os.path.join(target.place, final))
        finals = {final for _, final in kept}
        for name in os.listdir(target.place):
            if name not in finals:
                os.unlink(os.path.join(target.place, name))
    finish(target)


def finish(target: Target) -> None:
    """Move a local directory to its final place, as it is.

    Raises:
        UsageError: something has appeared there since, and is not to be replaced.
        OutputError: it cannot be moved.
    """
    old = f"{target.place}.old"
    with write_errors(target.path):
        sync_directory(target.place)
        if os.path.lexists(target.path):
            _refuse(target.path, os.listdir(target.path), overwrite=target.overwrite)
            os.rename(target.path, old)
        os.rename(target.place, target.path)
        sync_directory(os.path.dirname(os.path.abspath(target.path)))
    shutil.rmtree(old, ignore_errors=True)


def _commit_remote(target: Target, names: list[str], form: str) -> None:
    system, root = filesystem(target.path)
    listing = json.dumps({"format": form, "run": target.run, "parts": names}, indent=1)
    with system.open_output_stream(f"{root}/{SUCCESS}") as stream:
        stream.write(listing.encode())
    _clear(target, {*names, SUCCESS}.__contains__)


def abandon(target: Target) -> None:
    """Delete everything that was written."""
    if not target.is_remote:
        gone = f"{target.place}.gone"  # so that running tasks create no more files in it
        with suppress(OSError):
            os.rename(target.place, gone)
        shutil.rmtree(gone, ignore_errors=True)
        return
    with suppress(*store_errors()):
        _clear(target, lambda name: f"-{target.run}-" not in name)


def _clear(target: Target, is_kept: Callable[[str], bool]) -> None:
    """Delete the files in a store that are not to be kept, and directories without files."""
    from pyarrow.fs import FileSelector, FileType

    system, root = filesystem(target.path)
    entries = system.get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
    files = [entry.path[len(root) + 1 :] for entry in entries if entry.type is FileType.File]
    folders = {entry.path[len(root) + 1 :] for entry in entries if entry.type is FileType.Directory}
    folders = {name for name in folders if "/" not in name}
    kept = set(filter(is_kept, files))
    used = {name.partition("/")[0] for name in kept if "/" in name}
    for name in files:
        folder, slash, _ = name.partition("/")
        if name not in kept and (not slash or folder in used):
            system.delete_file(f"{root}/{name}")
    for folder in folders - used:
        system.delete_dir(f"{root}/{folder}")
    if entries and not kept:
        system.delete_dir(root)


def _remote_names(path: str) -> list[str] | None:
    """Return the names of the files in a directory of a store; None where there are none."""
    from pyarrow.fs import FileSelector

    system, root = filesystem(path)
    entries = system.get_file_info(FileSelector(root, allow_not_found=True))
    return [entry.base_name for entry in entries] or None


@contextmanager
def write_errors(path: str) -> Iterator[None]:
    """Turn errors of the system into errors that name the target.

    Raises:
        OutputError: there was an error.
    """
    errors = store_errors() if is_remote(path) else (OSError,)
    try:
        yield
    except errors as error:
        strerror = getattr(error, "strerror", None)
        reason = strerror or (str(error).splitlines() or [type(error).__name__])[0]
        raise OutputError(f"cannot write {path}: {reason}") from error
