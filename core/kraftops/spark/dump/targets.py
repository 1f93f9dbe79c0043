"""Targets of parts: a local directory, written whole or not at all, or an object store.

Workers write each attempt at a part under a name of its own, in a hidden directory beside the
target; only the attempts that the driver receives count. Locally they are renamed and the directory
appears with them. An object store cannot rename: after the last task it copies them to their final
names, one by one, and the file `_SUCCESS` comes last. Uploads that are completed only then would
need no copy, but pyarrow does not give them out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from kraftops.errors import UsageError
from kraftops.fileio.atomic import temporary_file
from kraftops.fileio.directories import sync_directory
from kraftops.fileio.output import PLAIN, ExistsError, OutputError, OutputFlags
from kraftops.log.remote import filesystem, list_directory, sizes_of, store_errors
from kraftops.parallel.ordered import run_ordered
from kraftops.uris import is_remote

SUCCESS = "_SUCCESS"
ENDINGS = {
    "text": ".txt",
    "json": ".json",
    "csv": ".csv",
    "csv-safe": ".csv",
    "parquet": ".parquet",
}
_DUMP_FILES = re.compile(r"part-.*|\.part-.*\.crc|_SUCCESS|\._SUCCESS\.crc|\w+=.*")
"""Names in a directory that a dump may have written."""
_UNFINISHED = ".tmp"
"""Ending of files in a store that no pattern for data matches."""
_HDFS = "hdfs"
_MOST_COPIED = {"s3": 5 << 30, "abfs": 256 << 20}
"""Bytes that a request to copy takes, by the type of a file system."""
_COPIES = 16
_BLOCK = 8 << 20


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
        return f"{part}-{self.run}-{attempt}{ending}{_UNFINISHED if self.is_remote else ''}"

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Open a file for writing; it is whole if the block ends without an error.

        Raises:
            OutputError: it cannot be written.
        """
        with write_errors(self.path):
            if self.is_remote:
                system, root = filesystem(self.place)
                if "/" in name and system.type_name == _HDFS:  # object stores have no directories
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
                system, root = filesystem(self.place)
                return cast("BinaryIO", system.open_input_file(f"{root}/{name}"))
            return open(os.path.join(self.place, name), "rb")


def prepared_target(path: str, flags: OutputFlags = PLAIN, *, is_file: bool = False) -> Target:
    """Return a target for parts of the directory *path*, or of a file that they are joined to.

    Raises:
        ExistsError: the target exists, and is not to be replaced.
        UsageError: it has other files in it than those of a dump.
        OutputError: nothing can be written there.
    """
    run = os.urandom(4).hex()
    path = path.rstrip("/") or "/"
    if is_remote(path):
        return _remote_target(path, run, overwrite=flags.overwrite, is_file=is_file)
    with write_errors(path):
        if is_file:
            _refuse_file(path, is_there=os.path.lexists(path), overwrite=flags.overwrite)
        else:
            is_link = os.path.islink(path)
            names = os.listdir(path) if os.path.exists(path) else [] if is_link else None
            _refuse(path, names, overwrite=flags.overwrite)
            if is_link:  # its target is written, on that disk
                path = os.path.realpath(path)
    parent, name = os.path.split(os.path.abspath(path))
    place = os.path.join(parent, f".{name[:50]}.{run}.tmp")
    with write_errors(path):
        os.mkdir(place, 0o700 if flags.is_private else 0o777)
    return Target(path, place, run, flags.overwrite)


def _remote_target(path: str, run: str, *, overwrite: bool, is_file: bool) -> Target:
    parent, _, name = path.rpartition("/")
    if parent.endswith("/"):
        raise UsageError(f"{path} is a whole bucket", hint=f"as {path}/log")
    place = f"{parent}/_{name[:50]}.{run}{_UNFINISHED}"
    system, root = filesystem(place)
    with write_errors(path):
        if is_file:
            _refuse_file(path, is_there=sizes_of([path]) != [None], overwrite=overwrite)
        else:
            _refuse(path, _remote_names(path), overwrite=overwrite)
        system.create_dir(root, recursive=True)
    return Target(path, place, run, overwrite)


def _refuse_file(path: str, *, is_there: bool, overwrite: bool) -> None:
    if is_there and not overwrite:
        raise ExistsError(path)


def _refuse(path: str, names: list[str] | None, *, overwrite: bool) -> None:
    """Refuse a directory with *names* in it, unless it may be replaced."""
    if names is None:
        return
    if not overwrite:
        raise ExistsError(path)
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
            _publish(target, kept, form)
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


def publish_file(target: Target, name: str) -> None:
    """Give a file of a store, which is written, its final name: the target's own.

    Raises:
        OutputError: the store refuses it.
    """
    with write_errors(target.path):
        sizes = _sizes(target.place)
        _copy(f"{target.place}/{name}", target.path, sizes[name])


def _publish(target: Target, names: Sequence[tuple[str, str]], form: str) -> None:
    """Give the files of a store their final names, and delete what else was written.

    An earlier output is gone before the first of them is there. Each is whole or absent, and
    `_SUCCESS`, which lists them, comes last.

    Raises:
        UsageError: something has appeared there since, and is not to be replaced.
    """
    there = _remote_names(target.path)
    _refuse(target.path, there, overwrite=target.overwrite)
    system, root = filesystem(target.path)
    if there:
        system.delete_dir_contents(root)
    sizes = _sizes(target.place)

    def produce(names: tuple[str, str], _: Callable[[None], None]) -> Iterator[bytes]:
        written, final = names
        _copy(f"{target.place}/{written}", f"{target.path}/{final}", sizes[written])
        yield from ()

    try:
        run_ordered(names, lambda: nullcontext(produce), -1, _COPIES, lambda _: None)
        finals = [final for _, final in names]
        listing = json.dumps({"format": form, "run": target.run, "parts": finals}, indent=1)
        with system.open_output_stream(f"{root}/{SUCCESS}") as stream:
            stream.write(listing.encode())
    except BaseException:
        for _, final in names:
            with suppress(*store_errors()):
                system.delete_file(f"{root}/{final}")
        raise
    abandon(target)


def _sizes(place: str) -> dict[str, int]:
    """Return the files that were written, with their bytes."""
    entries = list_directory(place, recursive=True) or ()
    return {one.uri[len(place) + 1 :]: one.size for one in entries if one.size is not None}


def _copy(written: str, final: str, size: int) -> None:
    """Have the store copy a file, which is whole or absent; HDFS renames it.

    What is too large for the store's own copy passes through this process.
    """
    system, source = filesystem(written)
    _, path = filesystem(final)
    if system.type_name == _HDFS:
        system.create_dir(path.rpartition("/")[0], recursive=True)
        with suppress(FileNotFoundError):
            system.delete_file(path)
        system.move(source, path)
    elif size <= _MOST_COPIED.get(system.type_name, size):
        system.copy_file(source, path)
    else:
        with system.open_input_stream(source) as stream, system.open_output_stream(path) as out:
            shutil.copyfileobj(stream, out, _BLOCK)


def abandon(target: Target) -> None:
    """Delete everything that was written to *place*."""
    if not target.is_remote:
        gone = f"{target.place}.gone"  # so that running tasks create no more files in it
        with suppress(OSError):
            os.rename(target.place, gone)
        shutil.rmtree(gone, ignore_errors=True)
        return
    system, root = filesystem(target.place)
    with suppress(*store_errors()):
        system.delete_dir(root)


def _remote_names(path: str) -> list[str] | None:
    """Return the names of the files in a directory of a store; None where there are none."""
    return [entry.name for entry in list_directory(path) or ()] or None


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
