"""The classes of records, which are stubs: types that only mypy and tests read."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import kraftops.records

STUBS = ("control_types", "metadata_types", "kip_631_types")  # each after those that it imports


def record_types(name: str) -> ModuleType:
    """Return a stub as a module."""
    for stub in STUBS:
        module = f"kraftops.records.{stub}"
        if module not in sys.modules:
            path = Path(kraftops.records.__file__ or "").with_name(f"{stub}.pyi")
            spec = spec_from_loader(module, SourceFileLoader(module, str(path)))
            assert spec
            assert spec.loader
            sys.modules[module] = module_from_spec(spec)
            spec.loader.exec_module(sys.modules[module])
    return sys.modules[f"kraftops.records.{name}"]
