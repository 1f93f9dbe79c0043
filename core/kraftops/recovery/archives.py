"""Metadata logs in tar archives, unpacked to temporary directories."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from kraftops.recovery.refusal import NotFound, RecoveryRefused
from kraftops.storage.logdirs.directories import METADATA_PARTITION
from kraftops.storage.logdirs.meta_properties import FILE_NAME as META_FILE

_USABLE = 0.9  # of the free space of the temporary directory


@contextmanager
def unpacked(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield a directory for each name; those of archives are removed at the end.

    Raises:
        NotFound: there is no such file or directory.
        RecoveryRefused: it is no archive, or has no metadata log.
    """
    with ExitStack() as stack:
        yield [name if os.path.isdir(name) else _unpacked(name, stack) for name in names]


def _unpacked(name: str, stack: ExitStack) -> str:
    import tempfile

    if not os.path.lexists(name):
        raise NotFound("not-there", f"{name} does not exist")
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="kraftops-"))
    space = os.statvfs(scratch)
    free = int(space.f_bavail * space.f_frsize * _USABLE)
    try:
        with tarfile.open(name) as archive:
            for member in archive:
                path = _target_path(member)
                if path is None:
                    continue
                free -= member.size
                if free < 0:
                    raise RecoveryRefused("no-room", f"{scratch} has no room for what is in {name}")
                member.name = path
                archive.extract(member, scratch, set_attrs=False, filter="data")
    except (tarfile.TarError, EOFError) as error:
        raise RecoveryRefused("no-archive", f"cannot read {name}: {error}") from None
    except OSError as error:
        raise RecoveryRefused(
            "unreadable", f"cannot read {name}: {error.strerror or error}"
        ) from None
    if not os.path.isdir(os.path.join(scratch, METADATA_PARTITION)):
        raise RecoveryRefused(
            "no-log", f"{name} holds no metadata log", "name an archive that does"
        )
    return scratch


def _target_path(member: tarfile.TarInfo) -> str | None:
    """Return the path to extract a file of an archive to; None if it is of no metadata log."""
    folder, name = os.path.split(member.name)
    if not member.isfile():
        return None
    if os.path.basename(folder) == METADATA_PARTITION:
        return os.path.join(METADATA_PARTITION, name)
    return META_FILE if name == META_FILE else None
