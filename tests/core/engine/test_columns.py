"""Columns have Arrow's layout, and give their rows back."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.columns import HEADER_KEYS, HEADERS, columns_of, rows_of
from kraftops.query.row import COLUMNS, TYPES, Row
from kraftops.records.meaning import base64_of

_INTS = {"int64": 63, "int32": 31, "int16": 15}
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def values(name: str) -> st.SearchStrategy[object]:
    if name == HEADERS:
        pair = st.tuples(_TEXT, st.none() | st.binary(max_size=4))
        return st.lists(pair, max_size=3).map(tuple)
    for kind, names in TYPES.items():
        if name in names:
            if kind == "bool_":
                return st.none() | st.booleans()
            bits = _INTS[kind]
            return st.none() | st.integers(-(1 << bits), (1 << bits) - 1)
    return st.none() | _TEXT


def of_user(row: Row, key: bytes | None, value: bytes | None) -> Row:
    """Return a row of a user with these bytes, as text or base64."""
    (key_text, key_encoding), (value_text, value_encoding) = map(shown, (key, value))
    return row._replace(
        kind="user",
        key=key_text,
        value=value_text,
        key_encoding=key_encoding,
        value_encoding=value_encoding,
    )


def shown(raw: bytes | None) -> tuple[str | None, str | None]:
    try:
        return None if raw is None else raw.decode(), None
    except UnicodeDecodeError:
        return base64_of(raw or b""), "base64"


ANY = st.tuples(*map(values, COLUMNS)).map(Row._make)
BYTES = st.none() | st.binary(max_size=4)
ROWS = st.lists(ANY | st.builds(of_user, ANY, BYTES, BYTES), max_size=20)


@given(ROWS)
def test_rows_come_back_from_their_columns(rows: list[Row]) -> None:
    assert list(rows_of(columns_of(rows, COLUMNS), len(rows))) == rows


@given(ROWS, st.sets(st.sampled_from(COLUMNS)))
def test_only_chosen_columns_are_there(rows: list[Row], names: set[str]) -> None:
    columns = columns_of(rows, [name for name in COLUMNS if name in names])
    by_bytes = {"keyEncoding": "key", "valueEncoding": "value"}  # of records of users

    assert {name.partition(".")[0] for name in columns} == names
    for found, row in zip(rows_of(columns, len(rows)), rows, strict=True):
        for at, name in enumerate(COLUMNS):
            is_known = row.kind != "user" or by_bytes.get(name, name) in names
            if name in names and is_known:
                assert found[at] == row[at]


def test_layout_is_arrows() -> None:
    rows = [
        Row("é", 1, transactional=True, headers=(("a", b"x"), ("b", None))),
        Row("", None, transactional=None),
        Row("f", 3, transactional=False, headers=(("c", b""),)),
    ]

    found = columns_of(rows, ["file", "position", "transactional", HEADERS])

    assert found["file"].data == "éf".encode()
    assert array("i", found["file"].offsets or b"").tolist() == [0, 2, 2, 3]
    assert found["file"].valid is None
    assert array("q", found["position"].data).tolist() == [1, 0, 3]
    assert found["position"].valid == b"\5"
    assert (found["transactional"].data, found["transactional"].valid) == (b"\1", b"\5")
    assert array("i", found[HEADERS].offsets or b"").tolist() == [0, 2, 2, 3]
    assert found[HEADER_KEYS].data == b"abc"
    assert found["headers.value"].valid == b"\5"
