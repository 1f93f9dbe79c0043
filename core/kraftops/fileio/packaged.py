"""Tables that are text files of this package."""

import os
import re
from typing import Any


def packaged_text(module: str, name: str) -> str:
    """Return the text of the file *name* beside a module, by the module's `__file__`."""
    loader: Any = __spec__.loader  # Spark's workers import an archive, which has no files
    text: bytes = loader.get_data(os.path.join(os.path.dirname(module), name))
    return text.decode()


def packaged_parts(module: str, name: str, mark: str) -> dict[str, str]:
    """Return the parts of such a file by title; each begins with a line of *mark* and title.

    What comes before them has an empty title.
    """
    text = f"\n{packaged_text(module, name)}"
    parts = re.split(f"^{re.escape(mark)}", text, flags=re.MULTILINE)
    return {title: body for title, _, body in (part.partition("\n") for part in parts)}
