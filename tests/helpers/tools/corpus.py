"""Cases with the recorded output of Kafka's own tools, and a comparison with ours.

A corpus is a folder with `cases.jsonl`, `in/` (real files) and `out/` (what Kafka printed). A case
runs with `in/`, or a copy of it, as its working directory; its fields are those of `Case`.
"""

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.helpers.tools.console import Done

DATA = Path(__file__).parents[2] / "data"
DUMPS = DATA / "dump-4.3.1"
STORAGE = DATA / "storage-4.3.1"
SHELL = DATA / "shell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run of Kafka's tool *tool*; any other field in the corpus is an error.

    Its exit code may be one of several. Without *out*, standard output does not matter. The masks
    (regular expression, replacement) are applied to both sides. Lines may be *sorted* first. With
    *prefix* Kafka's tool died: its output begins ours. A *fresh* case changed its files; those of
    one *chain* follow each other on the same files. *files* says what is there afterwards; *err*,
    what Kafka's tool wrote to standard error, and *note* are for people.
    """

    folder: Path
    name: str
    tool: str
    args: Sequence[str]
    exit: int | Sequence[int]
    out: str | None = None
    mask: Sequence[tuple[str, str]] = ()
    sorted: bool = False
    prefix: bool = False
    fresh: bool = False
    chain: str = ""
    stdin: str = ""
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    err: str = ""
    note: str = ""

    @property
    def expected(self) -> str | None:
        """The output of Kafka's tool, masked."""
        if self.out is None:
            return None
        raw = (self.folder / self.out).read_bytes()
        return self.masked(gzip.decompress(raw) if self.out.endswith(".gz") else raw)

    def masked(self, raw: bytes) -> str:
        """Return output as text, masked."""
        text = raw.decode("utf-8", "surrogateescape")
        for pattern, replacement in self.mask:
            text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
        return text


def cases(folder: Path, *tools: str) -> list[Case]:
    """Return the cases of some tools, in the order of the corpus."""
    lines = (folder / "cases.jsonl").read_text("utf-8").splitlines()
    return [
        case for line in lines if (case := Case(folder=folder, **json.loads(line))).tool in tools
    ]


def chains(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Return the cases that share their files, in order, by the name of the chain or the case."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.chain or case.name, []).append(case)
    return found


def listing(root: Path) -> dict[str, tuple[int, int]]:
    """Return size and modification time of all files, to detect later changes."""
    found = {}
    for path in root.rglob("*"):
        status = path.stat()
        found[str(path)] = (status.st_size, status.st_mtime_ns)
    return found


def differences(case: Case, done: Done, root: Path) -> Iterator[str]:
    """Yield the differences between a run in *root* and its case, as text."""
    allowed = [case.exit] if isinstance(case.exit, int) else case.exit
    if done.code not in allowed:
        yield f"exit code {done.code} instead of {case.exit}; standard error: {done.err[-500:]}"
    if "Traceback (most recent call last)" in done.err:
        yield f"a traceback: {done.err[-500:]}"
    expected = case.expected
    if expected is not None:
        yield from _output_differences(case, expected, case.masked(done.out))
    if case.prefix and "--files" in case.args:
        names = case.args[list(case.args).index("--files") + 1].split(",")
        dumped = len(re.findall("^Dumping ", done.text, flags=re.MULTILINE))
        if dumped < len(names) > 1:
            yield f"{dumped} of {len(names)} files dumped"
    for name, wanted in case.files.items():
        yield from _file_differences(case.folder, root / name, wanted)


def _output_differences(case: Case, expected: str, got: str) -> Iterator[str]:
    if case.sorted:
        if Counter(expected.splitlines()) != Counter(got.splitlines()):
            yield "other lines on standard output"
        return
    if got.startswith(expected) if case.prefix else got == expected:
        return
    pairs = zip([*expected.splitlines(), "<end>"], [*got.splitlines(), "<end>"], strict=False)
    for number, (kafkas, ours) in enumerate(pairs, 1):
        if kafkas != ours:
            yield f"line {number} of standard output:\nKafka: {kafkas!r}\n ours: {ours!r}"
            return
    yield "standard output differs in how it ends"


def _file_differences(folder: Path, path: Path, wanted: Mapping[str, Any]) -> Iterator[str]:
    if wanted.get("absent"):
        if path.exists():
            yield f"{path.name} is there"
        return
    if not path.is_file():
        yield f"{path.name} is missing"
        return
    raw = path.read_bytes()
    if "sha256" in wanted and hashlib.sha256(raw).hexdigest() != wanted["sha256"]:
        yield f"{path.name} has other bytes"
    if "same_as" in wanted and raw != (folder / wanted["same_as"]).read_bytes():
        yield f"{path.name} differs from {wanted['same_as']}"
    if "lines" in wanted:
        lines, patterns = raw.decode("utf-8", "replace").splitlines(), wanted["lines"]
        if len(lines) != len(patterns) or not all(map(re.fullmatch, patterns, lines)):
            yield f"{path.name} has other lines: {lines}"
