"""Long keys and values, made in pieces: the same text, and little memory."""

import operator
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.java.text import decode_utf8
from kraftops.log.batch import Record
from kraftops.query.conditions.outcomes import compared
from kraftops.query.conditions.regex import found_in
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from kraftops.query.row_lines import row_csv, row_json
from kraftops.records import long_text
from kraftops.records.long_text import LONG, LongText, is_utf8
from kraftops.records.meaning import base64_of
from tests.helpers.logs.corpus_rows import reference_json, rows
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.dump_file import dump

RAW = st.lists(
    st.sampled_from(
        [
            b"a",
            "é".encode(),
            "€".encode(),
            "😀".encode(),
            b"\x80",
            b"\xed\xa0",
            b"\xf0\x9f",
            b"\xff",
        ]
    )
).map(b"".join)


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_text, "_PIECE", 6)


@given(RAW)
def test_pieces_make_the_text_of_the_whole(raw: bytes) -> None:
    view = memoryview(raw)

    assert "".join(LongText(view, decode_utf8, is_utf8=True).pieces()) == decode_utf8(raw)
    assert "".join(LongText(view, base64_of).pieces()) == b64encode(raw).decode()
    assert "".join(LongText(view, bytes.hex).pieces()) == raw.hex()


@given(RAW)
def test_utf8_is_known_piece_by_piece(raw: bytes) -> None:
    try:
        raw.decode()
    except UnicodeDecodeError:
        assert not is_utf8(memoryview(raw))
    else:
        assert is_utf8(memoryview(raw))


@given(st.text("aab\né😀", max_size=40), st.text("aab\né😀", max_size=40))
def test_conditions_read_pieces_as_the_whole(text: str, other: str) -> None:
    long = LongText(memoryview(text.encode()), decode_utf8, is_utf8=True)

    for pattern in ("aab", "a", "ba|😀é", "^a.*b$", "^$", "b$", other[:3].replace("\n", "")):
        assert found_in(pattern, long) is found_in(pattern, text)
    for compare in (operator.eq, operator.lt, operator.ge):
        for literal in (other, text, text[:7]):
            assert compared(compare, long, literal) is compare(text, literal)
            assert compared(compare, literal, long) is compare(literal, text)
        assert compared(compare, long, long) is compare(text, text)


VALUES = {
    "text": b'"a",\n' * LONG,
    "plain": "é€".encode() * LONG,
    "bytes": b"\xff\0" * LONG,
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("has_key", [False, True])
def test_long_value_is_shown_as_a_short_one_is(
    name: str, has_key: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = VALUES[name]
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes([Record(0, 0, value if has_key else None, value)], attributes=1))
    monkeypatch.setattr(long_text, "_PIECE", 3 << 16)
    asked = Query(decoder="user", form="json", deep_iteration=True)

    made = [reference_json(path, asked), reference_json(path, Query(decoder="user", form="csv"))]
    text = dump(path, Query(decoder="user", deep_iteration=True)).text
    (row,) = rows(path, asked)

    shown = value.decode() if name != "bytes" else b64encode(value).decode()
    assert row.value == shown
    assert row.value_encoding == ("base64" if name == "bytes" else None)
    assert made == [row_json(row), row_csv(row)]
    assert text.endswith(f" payload: {decode_utf8(value)}\n")
    assert (" key: " in text) is has_key


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_large_values_are_in_memory_once(form: str, tmp_path: Path) -> None:
    size = 60 << 20
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes([Record(0, 0, None, bytes(size))], attributes=4))
    program = (
        "import resource, sys\n"
        "from kraftops.dump.scan.part_printer import text_chunks\n"
        "from kraftops.dump.report import Report\n"
        "from kraftops.query.query import Query\n"
        "query = Query(decoder='user', form=sys.argv[2], deep_iteration=True)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "made = sum(map(len, text_chunks(sys.argv[1], query, Report())))\n"
        "print(made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(path), form],
        capture_output=True,
        text=True,
        check=True,
        env={"KRAFTOPS_ENGINE": "reference"},
    )

    made, grown = map(int, done.stdout.split())
    assert made > size
    assert grown * 1024 < 1.3 * size


@pytest.mark.parametrize(("other", "is_same"), [("", False), ("a", False), ("a" * 40, True)])
def test_filter_compares_a_long_key_with_the_whole_of_another(other: str, is_same: bool) -> None:
    key = LongText(memoryview(b"a" * 40), decode_utf8, is_utf8=True)

    assert Filter(keys=frozenset({other})).matches(Row("", 0, key=key)) == is_same
