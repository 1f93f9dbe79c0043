"""Read what KRaft Kafka writes: segments, snapshots, indexes, and the records in them.

`scan` gives the records of any log as rows. `load` replays a metadata log into an image, which
`tree_of` shows as a filesystem. `changes` and `incidents` tell what happened, `check`, `verify` and
`doctor` what is wrong, and `cluster` is a running one. Every error is a `KraftopsError`.

>>> import kraftops
>>> image = kraftops.load("tests/data/dump-4.3.1/in/meta")
>>> topics = kraftops.tree_of(image)["image"]["topics"]["byName"]
>>> "a.zstd" in topics, topics["a.zstd"]["0"].data["leader"]
(True, -1)

A public name is imported when it is first used. All of them are in `__init__.pyi`; everything else
is internal.
"""

from functools import cache


@cache
def _places() -> dict[str, str]:
    """Map public names to modules, by the imports of `__init__.pyi`, which type checkers read."""
    import re
    from pathlib import Path

    text = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    imports = re.findall(r"^from (\S+) import (\w+) as \2$", text, re.MULTILINE)
    return {name: module for module, name in imports}


def __dir__() -> list[str]:
    return sorted(_places())


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_places())
    if name.startswith("__") or name not in _places():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_places()[name]), name)
    globals()[name] = value
    return value
