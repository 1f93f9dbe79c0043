"""The manual of a command, from a text beside its module: help, examples, and chapters."""

import os
import re
from collections.abc import Mapping
from typing import Any

from kraftops.fileio.packaged import packaged_parts
from kraftops_cli.syntax.exit_status import exit_status


def manual(
    module: str, name: str = "", *, more: Mapping[str, str] | None = None, **values: str
) -> dict[str, Any]:
    """Return the help, the examples and the other chapters of a command, as `ToolCommand` has them.

    The file has the name of the module, unless it is named. It begins with the help; chapters begin
    with `# TITLE`. An example is a line and below it, indented, the command. The chapter of the
    exit status is about those codes of which there is more to say than of all commands. *more* are
    texts of chapters of which the file has only the titles; *values* take the place of their names
    in braces.
    """
    stem = os.path.splitext(os.path.basename(module))[0]
    texts = packaged_parts(module, name or f"{stem}.txt", "# ")
    texts = {title: text.strip("\n") for title, text in texts.items()} | dict(more or {})
    for word, replacement in values.items():
        texts = {title: text.replace(f"{{{word}}}", replacement) for title, text in texts.items()}
    examples = [line.strip() for line in texts.pop("Examples", "").splitlines()]
    if "Exit status" in texts:
        codes = re.split(r"^(\d+): ", texts["Exit status"], flags=re.MULTILINE)[1:]
        words = (" ".join(text.split()) for text in codes[1::2])
        texts |= exit_status(dict(zip(map(int, codes[::2]), words, strict=True)))
    return {
        "help": texts.pop(""),
        "examples": dict(zip(examples[::2], examples[1::2], strict=True)),
        "sections": texts,
    }
