"""Random cases for the costs of commands: where a costly log lies, and texts that users give."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.helpers.costs.shapes import COMMANDS, SHAPES, SIZE, arguments
from tests.helpers.logs.archived_logs import ZSTD
from tests.helpers.logs.bundles import KINDS
from tests.helpers.logs.costly_files import snapshot_around
from tests.helpers.logs.written import compress

_NAME = f"{0:020}"
_LOG = f"{_NAME}.log"
_FAR = 1 << 30
_MOST_ZEROS = 1 << 28
_DUMP, _SHELL = "dump-log", "metadata-shell"


class Case(NamedTuple):
    """The kind of a case, its shape, the seed of what is random in both, and the command."""

    kind: str
    shape: str
    seed: int
    command: str


def new_case(random: Random) -> Case:
    """Return a case of any kind."""
    kind = random.choice(list(KINDS_OF_CASES))
    commands = [*COMMANDS] if kind in PLACES else [kind]
    shape = random.choice(list(SHAPES))
    return Case(kind, shape, random.randrange(1 << 30), random.choice(commands))


def like(case: Case, random: Random) -> Case:
    """Return a case that differs only in what is random."""
    return case._replace(seed=random.randrange(1 << 30))


def written(case: Case, folder: Path) -> list[str]:
    """Write the files of a case; return the arguments of `kraftops` in that folder."""
    return KINDS_OF_CASES[case.kind](case, folder, Random(case.seed))


def _in(place: Callable[[Path, bytes, Random], Path]) -> Callable[[Case, Path, Random], list[str]]:
    def write(case: Case, folder: Path, random: Random) -> list[str]:
        directory = folder / "__cluster_metadata-0"
        directory.mkdir()
        path = place(directory, SHAPES[case.shape](random), random)
        target = directory if path.parent == directory else path
        return arguments(case.command, str(path), str(target))

    return write


def _log(directory: Path, log: bytes, _: Random) -> Path:
    path = directory / _LOG
    path.write_bytes(log)
    return path


def _snapshot(directory: Path, log: bytes, _: Random) -> Path:
    path = directory / f"{_FAR:020}-{1:010}.checkpoint"
    path.write_bytes(snapshot_around(log, _FAR))
    return path


def _archived_log(directory: Path, log: bytes, random: Random) -> Path:
    ending, pack = random.choice(
        [
            (".gz", gzip.compress),
            (".xz", lzma.compress),
            (".zst", lambda data: compress(ZSTD, data)),
        ]
    )
    zeros = bytes(random.choice((0, 0, _MOST_ZEROS)))
    path = directory / f"{_LOG}{ending}"
    path.write_bytes(pack(log + zeros + log[:1000]))
    return path


def _bundle(directory: Path, log: bytes, random: Random) -> Path:
    zeros = bytes(random.choice((0, 10 << 20, _MOST_ZEROS)))
    kind = random.choice(list(KINDS))
    if kind == "log.tar":
        zeros = zeros[:0]
    files = {f"__cluster_metadata-0/{_LOG}": log, f"__cluster_metadata-0/{_NAME}.index": zeros}
    path = directory.parent / kind
    KINDS[kind](path, files)
    return path


def _indexes(case: Case, folder: Path, random: Random) -> list[str]:
    """Write a log with indexes of up to 1 MB that lead anywhere in it."""
    directory = folder / "t-0"
    directory.mkdir()
    log = SHAPES[case.shape](random)
    (directory / _LOG).write_bytes(log)
    names = [f"{_NAME}.{end}" for end in ("index", "timeindex", "txnindex")]
    for name, width in zip(names, (8, 12, 34), strict=True):
        (directory / name).write_bytes(_entries(random, width, len(log)))
    (directory / f"{9:020}.snapshot").write_bytes(random.randbytes(random.randrange(SIZE)))
    name = random.choice([*names, f"{9:020}.snapshot"])
    words = ["--check", str(directory)] if random.random() < 0.5 else [str(directory / name)]
    return [_DUMP, *words, *random.choice(([], ["--verify-index-only"], ["--index-sanity-check"]))]


def _entries(random: Random, width: int, size: int) -> bytes:
    """Return entries whose last field is a position in, or an offset of, a log."""
    count = random.choice((10, 1000, SIZE // width))
    step = random.choice((-7, 0, 1, 61, 4096))
    fields = ((at * step) % max(size, 1) for at in range(count))
    return b"".join(at.to_bytes(width - 4) + field.to_bytes(4) for at, field in enumerate(fields))


_ATOMS = (
    "value ~ '(a|aa)*(b|ab)*c'",
    "key ~ '(x{0,200}){0,200}y'",
    "value ~ '[^a]{900}'",
    "value ~ '\\w+\\s*=\\s*\\w+'",
    "len(value) > 3",
    "offset >= 0",
    "value.a.b[3].c = 1",
    "headers[0].value = 'x'",
    "type in ('A', 'B', 'C')",
)


def _condition(random: Random) -> str:
    """Return a condition of up to 100 KB: deep, long, or both."""
    form, count = random.randrange(4), random.choice((1, 20, 400, 8_000))
    atoms = [random.choice(_ATOMS) for _ in range(min(count, 1_500))]
    match form:
        case 0:
            return random.choice((" or ", " and ")).join(atoms)
        case 1:
            return "(" * count + atoms[0] + ")" * count
        case 2:
            return "not " * count + atoms[0]
        case _:
            pattern = random.choice(("(a*)*", "a?", "[ab]", ".*", "(a|b|ab)", "a{3}")) * count
            return f"value ~ '{pattern}'"


def _where(case: Case, folder: Path, random: Random) -> list[str]:
    path = _log(folder, SHAPES[case.shape](random), random)
    form = random.choice(("json", "csv", "text"))
    return [_DUMP, "--print-data-log", "--format", form, "--where", _condition(random), str(path)]


def _glob(case: Case, folder: Path, random: Random) -> list[str]:
    path = _log(folder, SHAPES[case.shape](random), random)
    part = random.choice(("*", "*a", "?*", "[a-z]*", "**", "{a,b}", "*t*"))
    glob = part * random.choice((1, 10, 100, 5_000))
    words = random.choice(
        [
            ["find", "/", "-name", glob],
            ["ls", f"/image/topics/byName/{glob}"],
            ["cat", "/".join(["", *[part] * random.choice((1, 5, 200))])],
        ]
    )
    return [_SHELL, "-s", str(path), *words]


def _plan(_: Case, folder: Path, random: Random) -> list[str]:
    """Write JSON of up to 1 MB where a plan should be."""
    move = '{"topic":"t","partition":1,"replicas":[1,2,3]}'
    text = random.choice(
        [
            "[" * SIZE,
            '{"a":' * (SIZE // 5),
            "9" * SIZE,
            '{"version":1,"partitions":[' + ",".join([move] * (SIZE // len(move) - 99)) + "]}",
            '{"version":1,"partitions":[{"topic":"t","partition":1,"replicas":[' + "1," * 400_000,
            '"' + "\\ud800" * (SIZE // 6) + '"',
            "1e" + "9" * 100_000,
        ]
    )
    (folder / "plan.json").write_text(text)
    return ["cluster", "undrain", "-b", "127.0.0.1:1", "--plan", "plan.json", "--timeout", "1"]


PLACES = {
    "log": _in(_log),
    "snapshot": _in(_snapshot),
    "archived log": _in(_archived_log),
    "bundle": _in(_bundle),
}
KINDS_OF_CASES: dict[str, Callable[[Case, Path, Random], list[str]]] = {
    **PLACES,
    "indexes": _indexes,
    "where": _where,
    "glob": _glob,
    "plan": _plan,
}
"""Writes the files of a case in a folder, and returns the arguments."""
