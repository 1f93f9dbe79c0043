"""Load the compiled engine in workers, where Python code is an archive without extensions.

`shipping` packs this module into the archive as `kraftops.engine._native`, and sends the extension
beside it. When it is imported there, it replaces itself by the extension.
"""

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from sysconfig import get_platform
from types import ModuleType

NAME = "kraftops.engine._native"


def sent_name(stem: str, extension: str) -> str:
    suffix = os.path.basename(extension).removeprefix(NAME.rpartition(".")[2])
    return f"{stem}-{get_platform()}{suffix}"


def loaded(archive: str) -> ModuleType:
    """Return the extension beside an archive.

    Raises:
        ImportError: there is none for this platform and Python, or it cannot be loaded here.
    """
    stem = os.path.splitext(os.path.abspath(archive))[0]
    for suffix in EXTENSION_SUFFIXES:  # a Python without the stable ABI has no `.abi3.so`
        path = f"{stem}-{get_platform()}{suffix}"
        if os.path.exists(path):
            loader = ExtensionFileLoader(NAME, path)
            spec = spec_from_loader(NAME, loader)
            assert spec is not None
            try:
                module = module_from_spec(spec)
            except ImportError as error:  # the user did not name this path
                raise ImportError(str(error).removeprefix(f"{path}: "), name=NAME) from None
            loader.exec_module(module)
            return module
    raise ImportError(f"none was sent for {get_platform()} and this Python", name=NAME)


if __name__ == NAME:
    sys.modules[NAME] = loaded(__spec__.loader.archive)  # type: ignore[union-attr]
