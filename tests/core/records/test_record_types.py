"""The classes of records hold what decoded records have, in every version."""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.log.batch import CONTROL, records
from kraftops.records.control import decode as decode_control
from kraftops.records.control import definitions
from kraftops.records.dialects import type_name
from kraftops.records.meaning import Decoded
from kraftops.records.metadata import decode
from kraftops.schema.compile import compiled
from kraftops.schema.message import Field, Message
from tests.helpers.logs.messages import UNKNOWN_TAGS, data_for, encoded, table, versions_of
from tests.helpers.logs.record_types import record_types
from tests.helpers.logs.segments import IN, walk

TABLES = ("metadata", "control")
each_message = pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(name, message, id=f"{name}-{message.name}")
        for name in TABLES
        for message in table(name).values()
    ],
)


def class_of(name: str, message: Message) -> Any:
    return getattr(record_types(f"{name}_types"), message.name)


def differences(value: object, said: Any, path: str = "") -> Iterator[str]:
    """Yield where plain data is not what a type says."""
    if isinstance(said, UnionType):
        kinds = [kind for kind in get_args(said) if kind is not NoneType]
        assert len(kinds) == 1
        if value is not None:
            yield from differences(value, kinds[0], path)
    elif is_typeddict(said):
        yield from dict_differences(value, said, path)
    elif get_origin(said) is list:
        assert isinstance(value, list), path
        for inner in value:
            yield from differences(inner, get_args(said)[0], f"{path}[]")
    elif get_origin(said) is dict:
        assert isinstance(value, dict), path
        for pair in value.items():
            for one, kind in zip(pair, get_args(said), strict=True):
                yield from differences(one, kind, path)
    elif type(value) is not said:
        yield f"{path}: {value!r} is no {said}"


def dict_differences(value: object, said: Any, path: str) -> Iterator[str]:
    assert isinstance(value, dict), path
    hints = get_type_hints(said)
    if missing := said.__required_keys__ - value.keys():
        yield f"{path}: {missing} are missing"
    for key, inner in value.items():
        if key in hints:
            yield from differences(inner, hints[key], f"{path}.{key}")
        else:
            yield f"{path}: {key} is not known"


@each_message
@given(data=st.data())
def test_decoded_data_is_what_the_class_says(
    name: str, message: Message, data: st.DataObject
) -> None:
    """Keys and types, also of structs and of tagged fields that nobody knows."""
    said = class_of(name, message)
    for version in versions_of(message):
        made = data.draw(data_for(message, version, unknown_tags=True))

        found, _ = compiled(message, version).read(encoded(message, version, made), 0)

        assert list(differences(found, said)) == []


@each_message
def test_class_says_no_more_than_the_table(name: str, message: Message) -> None:
    """Fields that may be missing are missing in a version, those that may be null can be it."""
    check_fields(class_of(name, message), message.fields, message)


def check_fields(said: Any, fields: tuple[Field, ...], message: Message) -> None:
    hints = get_type_hints(said)
    assert hints.keys() - {UNKNOWN_TAGS} == {field.name for field in fields}
    assert (UNKNOWN_TAGS in hints) is (message.flexible is not None)
    for field in fields:
        in_all = all(field.versions.has(version) for version in versions_of(message))
        assert (field.name in said.__required_keys__) is in_all
        kind = hints[field.name]
        assert isinstance(kind, UnionType) is field.nullable
        while args := [one for one in get_args(kind) if one is not NoneType]:
            kind = args[0]
        assert is_typeddict(kind) is field.is_struct
        if field.is_struct:
            check_fields(kind, field.fields, message)


def test_real_records_are_what_the_classes_say() -> None:
    """Those of all versions of Kafka in the corpus, in logs, snapshots and control batches."""
    metadata = {type_name(message): message for message in table("metadata").values()}
    control = {name: message for _, name, _, message in definitions()}
    seen = set()
    for path in sorted([*IN.glob("meta*/*.log"), *IN.glob("meta*/*.checkpoint")]):
        for batch in walk(path):
            is_control = bool(batch.header.attributes & CONTROL)
            for record in records(batch):
                found = (
                    decode_control(record.key, record.value) if is_control else decode(record.value)
                )
                assert isinstance(found, Decoded)
                message = control[found.type] if is_control else metadata[found.type]
                said = class_of("control" if is_control else "metadata", message)
                assert list(differences(found.data, said)) == []
                seen.add(message.name)
    assert {"PartitionRecord", "RegisterBrokerRecord", "LeaderChangeMessage"} <= seen
