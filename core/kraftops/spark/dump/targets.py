"""Targets of parts: a local directory, written whole or not at all, or an object store.

Workers write each attempt at a part under a name of its own, in a hidden directory beside the
target; only the attempts that the driver receives count. Locally they are renamed and the directory
appears with them. An object store cannot rename: after the last task it copies them to their final
names, one by one, and the file `_SUCCESS` comes last. Uploads that are completed only then would
need no copy, but pyarrow does not give them out.

An error leaves what was there, or its message says what else. A process that is killed leaves the
earlier output, the new one, or neither: in a store, parts of one of them without `_SUCCESS`.
"""

import json
import os
import re
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from kraftops.errors import UsageError
from kraftops.fileio.atomic import temporary_file
from kraftops.fileio.directories import sync_directory
from kraftops.fileio.output import PLAIN, ExistsError, OutputError, OutputFlags
from kraftops.log.remote import filesystem, list_directory, sizes_of, store_errors
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
_COPIES = 16  # requests at a time: a copy inside a store is mostly waiting
_BLOCK = 8 << 20  # a part of an upload; S3 takes none below 5 MiB


def part_name(number: int, splits: int = 1) -> str:
    """Return the name of one of the parts, without its ending; names sort as their numbers do."""
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
        elif os.path.lexists(path):
            _refuse_directory(path, overwrite=flags.overwrite)
    parent, name = os.path.split(os.path.abspath(path))
    place = os.path.join(parent, f".{name[:50]}.{run}.tmp")
    with write_errors(path):
        os.mkdir(place, 0o700 if flags.is_private else 0o777)
    return Target(path, place, run, flags.overwrite)


def _remote_target(path: str, run: str, *, overwrite: bool, is_file: bool) -> Target:
    parent, _, name = path.rpartition("/")
    if parent.endswith("/"):
        raise UsageError(f"{path} is a whole bucket", hint=f"as {path}/log")
    # Spark reads directories in `_` whose names begin with `_metadata` or have a `=`, in `.` none.
    place = f"{parent}/.{name[:50]}.{run}{_UNFINISHED}"
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


def _refuse_directory(path: str, *, overwrite: bool) -> None:
    """Refuse a local directory, unless it may be replaced; a symbolic link is not followed."""
    if overwrite and os.path.islink(path):
        hint = f"name the directory itself: {os.path.realpath(path)}"
        raise OutputError(f"cannot write {path}: it is a symbolic link", hint)
    is_looked_into = overwrite or os.path.isfile(path)  # a file is not a directory, replaced or not
    _refuse(path, os.listdir(path) if is_looked_into else [], overwrite=overwrite)


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
        OutputError: it cannot be moved, or the earlier output not be deleted.
    """
    path, old = target.path, f"{target.place}.old"
    with write_errors(path):
        sync_directory(target.place)
        is_there = os.path.lexists(path)
        if is_there:
            _refuse_directory(path, overwrite=target.overwrite)
        try:
            if is_there:
                os.rename(path, old)
            os.rename(target.place, path)
        except BaseException as error:
            if os.path.lexists(target.place):
                _put_back(old, path, error)
                raise
            if not isinstance(error, OSError):  # a network's file system may fail when it is done
                raise
    try:
        sync_directory(os.path.dirname(os.path.abspath(path)))
    except OSError as error:
        text = f"{path} is written, but its directory cannot be synced: {error.strerror}"
        raise OutputError(text, "a power cut could still lose it") from error
    finally:
        if is_there:
            _delete_earlier(old, path)


def _put_back(old: str, path: str, error: BaseException) -> None:
    """Give an earlier output, if it was moved, its name again after an error.

    Raises:
        OutputError: it cannot be done.
    """
    with suppress(OSError):
        os.rename(old, path)
    if os.path.lexists(old):
        text = f"cannot write {path}: {_reason(error)}; the earlier output is now {old}"
        raise OutputError(text) from error


def _delete_earlier(old: str, path: str) -> None:
    try:
        shutil.rmtree(old)
    except OSError as error:
        text = f"{path} is written, but the earlier output cannot be deleted: {error.strerror}"
        raise OutputError(text, f"what is left of it is {old}") from error


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
    sizes = _sizes(target.place)
    for written, _ in names:
        if written not in sizes:
            raise OutputError(f"cannot write {target.path}: {target.place}/{written} is gone")
    state = ""
    if there:
        state = "; the earlier output is deleted"
        with write_errors(target.path, "; the earlier output may be deleted, or a part of it"):
            if SUCCESS in there:  # first: it says that the others are there
                system.delete_file(f"{root}/{SUCCESS}")
            system.delete_dir_contents(root)

    def copy(names: tuple[str, str]) -> None:
        written, final = names
        _copy(f"{target.place}/{written}", f"{target.path}/{final}", sizes[written])

    finals = [final for _, final in names]
    try:
        with ThreadPoolExecutor(_COPIES) as pool:  # no copy is under way after it
            deque(pool.map(copy, names), 0)
        listing = json.dumps({"format": form, "run": target.run, "parts": finals}, indent=1)
        with system.open_output_stream(f"{root}/{SUCCESS}") as stream:
            stream.write(listing.encode())
    except BaseException as error:
        if not _taken_back(target, finals):
            state += "; parts of the new one are there, perhaps all: --overwrite replaces them"
        if isinstance(error, store_errors()):
            raise OutputError(f"cannot write {target.path}: {_reason(error)}{state}") from error
        raise
    abandon(target)


def _taken_back(target: Target, finals: Iterable[str]) -> bool:
    """Delete new parts, but none that `_SUCCESS` may name; tell whether all are gone."""
    system, root = filesystem(target.path)
    try:
        with suppress(FileNotFoundError):
            system.delete_file(f"{root}/{SUCCESS}")
        for final in finals:
            with suppress(FileNotFoundError):
                system.delete_file(f"{root}/{final}")
    except store_errors():
        return False
    return True


def _sizes(place: str) -> dict[str, int]:
    """Return the sizes in bytes of the files written, by their paths below *place*."""
    entries = list_directory(place, recursive=True) or ()
    return {file.uri[len(place) + 1 :]: file.size for file in entries if file.size is not None}


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
        try:
            with system.open_input_stream(source) as stream, system.open_output_stream(path) as out:
                shutil.copyfileobj(stream, out, _BLOCK)
        except BaseException:  # the end of the block has completed what was written
            with suppress(*store_errors()):
                system.delete_file(path)
            raise


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
def write_errors(path: str, state: str = "") -> Iterator[None]:
    """Turn errors of the system into errors that name the target, and say what they leave.

    Raises:
        OutputError: there was an error.
    """
    errors = store_errors() if is_remote(path) else (OSError,)
    try:
        yield
    except errors as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}{state}") from error


def _reason(error: BaseException) -> str:
    strerror = getattr(error, "strerror", None)
    return strerror or (str(error).splitlines() or [type(error).__name__])[0]
