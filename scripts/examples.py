"""Run the examples of README and `docs/`, and compare their output or `--record` it anew.

`python scripts/examples.py [--record] [PAGE…]`. A block `console` has commands after `$ `, each
with its output; a line `…` stands for any number of lines. A block `python` is run if a block
`text` follows it. Those of a page run one after another in a fresh copy of the small cluster, or
if one names `tests/data`, all at the top of the repository. A block under a line `*Run on …*` was
run by hand, and is left alone.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CLUSTER = REPOSITORY / "docs" / "cluster.tar.gz"
_CONSOLE = re.compile(
    r"(?P<mark>^\*Run on [^\n]*\*\n+)?^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_PYTHON = re.compile(
    r"^```python\n(?P<code>(?:(?!```)[^\n]*\n)*)```\n+```text\n(?P<output>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SECONDS = 60  # a command that takes longer is not an example


def pages() -> list[Path]:
    """Return all pages that may have examples."""
    return [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]


def run_again(page: Path) -> str:
    """Return the text of a page with the output that its commands have now."""
    text = page.read_text("utf-8")
    examples = [block[0] for pattern in (_CONSOLE, _PYTHON) for block in pattern.finditer(text)]
    if not examples:
        return text
    if any("tests/data" in example for example in examples):
        return _with_outputs(text, REPOSITORY)
    with tempfile.TemporaryDirectory() as name:
        with tarfile.open(CLUSTER) as archive:
            archive.extractall(name, filter="data")
        return _with_outputs(text, Path(name) / "cluster")


def _with_outputs(text: str, folder: Path) -> str:
    text = _CONSOLE.sub(partial(_console, folder=folder), text)
    return _PYTHON.sub(partial(_python, folder=folder), text)


def _console(block: re.Match[str], folder: Path) -> str:
    if block["mark"]:
        return block[0]
    pieces = re.split(r"^\$ (.*\n)", block["text"], flags=re.MULTILINE)[1:]
    outputs = [
        f"$ {command}{_shortened(_output(['bash', '-c', command], folder), shown)}"
        for command, shown in zip(pieces[::2], pieces[1::2], strict=True)
    ]
    return f"```console\n{''.join(outputs)}```"


def _python(block: re.Match[str], folder: Path) -> str:
    output = _output([sys.executable, "-W", "error", "-c", block["code"]], folder)
    return f"```python\n{block['code']}```\n\n```text\n{_shortened(output, block['output'])}```"


def _shortened(output: str, shown: str) -> str:
    """Return the output with `…` in the place of as many lines as are left out in *shown*."""
    lines, before = output.splitlines(keepends=True), shown.splitlines(keepends=True)
    if "…\n" not in before:
        return output
    first = before.index("…\n")
    last = len(before) - first - 1
    return "".join([*lines[:first], "…\n", *(lines[-last:] if last else ())])


def _output(command: list[str], folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "120"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    return done.stdout


def main(arguments: list[str]) -> int:
    """Record pages, or name those whose examples print something else; return the exit code."""
    chosen = [Path(name).resolve() for name in arguments if name != "--record"] or pages()
    with ThreadPoolExecutor(2) as pool:
        texts = dict(zip(chosen, pool.map(run_again, chosen), strict=True))
    stale = [page for page in chosen if texts[page] != page.read_text("utf-8")]
    for page in stale:
        is_recorded = "--record" in arguments
        outcome = "examples are written anew" if is_recorded else "examples print something else"
        print(f"{page.relative_to(REPOSITORY)}: {outcome}")
        if is_recorded:
            page.write_text(texts[page], "utf-8")
    return 1 if stale and "--record" not in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
