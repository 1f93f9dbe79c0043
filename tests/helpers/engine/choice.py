"""Choose the engine that a test uses."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "KRAFTOPS_ENGINE"


@contextmanager
def using(name: str) -> Iterator[None]:
    """Use the engine of this name meanwhile."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
