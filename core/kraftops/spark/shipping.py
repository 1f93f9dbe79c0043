"""What the workers of a cluster need of us: our code travels, the wheels it stands on do not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
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


def _here() -> str:
    with suppress(OSError):
        return os.getcwd()
    return "/"


@dataclass(frozen=True, slots=True)
class Equipped(Generic[T, R]):
    """Does *work*, in a worker that has what it takes, where paths mean what they mean here."""

    work: Callable[[Iterable[T]], Iterable[R]]
    directory: str = field(default_factory=_here)

    def __call__(self, things: Iterable[T]) -> Iterator[R]:
        """Yield what the work makes.

        Raises:
            LacksModuleError: a module is missing here.
        """
        for name in MODULES:
            try:
                import_module(name)
            except ImportError:
                from socket import gethostname

                raise LacksModuleError(lack_text(name, gethostname())) from None
        with _inside(self.directory):
            yield from self.work(things)


@contextmanager
def _inside(directory: str) -> Iterator[None]:
    """Be in a directory meanwhile, if it is there: it may be of one machine, and paths absolute."""
    home = os.getcwd()
    for name in _PACKAGES:  # Spark's way to our code is relative
        with suppress(ImportError):
            import_module(name)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _PACKAGES and hasattr(module, "__path__"):
            module.__path__ = [os.path.abspath(place) for place in module.__path__]
    with suppress(OSError):
        os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(home)


def lack_text(module: str, host: str = "") -> str:
    """Return what to say of a worker that lacks a module."""
    wheel = module.partition(".")[0] if module != "backports.zstd" else module
    place = f" on {host}" if host else ""
    return f"a worker{place} has no {module}: pip install {wheel.replace('_', '-')} there"
