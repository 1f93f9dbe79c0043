"""Tables that are text files of this package."""

import os
from typing import Any


def packaged_text(module: str, name: str) -> str:
    """Return the text of the file *name* beside a module, by the module's `__file__`."""
    loader: Any = __spec__.loader  # Spark's workers import an archive, which has no files
    text: bytes = loader.get_data(os.path.join(os.path.dirname(module), name))
    return text.decode()
