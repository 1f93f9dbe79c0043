"""What the workers of a cluster need of us: our code travels, the wheels it stands on do not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Generic, TypeVar

from kraftops.errors import KraftopsError

T = TypeVar("T")
R = TypeVar("R")
_PACKAGES = ("kraftops", "kraftops_shell", "kraftops_cli")  # the last two, where they are there
MODULES = ("google_crc32c", "cramjam", "pyarrow") + (
    () if sys.version_info >= (3, 14) else ("backports.zstd",)
)
"""What a worker must have."""


class LacksModuleError(KraftopsError):
    """A worker lacks a module; the message names both."""


@contextmanager
def packed() -> Iterator[str]:
    """Give the path of a zip file with our code, as it is installed here."""
    from importlib.util import find_spec
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from zipfile import ZIP_DEFLATED, ZipFile

    with TemporaryDirectory() as directory:
        path = os.path.join(directory, f"{_PACKAGES[0]}.zip")
        with ZipFile(path, "w", ZIP_DEFLATED) as archive:
            for package in _PACKAGES:
                found = find_spec(package)
                for place in (found.submodule_search_locations or ()) if found else ():
                    for source in sorted(Path(place).rglob("*.py")):
                        archive.write(source, f"{package}/{source.relative_to(place)}")
        yield path


@dataclass(frozen=True, slots=True)
class Equipped(Generic[T, R]):
    """Does *work*, in a worker that has what it takes."""

    work: Callable[[Iterable[T]], Iterable[R]]

    def __call__(self, things: Iterable[T]) -> Iterable[R]:
        """Return what the work makes.

        Raises:
            LacksModuleError: a module is missing here.
        """
        for name in MODULES:
            try:
                import_module(name)
            except ImportError:
                from socket import gethostname

                raise LacksModuleError(lack_text(name, gethostname())) from None
        return self.work(things)


def lack_text(module: str, host: str = "") -> str:
    """Return what to say of a worker that lacks a module."""
    wheel = module.partition(".")[0] if module != "backports.zstd" else module
    place = f" on {host}" if host else ""
    return f"a worker{place} has no {module}: pip install {wheel.replace('_', '-')} there"
