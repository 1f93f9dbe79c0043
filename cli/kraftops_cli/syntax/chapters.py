"""The manual of a command: a text beside its module, with the chapters that all commands share."""

import os
import re
from collections.abc import Mapping
from typing import Any

from kraftops.fileio.packaged import packaged_parts
from kraftops.memory import VARIABLE

EXIT_CODES = {
    0: "done.",
    1: "it could not be done: bad arguments or configuration, nothing readable, no permission.",
    2: "done, and there are findings.",
    3: (
        "refused: a person must decide, by an option or an answer (1 for format and "
        "unregister in Kafka's form)."
    ),
    4: "what was named does not exist (1 in Kafka's form).",
    5: "no server answered, or not in time: try again (1 in Kafka's form).",
    6: "a change was sent, and it is not known whether it was made.",
    130: "interrupted.",
    141: "the reader of the output has gone.",
}
"""Meanings by exit code. Kafka's form is that of its own names and commands without JSON."""
_COMMON = {
    VARIABLE: "the memory budget, as --max-memory gives it.",
    "KRAFTOPS_ENGINE": "native or reference, the engine that reads records. Default: native, if it"
    " is built.",
    "KRAFTOPS_DEBUG": "if it is set, an error shows its stack trace.",
    "NO_COLOR": "if it is set, output has no colours, unless --color is given.",
    "TMPDIR": "where compressed archives are inflated, to a file without a name. Default: /tmp.",
}
"""Variables of all commands, which a manual has after those of its own command."""
AUTHORIZER = {"TZ": "the time zone of the log that --authorizer-log names."}
SPARK = {
    "SPARK_REMOTE": "the URL of a server of Spark Connect, as --master gives it.",
    "SPARK_HOME": "the installation of Spark; SPARK_CONF_DIR is its configuration.",
    "JAVA_HOME": "the Java that runs Spark. Default: that of PATH.",
    "PYSPARK_PYTHON": "the Python of the workers of a cluster.",
}
"""Variables of commands that can run on Spark."""


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


def exit_status(codes: dict[int, str] | None = None) -> dict[str, str]:
    """Return the section about exit codes, with further words of a tool on some of its *codes*."""
    words = {**EXIT_CODES, **(codes or {})}
    return {"Exit status": "\n".join(f"{code}: {words[code]}" for code in EXIT_CODES)}


def environment(variables: Mapping[str, str] = _COMMON) -> dict[str, str]:
    """Return the section about environment variables: those of a tool, or of all."""
    return {"Environment": "\n".join(f"{name}: {text}" for name, text in variables.items())}
