"""Answers with random, changed or promised bytes."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError
from kraftops.wire.net.codec import decode_answer
from tests.helpers.wire.peers import (
    described,
)


@given(st.binary(max_size=300))
def test_random_bytes_are_decoded_or_refused(garbage: bytes) -> None:
    for api, version in (("ApiVersions", 3), ("DescribeCluster", 2), ("Fetch", 18)):
        for head in (b"", b"\0\0\0\1", b"\0\0\0\1\0"):
            with suppress(DecodeError):
                decode_answer(api, version, 1, head + garbage)


@given(st.data())
def test_mutated_answer_is_decoded_or_refused(data: st.DataObject) -> None:
    payload = bytearray(described(1)[4:])
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))

    with suppress(DecodeError):
        decode_answer("DescribeCluster", 2, 1, bytes(payload))


def test_announced_but_missing_elements_take_no_time() -> None:
    body = b"\0\0\0\1\0" + b"\0\0\0\0\0\0\1\2" + b"\xff\xff\xff\xff\x0f"
    start = time.process_time()

    with pytest.raises(DecodeError):
        decode_answer("DescribeQuorum", 2, 1, body)

    assert time.process_time() - start < 1
