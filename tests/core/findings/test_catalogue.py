"""The catalogue of findings has every code that can be raised, and no other; a fault raises each."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kraftops.findings.catalogue import CatalogueRow, catalogue
from tests.helpers.findings import (
    check_faults,
    doctor_faults,
    log_faults,
    report_faults,
    verify_faults,
)
from tests.helpers.project.imports import REPOSITORY

FOLDERS = ("core/kraftops", "shell/kraftops_shell", "cli/kraftops_cli")
TOOLS = {"check", "verify", "shell", "report", "recover", "doctor"}
RAISING = {
    "Finding": 0,
    "usual_finding": 0,
    "stop_finding": 0,
    "note_finding": 0,
    "log_finding": 0,
    "finding_at": 0,
    "state_finding": 1,
    "_lose": 0,
    "_misnamed": 0,
    "_unless_known": 0,
    "partition_loss": 0,
}
"""Functions that make findings, with the place of the code among their arguments."""
FAULTS = {
    **check_faults.FAULTS,
    **verify_faults.FAULTS,
    **log_faults.FAULTS,
    **report_faults.FAULTS,
    **doctor_faults.FAULTS,
}
each_row = pytest.mark.parametrize("row", catalogue().values(), ids=lambda row: row.code)


@cache
def modules() -> dict[Path, ast.Module]:
    paths = [path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.py")]
    return {path: ast.parse(path.read_text("utf-8")) for path in paths}


def constants(module: ast.Module) -> dict[str, str]:
    """Return the strings that are bound to names at the top of a module."""
    bound = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            names, bound_to = node.targets[0], node.value
            pairs = [(names, bound_to)]
            if isinstance(names, ast.Tuple) and isinstance(bound_to, ast.Tuple):
                pairs = list(zip(names.elts, bound_to.elts, strict=False))
            for name, text in pairs:
                if isinstance(name, ast.Name) and isinstance(text, ast.Constant):
                    bound[name.id] = text.value
    return bound


def arguments(module: ast.Module) -> Iterator[ast.expr]:
    """Yield the codes that a module gives to functions that make findings."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        place = 0 if name.endswith("findings.add") else RAISING.get(name.rpartition(".")[2])
        if place is not None and len(node.args) > place:
            yield node.args[place]


def raised() -> Iterator[str]:
    """Yield the codes that are given as strings, or as constants of the module or of another."""
    everywhere: dict[str, set[str]] = {}
    for module in modules().values():
        for name, text in constants(module).items():
            everywhere.setdefault(name, set()).add(text)
    for module in modules().values():
        own = constants(module)
        for code in arguments(module):
            if isinstance(code, ast.Constant):
                yield code.value
            elif isinstance(code, ast.Name) and code.id in own:
                yield own[code.id]
            elif isinstance(code, ast.Name) and code.id.isupper():
                (text,) = everywhere[code.id]  # a name that two modules bind is ambiguous here
                yield text


@pytest.mark.slow
def test_all_codes_that_are_raised_are_in_the_catalogue() -> None:
    codes = set(raised())

    assert len(codes) > 80
    assert codes - catalogue().keys() == set()


@cache
def strings() -> frozenset[str]:
    """Return all strings of the code."""
    return frozenset(
        node.value
        for module in modules().values()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@each_row
def test_code_is_in_the_code_base(row: CatalogueRow) -> None:
    """Those of indexes are joined of the kind of the index and the fault."""
    words = row.code.split("-")
    joined = [("-".join(words[:at]), "-".join(words[at:])) for at in range(1, len(words))]

    assert row.code in strings() or any(set(pair) <= strings() for pair in joined)


@each_row
def test_row_has_texts_for_people(row: CatalogueRow) -> None:
    texts = (row.title, row.meaning, row.kafka, row.action, row.proof)

    assert all(text and text == text.strip() for text in texts)
    assert row.title[0].isupper()
    assert not row.title.endswith(".")
    assert len(row.title) <= 64
    assert set(row.tools) <= TOOLS
    assert row.tools


def test_faults_are_of_the_catalogue() -> None:
    assert FAULTS.keys() - catalogue().keys() == set()


@each_row
def test_fault_raises_the_code(row: CatalogueRow, tmp_path: Path) -> None:
    assert row.code in FAULTS[row.code](tmp_path)
