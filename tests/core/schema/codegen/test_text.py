"""Renderers with overrides and odd input; `test_compile` tests their text."""

import pytest

from kraftops.schema.codegen.text import renderer
from kraftops.schema.codegen.values import base64_text
from kraftops.schema.compile import compiled
from kraftops.schema.message import parse
from tests.helpers.logs.messages import table


def test_overrides_show_bytes_in_another_form() -> None:
    message = parse("Thing - 0 0+\n  raw bytes\n  other bytes")["Thing"]
    raw = compiled(message, 0).write({"raw": b"\1\2", "other": b"\1\2"})
    render = renderer(message, 0, {"raw": lambda raw: f"<{raw.hex()}>"})

    assert render(raw, 0, len(raw)) == '{"raw":<0102>,"other":"AQI="}'


@pytest.mark.parametrize("versions", ["0+", "1+"])
def test_overrides_show_strings_in_another_form_and_null_as_such(versions: str) -> None:
    message = parse(f"Thing - 0 {versions}\n  name string?\n  other string")["Thing"]
    render = renderer(message, 0, {"name": lambda raw: f"<{raw.hex()}>"})

    shown = []
    for name in ("ab", None):
        raw = compiled(message, 0).write({"name": name, "other": "c"})
        shown.append(render(raw, 0, len(raw)))

    assert shown == ['{"name":<6162>,"other":"c"}', '{"name":null,"other":"c"}']


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"", '""'), (b"a", '"YQ=="'), (b"\xfb\xff", '"+/8="'), (bytes(60), f'"{"A" * 80}"')],
)
def test_base64_is_standard_and_on_one_line(raw: bytes, text: str) -> None:
    assert base64_text(raw) == text


def test_message_without_fields_is_an_empty_object() -> None:
    face = compiled(table("metadata")["NoOpRecord"], 0)

    assert face.text(b"\0", 0, 1) == "{}"


def test_object_of_tagged_fields_alone_begins_without_a_comma() -> None:
    face = compiled(table("metadata")["BeginTransactionRecord"], 0)
    raw = face.write({"name": "n"})

    assert face.text(raw, 0, len(raw)) == '{"name":"n"}'
    assert face.text(b"\0", 0, 1) == "{}"


@pytest.mark.parametrize(
    ("tags", "shown"),
    [
        pytest.param(b"\2\1\4\0\0\0\7\0\1\1", '"isr":[],"leader":7', id="out of order"),
        pytest.param(b"\2\1\4\0\0\0\7\1\4\0\0\0\x08", '"leader":8', id="twice: the last"),
        pytest.param(
            b"\2\1\4\0\0\0\7\1\4\xff\xff\xff\xfe", "", id="twice: the last is the default"
        ),
    ],
)
def test_odd_tag_sections_are_read_as_kafka_does(tags: bytes, shown: str) -> None:
    face = compiled(table("metadata")["PartitionChangeRecord"], 0)
    raw = bytes(20) + tags

    text = face.text(raw, 0, len(raw))

    head = '{"partitionId":0,"topicId":"AAAAAAAAAAAAAAAAAAAAAA"'
    assert text == f"{head}{',' if shown else ''}{shown}}}"


@pytest.mark.parametrize("name", ["replicas", "isr"])
def test_length_written_longer_than_needed_is_understood(name: str) -> None:
    """Kafka writes lengths as short as they can be, but reads them all."""
    face = compiled(table("metadata")["PartitionRecord"], 0)
    raw = face.write({name: [1, 2]})
    at = raw.index(b"\3\0\0\0\1")
    odd = raw[:at] + b"\x83\0" + raw[at + 1 :]

    assert face.read(odd, 0)[0][name] == [1, 2]
    assert face.text(odd, 0, len(odd)) == face.text(raw, 0, len(raw))


def test_tagged_struct_is_left_out_if_all_its_fields_are_defaults() -> None:
    message = parse("Thing - 0 0+\n  part Part #0\n    id uuid\n    flag bool\n    names []string")[
        "Thing"
    ]
    face = compiled(message, 0)
    default = bytes(16) + b"\0" + b"\1" + b"\0"
    odd = bytes(15) + b"\1\1\2\2a\0"

    shown = []
    for part in (default, odd, default[:-1] + b"\1\7\1x"):
        raw = bytes([1, 0, len(part)]) + part
        shown.append(face.text(raw, 0, len(raw)))

    zero = '{"part":{"id":"AAAAAAAAAAAAAAAAAAAAAA","flag":false,"names":[]}}'
    assert shown == [
        "{}",
        '{"part":{"id":"AAAAAAAAAAAAAAAAAAAAAQ","flag":true,"names":["a"]}}',
        zero,  # with a tag that nobody knows
    ]
