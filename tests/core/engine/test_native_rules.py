"""The compiled fold has a rule for each metadata record, and the numbers that Python has."""

import pytest

from kraftops.engine import fold_contract, index_contract
from kraftops.engine.metadata_state import PartitionCondition, ReplicaRole
from kraftops.engine.reference.folding.rules import _RULES as REFERENCE_RULES
from kraftops.records.metadata_numbers import TRANSACTION_MARKERS
from kraftops.schema.tables import messages

native_rules = pytest.importorskip(
    "kraftops.engine.native_rules", reason="there is no compiled engine", exc_type=ImportError
)


def test_each_metadata_record_has_a_rule() -> None:
    assert set(native_rules._RULES) == set(messages("metadata"))


def test_both_engines_have_rules_for_the_same_records() -> None:
    numbers = {messages("metadata")[name].key for name in native_rules._RULES} - set(
        TRANSACTION_MARKERS
    )

    assert numbers <= set(REFERENCE_RULES)


def test_fields_are_those_of_the_messages() -> None:
    for name, (_, fields) in native_rules._RULES.items():
        known = {field.name for field in messages("metadata")[name].fields}
        if name != "PartitionChangeRecord":  # it shares the slots of PartitionRecord
            assert set(fields) <= known


def test_numbers_of_both_sides_are_the_same() -> None:
    from kraftops.engine import _native

    assert _native.POSITION_BITS == fold_contract.POSITION_BITS
    assert _native.BATCH_FIELDS == fold_contract.BATCH_FIELDS
    assert _native.RANGE_BITS == index_contract.RANGE_BITS
    assert dict(_native.CONDITIONS) == {
        condition.name: condition.value for condition in PartitionCondition
    }
    assert dict(_native.ROLES) == {role.name: role.value for role in ReplicaRole}
