"""The catalogue has a row for each code that the code can raise, and no others."""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from kraftops.findings.catalogue import CatalogueRow, catalogue
from tests.helpers.project.imports import REPOSITORY

FOLDERS = ("core/kraftops", "cli", "shell")
_CODE = re.compile(r"[a-z]+(-[a-z]+)*")
_KINDS = ("differs", "order", "torn", "zeros", "missing", "short")
MADE_OF_PARTS = {
    f"{prefix}-{kind}" for prefix in ("index", "time-index", "txn-index") for kind in _KINDS
}
"""Codes of indexes, which `dump.check.index_checks` makes of the kind of file and of fault."""


def texts() -> Iterator[str]:
    """Yield all texts in the code."""
    for path in chain.from_iterable((REPOSITORY / name).rglob("*.py") for name in FOLDERS):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def raised() -> Iterator[tuple[str, Path]]:
    """Yield the codes that stand as the first argument of a finding, with their files."""
    for path in chain.from_iterable((REPOSITORY / name).rglob("*.py") for name in FOLDERS):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="Finding"), args=[ast.Constant(value=str(code)), *_]
                ):
                    yield code, path


def test_every_code_that_is_raised_has_a_row() -> None:
    missing = {f"{code} in {path.name}" for code, path in raised() if code not in catalogue()}

    assert missing == set()


def test_every_row_is_raised_somewhere() -> None:
    assert catalogue().keys() - set(texts()) - MADE_OF_PARTS == set()


@pytest.mark.parametrize("row", catalogue().values(), ids=lambda row: row.code)
def test_row_says_what_to_do(row: CatalogueRow) -> None:
    assert _CODE.fullmatch(row.code)
    assert set(row.tools) <= {"check", "verify", "shell", "report", "recover"}
    assert row.tools
    assert len(row.title) < 80
    assert not row.title.endswith(".")
    assert all((row.meaning, row.kafka, row.action, row.proof))
