"""What the workers of a cluster need of us: our code travels, the wheels it stands on do not.

The compiled engine travels beside the code, for workers like this machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from kraftops.errors import KraftopsError
from kraftops.spark.session import shipped_native

if TYPE_CHECKING:
    from pyspark import Accumulator

T = TypeVar("T")
R = TypeVar("R")
_PACKAGES = ("kraftops", "kraftops_shell", "kraftops_cli")  # the last two, where they are there
MODULES = ("google_crc32c", "cramjam", "pyarrow") + (
    () if sys.version_info >= (3, 14) else ("backports.zstd",)
)
"""What a worker must have."""


class MissingModuleError(KraftopsError):
    """A worker lacks a module; the message names both."""


class Sent(NamedTuple):
    """Paths of files for the workers: a zip file with our code, and the compiled engine, if any."""

    archive: str
    engine: str | None


class UnionParam:
    """Has an accumulator of Spark's gather frozen sets."""

    def zero(self, value: frozenset[str]) -> frozenset[str]:
        """Return what adds nothing."""
        del value
        return frozenset()

    def addInPlace(self, one: frozenset[str], other: frozenset[str]) -> frozenset[str]:  # noqa: N802
        """Return what is in either."""
        return one | other


@contextmanager
def packed() -> Iterator[Sent]:
    """Give our code, and the engine if it is the compiled one, as they are installed here."""
    from importlib.util import find_spec
    from pathlib import Path
    from shutil import copyfile
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
            engine = _extension()
            if engine is not None:
                archive.write(
                    shipped_native.__file__, f"{shipped_native.NAME.replace('.', '/')}.py"
                )
        sent = None if engine is None else os.path.join(directory, shipped_native.sent_name(engine))
        if engine is not None and sent is not None:
            copyfile(engine, sent)
        yield Sent(path, sent)


def _extension() -> str | None:
    """Return the path of the compiled engine, if that is the one that is used here."""
    from importlib.util import find_spec

    from kraftops.engine.choice import engine_name

    found = find_spec(shipped_native.NAME) if engine_name() == "native" else None
    return found.origin if found else None


def _here() -> str:
    with suppress(OSError):
        return os.getcwd()
    return "/"


@dataclass(frozen=True, slots=True)
class ShippedWork(Generic[T, R]):
    """Does *work*, in a worker that has what it takes, where paths mean what they mean here.

    *slow* gathers which workers have not the compiled engine that was sent to them, and why.
    """

    work: Callable[[Iterable[T]], Iterable[R]]
    slow: Accumulator[frozenset[str]] | None = None
    directory: str = field(default_factory=_here)

    def __call__(self, things: Iterable[T]) -> Iterator[R]:
        """Yield what the work makes.

        Raises:
            MissingModuleError: a module is missing here.
        """
        for name in MODULES:
            try:
                import_module(name)
            except ImportError:
                from socket import gethostname

                raise MissingModuleError(missing_module_text(name, gethostname())) from None
        with _inside(self.directory):
            if self.slow is not None:
                _report_slow(self.slow)
            yield from self.work(things)


def _report_slow(slow: Accumulator[frozenset[str]]) -> None:
    from socket import gethostname

    from kraftops.engine.choice import why_not_native  # not before it is known that it can be

    reason = why_not_native()
    if reason is not None:
        slow.add(frozenset({f"{gethostname()}: {reason}"}))


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


def missing_module_text(module: str, host: str = "") -> str:
    """Return what to say of a worker that lacks a module."""
    wheel = module.partition(".")[0] if module != "backports.zstd" else module
    place = f" on {host}" if host else ""
    return f"a worker{place} has no {module}: pip install {wheel.replace('_', '-')} there"
