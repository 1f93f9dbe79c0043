"""Each rule takes the fields of its records, in all dialects."""

from typing import Any, get_args, is_typeddict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.reference.folding.rules import _RULES
from kraftops.records.dialects import DIALECTS, dialect
from kraftops.records.kip_631 import record_reader
from kraftops.records.metadata_numbers import TRANSACTION_MARKERS
from kraftops.schema.message import Message
from tests.core.records.test_record_types import differences
from tests.helpers.logs.messages import data_for, versions_of
from tests.helpers.logs.random_logs import new_record
from tests.helpers.logs.record_types import record_types

TYPES = vars(record_types("metadata_types")) | vars(record_types("kip_631_types"))


def types_of(number: int) -> list[Any]:
    """Return the types that a rule takes; none for any type."""
    _, name, *_ = _RULES[number].__annotations__.values()
    said = eval(name, TYPES)  # its own module has them for mypy alone
    return [one for one in get_args(said) or (said,) if is_typeddict(one)]


def is_type(said: Any, data: Any) -> bool:
    """Tell whether data has the fields of a type; a dialect may have more."""
    return all(one.endswith("is not known") for one in differences(data, said))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(name, message, id=f"{name}-{message.name}")
        for name in DIALECTS
        for number, message in dialect(name).messages.items()
        if name != "kafka" or number not in TRANSACTION_MARKERS
    ],
)
@given(data=st.data())
def test_rule_takes_the_fields_of_its_records(
    name: str, message: Message, data: st.DataObject
) -> None:
    for version in versions_of(message):
        fields = data.draw(data_for(message, version))

        found = record_reader(name)(new_record(message.name, version, dialect=name, **fields).value)

        assert isinstance(found, tuple)
        number, said = found
        types = types_of(number)
        assert not types or any(is_type(one, said) for one in types)


def test_only_the_rule_without_effect_takes_any_record() -> None:
    assert {rule.__name__ for number, rule in _RULES.items() if not types_of(number)} == {
        "do_nothing"
    }
