"""The partitions of groups and transactional ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.java.text import string_hash
from kraftops.records.partitioning import partition_of

# From Kafka 4.3.1: String.hashCode, and Utils.abs of it modulo 50 and 7.
KAFKAS = [
    ("", 0, 0, 0),
    ("a", 97, 47, 6),
    ("group", 98629247, 47, 3),
    ("console-consumer-12345", 158455506, 6, 6),
    ("my-app", -1061206400, 0, 2),
    ("ümlaut", -1271410363, 13, 6),
    ("日本語グループ", -305235731, 31, 3),
    ("😀", 1772899, 49, 2),
    ("a😀b", 57849694, 44, 0),
    ("\ud800", 55296, 46, 3),
    ("polygenelubricants", -(1 << 31), 0, 0),
    ("polygenelubricants!", -2147483615, 15, 4),
    ("ghost-xyz", -1785933477, 27, 6),
    ("connect-cluster", 1440343063, 13, 5),
    ("x" * 1000, -1715418112, 12, 2),
]


@pytest.mark.parametrize(("name", "code", "of_50", "of_7"), KAFKAS, ids=lambda v: str(v)[:20])
def test_hash_and_partition_are_kafkas(name: str, code: int, of_50: int, of_7: int) -> None:
    assert string_hash(name) == code & 0xFFFFFFFF
    assert partition_of(name) == of_50
    assert partition_of(name, 7) == of_7


@given(name=st.text(st.characters()), partitions=st.integers(1, 0x7FFFFFFF))
def test_partition_is_one_that_the_topic_has(name: str, partitions: int) -> None:
    assert 0 <= partition_of(name, partitions) < partitions


@given(one=st.text(), other=st.text())
def test_hash_of_two_texts_is_made_of_theirs(one: str, other: str) -> None:
    """As the definition of Java has it: s[0]*31^(n-1) + … + s[n-1], in 32 bits."""
    units = len(other.encode("utf-16-be")) // 2
    joined = string_hash(one) * 31**units + string_hash(other)

    assert (string_hash(one + other) - joined) % (1 << 32) == 0
    assert 0 <= string_hash(one + other) < 1 << 32
