"""Comments of the compiled engine name Python modules and classes that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

CRATE = Path(__file__).parents[3] / "core" / "native"
SOURCES = sorted([*(CRATE / "src").rglob("*.rs"), *(CRATE / "fuzz").glob("fuzz_targets/*.rs")])
NAME = re.compile(r"`((?:kraftops|tests)\.[\w.]+\w)`")


def exists(name: str) -> bool:
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        except ImportError:  # a module of the compiled engine, which is not built
            return True
        for part in parts[size:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_crate_is_there() -> None:
    assert len(SOURCES) > 30
    assert not exists("kraftops.engine.fold_contract.Nothing")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CRATE)))
def test_names_in_comments_exist(path: Path) -> None:
    names = set(NAME.findall(path.read_text("utf-8")))

    assert [name for name in sorted(names) if not exists(name)] == []
