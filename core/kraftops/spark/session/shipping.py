"""Ship our code to the workers of a cluster, and check that they have the packages it needs.

The compiled engine is sent with the code, for workers on the same platform.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Generic, NamedTuple, TypeVar

from kraftops.errors import KraftopsError
from kraftops.spark.session import shipped_native

T = TypeVar("T")
R = TypeVar("R")
_PACKAGES = ("kraftops", "kraftops_terminal", "kraftops_shell", "kraftops_cli")
"""Our packages; the last three if installed."""
_SHIPPED = (".py", ".toml", ".txt")  # with the catalogue of findings, and tables of messages
MODULES = ("google_crc32c", "cramjam", "pyarrow") + (
    () if sys.version_info >= (3, 14) else ("backports.zstd",)
)
"""Packages that a worker must have."""


class MissingModuleError(KraftopsError):
    """Modules are missing on a worker; the message names them and the worker."""


class ShippedFiles(NamedTuple):
    """Files for the workers: a zip file with our code, and the compiled engine or None."""

    archive: str
    engine: str | None


@contextmanager
def packed() -> Iterator[ShippedFiles]:
    """Make files of our code, and of the compiled engine if it is in use, as installed here."""
    from importlib.util import find_spec
    from pathlib import Path
    from shutil import copyfile
    from tempfile import TemporaryDirectory
    from zipfile import ZIP_DEFLATED, ZipFile

    with TemporaryDirectory() as directory:
        path = os.path.join(directory, "code")
        with ZipFile(path, "w", ZIP_DEFLATED) as archive:
            for package in _PACKAGES:
                spec = find_spec(package)
                for place in (spec.submodule_search_locations or ()) if spec else ():
                    for source in sorted(Path(place).rglob("*")):
                        if source.suffix in _SHIPPED:
                            archive.write(source, f"{package}/{source.relative_to(place)}")
            engine = _extension()
            if engine is not None:
                archive.write(
                    shipped_native.__file__, f"{shipped_native.NAME.replace('.', '/')}.py"
                )
        stem = f"{_PACKAGES[0]}-{_digest(path, engine)}"
        archive_path = os.path.join(directory, f"{stem}.zip")
        os.rename(path, archive_path)
        sent = None
        if engine is not None:
            sent = os.path.join(directory, shipped_native.sent_name(stem, engine))
            copyfile(engine, sent)
        yield ShippedFiles(archive_path, sent)


def _digest(*paths: str | None) -> str:
    """Return a digest of files; Spark Connect never replaces a file of the same name."""
    from hashlib import sha256

    digest = sha256()
    for path in filter(None, paths):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]


def _extension() -> str | None:
    """Return the path of the compiled engine, or None if it is not in use here."""
    from importlib.util import find_spec

    from kraftops.engine.choice import engine_name

    spec = find_spec(shipped_native.NAME) if engine_name() == "native" else None
    return spec.origin if spec else None


def _here() -> str:
    with suppress(OSError):
        return os.getcwd()
    return "/"


@dataclass(frozen=True, slots=True)
class ShippedWork(Generic[T, R]):
    """Work in a checked worker, in the directory of the driver, so that relative paths hold."""

    work: Callable[[Iterable[T]], Iterable[R]]
    directory: str = field(default_factory=_here)

    def __call__(self, things: Iterable[T]) -> Iterator[R]:
        """Yield the results of the work.

        Raises:
            MissingModuleError: modules are missing.
        """
        missing = _missing_modules()
        if missing is not None:
            raise MissingModuleError(missing)
        with _inside(self.directory):
            yield from self.work(things)


def worker_state(_: object) -> str:
    """Return, in a worker, the text about missing modules, and why it is slow, as JSON."""
    missing = _missing_modules()
    if missing is not None:
        return json.dumps([missing, None])
    from socket import gethostname

    from kraftops.engine.choice import why_not_native  # after the check of its packages

    with _inside(_here()):
        reason = why_not_native()
    return json.dumps([None, reason and f"{gethostname()}: {reason}"])


def _missing_modules() -> str | None:
    missing = []
    for name in MODULES:
        try:
            import_module(name)
        except ImportError:
            missing.append(name)
    if not missing:
        return None
    from socket import gethostname

    return missing_text(missing, gethostname())


@contextmanager
def _inside(directory: str) -> Iterator[None]:
    """Change to a directory for a while, if it exists on this machine."""
    home = os.getcwd()
    for name in _PACKAGES:  # Spark has relative paths to our code
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


def missing_text(modules: Sequence[str], host: str = "") -> str:
    tops = (name if name == "backports.zstd" else name.partition(".")[0] for name in modules)
    wheels = " ".join(name.replace("_", "-") for name in tops)
    place = f" on {host}" if host else ""
    return f"a worker{place} has no {', '.join(modules)}: pip install {wheels} there"
