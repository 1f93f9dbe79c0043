"""Metadata logs in tar archives, unpacked for as long as they are looked at."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from kraftops.recovery.refusal import NotThere, Refused
from kraftops.storage.logdirs.directories import METADATA_PARTITION
from kraftops.storage.logdirs.meta_properties import FILE_NAME as META_FILE

_ROOM = 0.9  # of what the scratch directory has free


@contextmanager
def unpacked(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the directories that names stand for; archives are unpacked until the end.

    Raises:
        NotThere: there is no such file or directory.
        Refused: it is no archive, or one without a metadata log.
    """
    with ExitStack() as stack:
        yield [name if os.path.isdir(name) else _unpacked(name, stack) for name in names]


def _unpacked(name: str, stack: ExitStack) -> str:
    import tempfile

    if not os.path.lexists(name):
        raise NotThere("not-there", f"{name} does not exist")
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kraftops-"))
    space = os.statvfs(scratch)
    room = int(space.f_bavail * space.f_frsize * _ROOM)
    try:
        with tarfile.open(name) as archive:
            for member in archive:
                path = _place(member)
                if path is None:
                    continue
                room -= member.size
                if room < 0:
                    raise Refused("no-room", f"{scratch} has no room for what is in {name}")
                member.name = path
                archive.extract(member, scratch, set_attrs=False, filter="data")
    except (tarfile.TarError, EOFError) as error:
        raise Refused("no-archive", f"cannot read {name}: {error}") from None
    except OSError as error:
        raise Refused("unreadable", f"cannot read {name}: {error.strerror or error}") from None
    if not os.path.isdir(os.path.join(scratch, METADATA_PARTITION)):
        raise Refused("no-log", f"{name} holds no metadata log", "name an archive that does")
    return scratch


def _place(member: tarfile.TarInfo) -> str | None:
    """Return where a file of an archive goes; None if it is of no metadata log."""
    folder, name = os.path.split(member.name)
    if not member.isfile():
        return None
    if os.path.basename(folder) == METADATA_PARTITION:
        return os.path.join(METADATA_PARTITION, name)
    return META_FILE if name == META_FILE else None
