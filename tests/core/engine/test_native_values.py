"""The compiled engine against its stub, and its values against the contracts."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

from kraftops.engine import (
    count_contract,
    fold_contract,
    heavy_hitters,
    index_contract,
    metadata_state,
    scan_contract,
    timeline_contract,
)

_native = pytest.importorskip(
    "kraftops.engine._native", reason="there is no compiled engine", exc_type=ImportError
)
STUB = ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
CONTRACTS = (
    *(scan_contract, count_contract, fold_contract, index_contract),
    *(metadata_state, timeline_contract),
)
NAMED_TUPLES: dict[str, Any] = {
    name: kind
    for contract in CONTRACTS
    for name, kind in vars(contract).items()
    if hasattr(kind, "_fields")
}


def stub_names(body: list[ast.stmt]) -> set[str]:
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            assert isinstance(node.target, ast.Name)
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def test_the_stub_has_the_names_of_the_module() -> None:
    assert stub_names(STUB.body) == {name for name in dir(_native) if not name.startswith("_")}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_of_the_stub_has_the_members_of_the_engines(name: str) -> None:
    members = {member for member in dir(getattr(_native, name)) if not member.startswith("_")}

    assert stub_names(CLASSES[name].body) == members


@pytest.mark.parametrize("name", CLASSES)
def test_a_method_of_the_stub_has_the_parameters_of_the_engines(name: str) -> None:
    for node in CLASSES[name].body:
        if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
            continue
        parameters = inspect.signature(getattr(getattr(_native, name), node.name)).parameters
        if not any(isinstance(of, ast.Name) and of.id == "property" for of in node.decorator_list):
            assert [argument.arg for argument in node.args.args] == [*parameters], node.name


@pytest.mark.parametrize("name", sorted(CLASSES.keys() & NAMED_TUPLES.keys()))
def test_a_value_has_the_fields_of_its_contract(name: str) -> None:
    fields = set(NAMED_TUPLES[name]._fields)
    members = stub_names(CLASSES[name].body)

    assert fields <= members
    assert members - fields <= {"id"}  # of a broker, which is the key in the contract


def test_every_class_that_only_has_values_is_one_of_a_contract() -> None:
    values = {
        name
        for name, node in CLASSES.items()
        if all(isinstance(member, ast.AnnAssign) for member in node.body)
    }

    assert values - NAMED_TUPLES.keys() == {heavy_hitters.HeavyHitters.__name__}
